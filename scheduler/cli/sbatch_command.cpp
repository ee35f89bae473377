// `replay sbatch ... -- WORDS`: writes a job script for Slurm that runs `replay WORDS` on the hosts of its job. The
// script becomes replay (exec), so that Slurm's signals at `scancel` and at the time limit reach it, and its results
// are written: a shell would end at the signal, and with it the job.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay::cli {
namespace {

using namespace std::chrono_literals;

constexpr DurationRange kLimit{.least = 1min,
                               .most = std::chrono::days{365},
                               .expected = "a duration with its unit from 1min to 365d, such as 30min or 8h",
                               .needs_unit = true};
constexpr int kMostNodes = 512;  // as of a hosts file
constexpr int kMostCpus = 4096;

struct ScriptGiven {
  int nodes = 1;
  std::optional<int> cpus_per_node;
  Duration time{};  // 0: not given
  std::vector<std::string> for_sbatch;
  std::string file;
};

// sbatch takes an option's line apart as a shell does, but a line's end is its end.
void expect_one_line(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word.empty() || word.front() != '-' || word.find('\n') != std::string::npos)
      throw UsageError(fmt::format("--sbatch: expected an option of sbatch such as --partition=short, found '{}'",
                                   visible_text(word)));
}

std::vector<std::string> words_behind_mark(const CLI::App& command) {
  std::vector<std::string> words = command.remaining();
  if (words.size() > 2 && words[0].empty() && words[1] == "--") {  // from main()
    words.erase(words.begin(), words.begin() + 2);
    return words;
  }
  const bool has_other = !words.empty() && !words.front().empty();
  throw UsageError(
      fmt::format("sbatch: expected -- and the words of a run, such as `replay sbatch --nodes 3 -- --trace t.swf "
                  "--policy easy`, found "
                  "{}; options of sbatch stand behind --sbatch",
                  has_other ? fmt::format("'{}'", visible_text(words.front())) : "nothing"));
}

// Adds what the hosts of a job need to the words of a run. What cannot be run is refused now, and not when the job starts.
void add_words_of_job(std::vector<std::string>& words, const std::vector<std::string>& given, int nodes) {
  CLI::App app{"", "replay"};
  const Command run = add_run(app, "");
  try {
    app.parse(std::vector<std::string>(given.rbegin(), given.rend()));  // as CLI11 takes them
  } catch (const CLI::ExtrasError&) {
    throw UsageError(fmt::format("sbatch: behind --: expected options of `replay`, found '{}'",
                                 fmt::join(app.remaining(true), " ")));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("sbatch: behind --: {}; see `replay --help`", clean_line(error.what())));
  }
  const auto value_of = [&app](const char* option) { return fmt::format("{}", fmt::join(app[option]->results(), "")); };
  if (const std::string policies = value_of("--policy"); !policies.empty())
    for (const std::string& policy : split_policies(policies))
      if (!plugin::is_code(policy)) experiment::expect_policy_that_decides(make_policy(policy), "a real run");
  const std::string machine = value_of("--machine");
  if (nodes > 1 && (machine.starts_with("local") || machine.starts_with("emulated")))
    throw UsageError(
        fmt::format("sbatch --nodes {}: behind --: expected --machine slurm, which is added where none is given, found "
                    "'{}', which uses one node",
                    nodes, visible_text(machine)));
  if (app.count("--machine") == 0) words.insert(words.end(), {"--machine", "slurm"});
  if (app.count("--yes") == 0) words.emplace_back("--yes");
}

// What `replay` is called with: on the hosts of its job, if it is a run and says nothing else.
std::vector<std::string> words_of_run(const std::vector<std::string>& given, int nodes) {
  std::vector<std::string> words{own_program().string()};
  if (given.front().starts_with("-")) add_words_of_job(words, given, nodes);
  words.insert(words.end(), given.begin(), given.end());
  return words;
}

std::string script_of(const ScriptGiven& given, const std::vector<std::string>& words) {
  std::vector<std::string> options{fmt::format("--nodes={}", given.nodes)};
  if (given.cpus_per_node)
    options.insert(options.end(), {"--ntasks-per-node=1", fmt::format("--cpus-per-task={}", *given.cpus_per_node)});
  else
    options.emplace_back("--exclusive");
  if (given.time > Duration::zero())
    options.push_back(fmt::format("--time={}", std::chrono::ceil<std::chrono::minutes>(given.time).count()));
  options.insert(options.end(), given.for_sbatch.begin(), given.for_sbatch.end());
  std::string script = "#!/bin/sh\n";
  for (const std::string& option : options) script += fmt::format("#SBATCH {}\n", quoted_word(option));
  return script + fmt::format("exec {}\n", command_line_of(words));
}

int run(const ScriptGiven& given, const std::vector<std::string>& words) {
  expect_one_line(given.for_sbatch);
  const std::string script = script_of(given, words_of_run(words, given.nodes));
  if (given.file.empty()) {
    fmt::print("{}", script);
    return 0;
  }
  WholeFile file{given.file};
  file.write(script);
  file.finish();
  return 0;
}

}  // namespace

Command add_sbatch(CLI::App& app) {
  CLI::App& command = add_command(
      app, "sbatch", "a job script for Slurm that runs a trace on the hosts of its job",
      "What follows -- is that of `replay`: replay sbatch [OPTIONS] -- WORDS. Where it is a run, --machine slurm and "
      "--yes "
      "are\n"
      "added to it.\n\n"
      "Examples:\n"
      "  replay sbatch --nodes 3 --time 30min -- --trace t.swf --policy easy --out runs/easy | sbatch\n"
      "  replay sbatch --nodes 4 --cpus-per-node 8 --time 2h --sbatch --partition=short -o job.sh -- --trace t.swf "
      "--policy easy");
  command.prefix_command();
  auto given = std::make_shared<ScriptGiven>();
  add_count(command, "--nodes", given->nodes, 1, kMostNodes, "nodes of the job");
  add_count(command, "--cpus-per-node", given->cpus_per_node, 1, kMostCpus,
            "CPUs of each node (default: whole nodes, --exclusive)");
  add_duration(command, "--time", "T", given->time, kLimit,
               "time limit of the job, rounded up to minutes (default: that of the partition)");
  add_texts(command, "--sbatch", given->for_sbatch, "OPTION",
            "an option of sbatch, such as --partition=short; may be repeated");
  add_text(command, "-o,--output", given->file, "FILE", "write the script there (default: standard output)");
  return [&command, given] { return run(*given, words_behind_mark(command)); };
}

}  // namespace replay::cli
