#include "scheduler/plugin/resolver.hpp"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/plugin/exec_policy.hpp"
#include "scheduler/plugin/library_policy.hpp"

namespace replay::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExec = "exec";
constexpr ParameterSpec kExecParameters[] = {
    {"timeout", ParameterType::kDuration, "10s", "", "", "how long the program may take for an answer", "ours"}};

// Up to the first ':' outside braces; `rest` begins there.
std::string_view first_part(std::string_view text, std::string_view& rest) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < text.size() && (text[end] != ':' || depth > 0); ++end) {
    if (text[end] == '{') ++depth;
    if (text[end] == '}') --depth;
  }
  if (depth != 0) throw UsageError(fmt::format("policy '{}': a brace has no partner", text));
  rest = text.substr(end);
  return text.substr(0, end);
}

std::string_view without_braces(std::string_view text) {
  return text.starts_with('{') && text.ends_with('}') ? text.substr(1, text.size() - 2) : text;
}

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

void expect_program(std::string_view policy, const std::string& program) {
  if (find_program(program)) return;
  const bool is_path = program.find('/') != std::string::npos;
  const char* found = !is_path                 ? "none of this name on the PATH"
                      : is_plain_file(program) ? "a file that is not executable"
                                               : "no file";
  throw InputError(fmt::format("policy '{}': expected a program '{}', found {}", policy, program, found));
}

// The words that are files: the program, and arguments such as a script, which count whatever the interpreter is.
std::vector<std::string> files_among(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words)
    if (is_plain_file(word)) files.push_back(word);
  return files;
}

NamedPolicy exec_policy(std::string_view text) {
  std::string_view command = text.substr(kExec.size() + 1);
  if (command.starts_with("command=")) command.remove_prefix(std::string_view{"command="}.size());
  std::string_view rest;
  command = without_braces(first_part(command, rest));
  ExecOptions options{std::string{text}, split_command(std::string{command}), {}};
  if (options.words.empty())
    throw UsageError(
        fmt::format("policy '{}': expected a command, such as exec:./mine.py or exec:{{python3 mine.py}}", text));
  const PolicyText parsed = parse_policy(fmt::format("{}{}", kExec, rest));
  const Parameters parameters{kExec, kExecParameters, parsed.given};
  options.limit = std::chrono::ceil<std::chrono::milliseconds>(parameters.duration("timeout"));
  if (options.limit <= std::chrono::milliseconds::zero() || options.limit > std::chrono::hours{24})
    throw UsageError(fmt::format("policy '{}', parameter 'timeout': expected more than 0 and up to 1d", text));
  expect_program(text, options.words[0]);
  std::vector<std::string> files = files_among(options.words);
  return {std::string{text}, fmt::format("{}:command={{{}}}:{}", kExec, command, parameters.to_text()),
          make_exec_policy(std::move(options)), std::move(files)};
}

bool is_exec(std::string_view text) { return text == kExec || text.starts_with("exec:"); }

NamedPolicy library_policy(std::string_view text, std::string_view path, std::string_view rest) {
  const PolicyText parsed = parse_policy(fmt::format("library{}", rest));
  LoadedPolicy loaded = load_policy(std::string{path}, std::string{text}, parsed.given);
  const std::string full =
      loaded.parameters.empty() ? std::string{path} : fmt::format("{}:{}", path, loaded.parameters);
  return {std::string{text}, full, std::move(loaded.policy), {std::string{path}}};
}

}  // namespace

std::optional<NamedPolicy> resolve(std::string_view text) {
  if (!is_code(text)) return std::nullopt;
  if (is_exec(text)) return exec_policy(text == kExec ? std::string_view{"exec:"} : text);
  std::string_view rest;
  const std::string_view path = without_braces(first_part(text, rest));
  return library_policy(text, path, rest);
}

bool is_code(std::string_view text) {
  std::string_view rest;
  return is_exec(text) || without_braces(first_part(text, rest)).ends_with(".so");
}

void add_to_policies() { add_policy_resolver(resolve); }

std::string_view own_policies_help() {
  return "./mine.so[:key=value...]\n"
         "    a policy of one's own: a shared object built against replay_policy.hpp\n"
         "exec:CMD[:timeout=10s]\n"
         "    a policy of one's own: a program that answers JSON lines, such as exec:./mine.py or "
         "exec:{python3 mine.py}\n";
}

}  // namespace replay::plugin
