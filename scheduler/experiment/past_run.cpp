#include "scheduler/experiment/past_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "traces/job_table.hpp"
#include "traces/nodes/node_table.hpp"
#include "traces/swf_reader.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;  // parameters keep their order

// "easy" and its parameters: easy:pass=event. A value that has separators of its own stands in braces.
std::string in_full(const std::string& policy, const ordered_json& parameters) {
  std::string text = policy.substr(0, policy.find(':'));
  for (const auto& [name, value] : parameters.items()) {
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    const bool nested = word.find_first_of(":,") != std::string::npos && !word.starts_with('{');
    text += fmt::format(":{}={}{}{}", name, nested ? "{" : "", word, nested ? "}" : "");
  }
  return text;
}

// The policy as written if that still means the same, else with every parameter.
std::string policy_of(const std::string& policy, const ordered_json& parameters) {
  if (!parameters.is_object()) return policy;
  try {
    if (plugin::is_code(policy)) return policy;
    const auto now = parse_policy(full_text_of(policy)).given;
    const bool same = now.size() == parameters.size() && std::ranges::all_of(now, [&](const auto& parameter) {
                        return parameters.value(parameter.first, "") == parameter.second;
                      });
    return same ? policy : in_full(policy, parameters);
  } catch (const UsageError&) {  // no longer valid: the repetition will say why
    return policy;
  }
}

// Throws for a run whose jobs nothing has kept.
void expect_repeatable(const PastRun& run) {
  const std::string folder = run.folder.string();
  if (run.spec.world == World::kService)
    throw InputError(
        fmt::format("{}: is a period of a service, whose jobs came from its users: `replay --trace {}` runs them again",
                    folder, (run.folder / "schedule.swf").string()));
  if (run.spec.trace.empty())
    throw InputError(fmt::format("{}: its command has no --trace, so it is not known how to repeat it", folder));
  if (run.spec.trace == "-")
    throw InputError(
        fmt::format("{}: read its trace from standard input, which was not kept; write it to a file, "
                    "and run that",
                    folder));
}

RunSpec spec_of(const JsonPlace<ordered_json>& place, const fs::path& folder) {
  std::vector<std::string> words;
  for (const auto& word : place.at("run").elements()) words.push_back(word.as<std::string>("a word"));
  try {
    return parse(words);
  } catch (const UsageError& error) {
    const bool is_simulation = !words.empty() && words.front() == "simulate";
    throw InputError(
        fmt::format("{}: its command is none that can be repeated: expected the options of `replay{}`, found '{}' ({})",
                    folder.string(), is_simulation ? " simulate" : "",
                    visible_text(fmt::format("{}", fmt::join(words, " ")), 400), error.what()));
  }
}

std::vector<fs::path> folders_to_try(const PastRun& run) {
  std::vector<fs::path> folders;
  if (!run.working_folder.empty()) folders.emplace_back(run.working_folder);
  folders.push_back(fs::current_path());
  std::error_code error;
  for (fs::path folder = fs::absolute(run.folder, error).lexically_normal(); folder.has_relative_path();
       folder = folder.parent_path())
    if (folder.parent_path() != folder) folders.push_back(folder.parent_path());
  return folders;
}

// Side files that the repetition would find beside the trace, and that were no inputs then.
std::vector<std::string> new_side_files(const PastRun& run, const fs::path& folder) {
  std::vector<std::string> files;
  const auto look = [&](std::string_view ending) {
    const auto file = find_beside(run.spec.trace, ending, folder);
    if (file && std::ranges::find(run.inputs, *file, &results::InputFile::path) == run.inputs.end())
      files.push_back(*file);
  };
  if (run.spec.jobs_from.empty()) look(kJobTableEnding);
  if (run.spec.nodes_from.empty() && !run.is_live()) look(kNodeTableEnding);
  return files;
}

std::vector<std::string> problems_in(const PastRun& run, const fs::path& folder) {
  std::vector<std::string> problems;
  std::error_code error;
  for (const results::InputFile& input : run.inputs) {
    const fs::path file = folder / input.path;
    if (!fs::exists(file, error)) {
      problems.push_back(fmt::format("{}: is an input of the run, and is not there any more", file.string()));
      continue;
    }
    const results::InputFile now = results::input_file(file);
    if (now.sha256 != input.sha256)
      problems.push_back(
          fmt::format("{}: has changed since the run: expected sha256 {} ({} bytes), found {} ({} bytes)",
                      file.string(), input.sha256, input.bytes, now.sha256, now.bytes));
  }
  for (const std::string& side_file : new_side_files(run, folder))
    problems.push_back(
        fmt::format("{}: is beside the trace now and was no input of the run", (folder / side_file).string()));
  return problems;
}

bool all_there(const PastRun& run, const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && std::ranges::all_of(run.inputs, [&](const results::InputFile& input) {
           return fs::exists(folder / input.path, error);
         });
}

}  // namespace

PastRun read_past_run(const fs::path& folder) {
  PastRun run = read_run(folder);
  expect_repeatable(run);
  return run;
}

PastRun read_run(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  const auto object = read_json<ordered_json>(file);
  const std::string name = file.string();
  const JsonPlace<ordered_json> place(object, name);
  if (place.at("format").as<std::string>("a text") != "replay-run 1") place.at("format").fail("\"replay-run 1\"");
  PastRun run;
  run.folder = folder;
  run.spec = spec_of(place, folder);
  run.spec.policies = split_policies(
      policy_of(place.at("policy").as<std::string>("a policy"), object.value("parameters", ordered_json{})));
  run.command = place.as_or<std::string>("command", "", "a command");
  run.working_folder = place.as_or<std::string>("working_folder", "", "a folder");
  if (place.has("versions")) run.version = place.at("versions").as_or<std::string>("replay", "", "a version");
  for (const auto& input : place.at("inputs").elements())
    run.inputs.push_back({input.at("path").as<std::string>("a path"), input.at("sha256").as<std::string>("a hash"),
                          input.at("bytes").as<std::uint64_t>("a number")});
  run.was_over = place.has("ended") && !place.at("ended").is_null();
  run.interrupted =
      place.as_or("interrupted", false, "true or false") || (place.has("lost") && !place.at("lost").is_null());
  return run;
}

InputCheck check_inputs(const PastRun& run) {
  const std::vector<fs::path> folders = folders_to_try(run);
  for (const fs::path& folder : folders)
    if (all_there(run, folder) && problems_in(run, folder).empty()) return {folder, {}};
  // Not the folders further up: files of these names there may have another origin.
  const fs::path here = fs::current_path();
  const fs::path& nearest = !all_there(run, folders.front()) && all_there(run, here) ? here : folders.front();
  return {nearest, problems_in(run, nearest)};
}

std::vector<std::string> remarks_on(const PastRun& run) {
  std::vector<std::string> remarks;
  if (run.version != REPLAY_VERSION)
    remarks.push_back(fmt::format("{} was made by version {} of replay, this is {}", run.folder.string(),
                                  run.version.empty() ? "?" : run.version, REPLAY_VERSION));
  if (!run.was_over || run.interrupted)
    remarks.push_back(fmt::format("{} did not come to its end; the repetition will", run.folder.string()));
  return remarks;
}

ForeignCode foreign_code(const PastRun& run, const fs::path& folder) {
  const RunSpec& spec = run.spec;
  ForeignCode found;
  for (const std::string& policy : spec.policies)
    if (plugin::is_code(policy))
      found.items.push_back(fmt::format("--policy {} (in {})", visible_text(policy), visible_text(folder.string())));
  if (!spec.program.empty()) {
    if (!runs_own_benchmark(spec.program))
      found.items.push_back(fmt::format("--program {}", visible_text(spec.program)));
  } else if (run.is_live()) {
    const std::string trace = (folder / spec.trace).string();
    for (const auto& [number, command] : SwfReader{trace}.header().programs()) {
      if (runs_own_benchmark(command)) continue;
      found.items.push_back(fmt::format("Program {} of {}: {}", number, visible_text(trace), visible_text(command)));
      found.has_programs_from_trace = true;
    }
  }
  if (is_elsewhere(spec.machine))
    found.items.push_back(fmt::format("--machine {}, with the key in '{}', and agents started by '{}'",
                                      visible_text(spec.machine), visible_text(spec.node.agent_key),
                                      visible_text(spec.node.bootstrap)));
  return found;
}

std::vector<std::string> repeated_command(const PastRun& run, const fs::path& out) {
  std::vector<std::string> words = to_words(run.spec);
  words.insert(words.end(), {"--out", out.string(), "--force"});  // the folder exists already and is empty
  if (run.is_live()) words.emplace_back("--yes");
  return words;
}

}  // namespace replay::experiment
