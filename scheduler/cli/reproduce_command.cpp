// `replay reproduce PAPER`: runs every simulation that a paper's tables and figures need and shows the paper's numbers
// beside ours: a page, a CSV, and the same tables on the terminal.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/dynp/study.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/reproduction.hpp"
#include "scheduler/study/scojo_p/study.hpp"
#include "scheduler/study/slack/study.hpp"
#include "scheduler/study/text.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct ReproduceGiven {
  std::string traces, out;
  int threads = 0;
  bool force = false, json = false, quick = false;
  std::optional<std::uint64_t> seeds;  // of studies that make their jobs themselves
  // Of dynP.
  std::optional<std::uint64_t> sets;
  std::vector<double> factors;
  std::vector<std::string> logs;
};

study::DynpOptions dynp_options(const ReproduceGiven& given) {
  study::DynpOptions options = given.quick ? study::quick_dynp_options() : study::DynpOptions{};
  options.sets = given.sets.value_or(options.sets);
  if (!given.factors.empty()) options.factors = given.factors;
  return options;
}

study::SeededOptions seeded_options(const ReproduceGiven& given, const study::SeededOptions& whole) {
  study::SeededOptions options = given.quick ? study::kQuickOptions : whole;
  options.seeds = given.seeds.value_or(options.seeds);
  return options;
}

// A paper by its name at the command line.
struct Paper {
  const char *name, *about, *example;
  study::Result (*study)(const ReproduceGiven&, const study::LogSearch&, const study::Surroundings&);
  std::vector<const study::ArchiveLog*> logs{};  // none: the study makes its jobs itself, for so many seeds
  std::uint64_t seeds = 0;
};

const Paper kPapers[] = {
    {"slack",
     "slack-based backfilling (Talby and Feitelson 1999): Tables 1 to 3, Figures 9, 10",
     "--traces ~/pwa",
     [](const auto& given, const auto& logs, const auto& in) { return study::reproduce_slack(logs, given.quick, in); },
     {&study::kKthLog}},
    {"dynp",
     "self-tuning dynP (Streit): Tables 3 to 5, Figures 1 to 4",
     "--traces ~/pwa --logs KTH --sets 3",
     [](const auto& given, const auto& logs, const auto& in) {
       return study::reproduce_dynp(logs, dynp_options(given), in);
     },
     {&study::kCtcLog, &study::kKthLog, &study::kLanlLog, &study::kSdscSp2Log}},
    {"fcfs-malleable",
     "FCFS-malleable (Utrera et al. 2012): Figures 2 and 3, Tables 2 and 3",
     "--traces ~/pwa --quick",
     [](const auto& given, const auto& logs, const auto& in) {
       return study::reproduce_fcfs_malleable(logs, given.quick, in);
     },
     {&study::kSdscSp2Log, &study::kCtcLog, &study::kSdscBlueLog}},
    {"scojo-p",
     "SCOJO-P and Cirne-Berman (Barsanti and Sodan 2006): Figures 4 to 14; it makes its jobs itself",
     "--quick",
     [](const auto& given, const auto&, const auto& in) {
       return study::reproduce_scojo(seeded_options(given, study::kScojoOptions), in);
     },
     {},
     study::kScojoOptions.seeds},
    {"g-lomarc-ts",
     "G-LOMARC-TS (Zeng and Sodan 2009): Figures 6 to 9; it makes its jobs itself",
     "--quick",
     [](const auto& given, const auto&, const auto& in) {
       return study::reproduce_glomarc(seeded_options(given, study::kGlomarcOptions), in);
     },
     {},
     study::kGlomarcOptions.seeds}};

fs::path traces_folder(const ReproduceGiven& given) {
  if (!given.traces.empty()) return given.traces;
  const char* const variable = std::getenv("REPLAY_TRACES");
  return variable != nullptr && *variable != '\0' ? fs::path{variable} : fs::path{"traces/pwa"};
}

std::vector<const study::ArchiveLog*> logs_of(const Paper& paper, const ReproduceGiven& given) {
  if (given.logs.empty()) return paper.logs;
  std::vector<const study::ArchiveLog*> chosen;
  for (const std::string& name : given.logs) {
    const auto log = std::ranges::find(paper.logs, name, &study::ArchiveLog::name);
    if (log == paper.logs.end())
      throw UsageError(fmt::format("--logs: expected some of CTC,KTH,LANL,SDSC, found '{}'", name));
    if (std::ranges::find(chosen, *log) != chosen.end())
      throw UsageError(fmt::format("--logs: {} is there twice", name));
    chosen.push_back(*log);
  }
  return chosen;
}

int reproduce(const Paper& paper, const ReproduceGiven& given) {
  const study::LogSearch logs = study::find_logs(traces_folder(given), logs_of(paper, given));
  std::string missing;
  for (const std::string& line : logs.missing) add_item(missing, "\n        ", "{}", line);
  if (logs.found.empty() && !paper.logs.empty())
    throw InputError(missing + "\n        --traces DIR says where the logs are");
  if (!missing.empty()) fmt::print(stderr, "replay: left out: {}\n", missing);
  const fs::path folder = given.out.empty() ? fs::path{fmt::format("reproduce-{}", paper.name)} : fs::path{given.out};
  const HeedStops heeding;
  const auto study = [&](const study::LogSearch& found, const study::Surroundings& surroundings) {
    return paper.study(given, found, surroundings);
  };
  study::Reproduction made;
  try {
    terminal::ProgressLine progress;
    made = study::reproduce(paper.name, logs, study, folder, given.force,
                            {.jobs = given.threads, .show = [&](std::string_view text) { progress.show(text); }});
  } catch (const sweep::Interrupted&) {
    fmt::print(stderr, "replay: interrupted: nothing was written\n");
    return exit_status_after_stop();
  }
  if (given.json)
    print_json(to_json(made.result));
  else
    fmt::print("{}\n{}\n{}\n", to_text(made.result), made.page.string(), made.numbers.string());
  return 0;
}

Command add_paper(CLI::App& group, const Paper& paper) {
  CLI::App& command = add_command(group, paper.name, paper.about,
                                  fmt::format("Example: replay reproduce {} {}", paper.name, paper.example));
  auto given = std::make_shared<ReproduceGiven>();
  if (!paper.logs.empty())
    add_text(command, "--traces", given->traces, "DIR",
             "where the logs are (default: $REPLAY_TRACES, else traces/pwa)");
  add_text(command, "--out", given->out, "DIR",
           fmt::format("where the page and numbers.csv go (default reproduce-{})", paper.name));
  command.add_flag("--force", given->force, "write into a folder that exists");
  add_count(command, "--jobs", given->threads, 1, std::numeric_limits<int>::max(),
            "cores to use (default: all); the results do not depend on it");
  command.add_flag("--quick", given->quick, "a part of the study, which the page says");
  command.add_flag("--json", given->json, "print all numbers as JSON");
  if (paper.logs.empty())
    add_count(command, "--seeds", given->seeds, 1, 1000,
              fmt::format("workloads of each kind [{}; 1 with --quick]", paper.seeds));
  if (std::string_view{paper.name} == "dynp") {
    add_count(command, "--sets", given->sets, 1, 1000, "job sets of each log [10; 3 with --quick]");
    add_factors(command, given->factors, "on the submit times [1,0.9,0.8,0.7,0.6; 1,0.7 with --quick]");
    command.add_option("--logs", given->logs, "some of CTC,KTH,LANL,SDSC [all]")->type_name("LIST")->delimiter(',');
  }
  return [given, &paper] { return reproduce(paper, *given); };
}

}  // namespace

Command add_reproduce(CLI::App& app) {
  std::vector<AddCommand> papers;
  for (const Paper& paper : kPapers) papers.push_back([&paper](CLI::App& to) { return add_paper(to, paper); });
  return add_group(app, "reproduce", "a paper's tables and figures, its numbers beside ours", "PAPER", papers);
}

}  // namespace replay::cli
