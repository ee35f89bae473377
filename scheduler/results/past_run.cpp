#include "scheduler/results/past_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "traces/job_table.hpp"

namespace replay::results {
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

bool is_option(std::string_view word, std::string_view option) {
  return word == option || (word.starts_with(option) && word.substr(option.size()).starts_with('='));
}

// Removes an option and its value (if it has one) from the words. Returns the value if the option was there.
std::optional<std::string> take_option(std::vector<std::string>& words, std::string_view option,
                                       bool has_value = true) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < words.size();) {
    if (!is_option(words[i], option)) {
      ++i;
      continue;
    }
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (words[i].size() > option.size()) {
      value = words[i].substr(option.size() + 1);
      words.erase(at);
    } else if (has_value && i + 1 < words.size()) {
      value = words[i + 1];
      words.erase(at, at + 2);
    } else {
      value = "";
      words.erase(at);
    }
  }
  return value;
}

std::optional<std::string> value_of(std::vector<std::string> words, std::string_view option) {
  return take_option(words, option);
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

// A side file that lies beside the trace now and was no input then.
std::optional<std::string> new_side_file(const PastRun& run, const fs::path& folder) {
  const auto trace = value_of(run.words, "--trace");
  if (!trace || value_of(run.words, "--jobs-from")) return std::nullopt;
  const auto beside = job_table_beside(with_seed(*trace, run.seed));
  std::error_code error;
  if (!beside || !fs::exists(folder / *beside, error)) return std::nullopt;
  const bool was_there = std::ranges::any_of(run.inputs, [&](const InputFile& input) { return input.path == *beside; });
  return was_there ? std::nullopt : beside;
}

std::vector<std::string> problems_in(const PastRun& run, const fs::path& folder) {
  std::vector<std::string> problems;
  std::error_code error;
  for (const InputFile& input : run.inputs) {
    const fs::path file = folder / input.path;
    if (!fs::exists(file, error)) {
      problems.push_back(fmt::format("{}: is an input of the run, and is not there any more", file.string()));
      continue;
    }
    const InputFile now = input_file(file);
    if (now.sha256 != input.sha256)
      problems.push_back(
          fmt::format("{}: has changed since the run: expected sha256 {} ({} bytes), found {} ({} bytes)",
                      file.string(), input.sha256, input.bytes, now.sha256, now.bytes));
  }
  if (const auto side_file = new_side_file(run, folder))
    problems.push_back(
        fmt::format("{}: is beside the trace now and was no input of the run", (folder / *side_file).string()));
  return problems;
}

bool all_there(const PastRun& run, const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && std::ranges::all_of(run.inputs, [&](const InputFile& input) {
           return fs::exists(folder / input.path, error);
         });
}

}  // namespace

std::vector<std::string> words_of(std::string_view line) {
  ShellWords command = split_words(line);
  if (command.open_quote != 0) throw InputError(fmt::format("expected a closing quote in the command '{}'", line));
  return std::move(command.words);
}

PastRun read_past_run(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  const auto object = read_json<ordered_json>(file);
  const std::string name = file.string();
  const JsonPlace<ordered_json> place(object, name);
  if (place.at("format").as<std::string>("a text") != "replay-run 1") place.at("format").fail("\"replay-run 1\"");
  PastRun run;
  run.folder = folder;
  run.words = words_of(place.at("command").as<std::string>("the command line"));
  if (!run.words.empty()) run.words.erase(run.words.begin());
  run.working_folder = place.as_or<std::string>("working_folder", "", "a folder");
  if (place.has("versions")) run.version = place.at("versions").as_or<std::string>("replay", "", "a version");
  run.body = place.at("body").as<std::string>("sim or live");
  run.policy = policy_of(place.at("policy").as<std::string>("a policy"), object.value("parameters", ordered_json{}));
  run.runtime_model = place.at("runtime_model").as<std::string>("a name");
  run.seed = place.at("seed").as<std::uint64_t>("a number");
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

std::vector<std::string> repeated_command(const PastRun& run, const fs::path& out) {
  std::vector<std::string> words = run.words;
  const auto trace = take_option(words, "--trace");
  if (!trace && !words.empty() && words.front() == "serve")
    throw InputError(
        fmt::format("{}: is a period of a service, whose jobs came from its users: `replay --trace {}` runs them again",
                    run.folder.string(), (run.folder / "schedule.swf").string()));
  if (!trace)
    throw InputError(
        fmt::format("{}: its command has no --trace, so it is not known how to repeat it", run.folder.string()));
  if (*trace == "-")
    throw InputError(
        fmt::format("{}: read its trace from standard input, which nobody has kept; write it to a file, "
                    "and run that",
                    run.folder.string()));
  const bool of_seeds = take_option(words, "--seeds").has_value();
  if (of_seeds)
    if (const auto jobs_from = take_option(words, "--jobs-from"))
      words.insert(words.end(), {"--jobs-from", with_seed(*jobs_from, run.seed)});
  for (const char* option : {"--policy", "--out", "--seed", "--runtime-model"}) (void)take_option(words, option);
  for (const char* flag : {"--force", "--json", "--trim", "--programs-from-trace"})
    (void)take_option(words, flag, false);
  words.insert(words.end(), {"--trace", of_seeds ? with_seed(*trace, run.seed) : *trace, "--policy", run.policy,
                             "--seed", fmt::format("{}", run.seed), "--runtime-model", run.runtime_model, "--out",
                             out.string(), "--force"});  // the folder exists already and is empty
  return words;
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  return fs::file_size(a) == fs::file_size(b) && input_file(a).sha256 == input_file(b).sha256;
}

}  // namespace replay::results
