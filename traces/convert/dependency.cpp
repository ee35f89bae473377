#include "traces/convert/dependency.hpp"

#include <algorithm>
#include <optional>

#include "scheduler/base/text/lower_case.hpp"

namespace replay::accounting {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_id(std::string_view text, std::string_view characters) {
  return !text.empty() && kDigits.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

struct Condition {
  std::string_view kind, job;
};

// "afterok:1234". "after" alone waits for a start, and "singleton" for jobs of the same name.
std::optional<Condition> after_end(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const Condition condition{text.substr(0, colon), text.substr(colon + 1)};
  for (const std::string_view kind : {"afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer"})
    if (same_but_for_case(kind, condition.kind)) return condition;
  return std::nullopt;
}

// The value of -d or --dependency, which getopt also takes shortened and in a word of its own.
std::optional<std::string_view> dependency_option(std::string_view command_line) {
  constexpr std::string_view kName = "--dependency", kShortest = "--dep";
  bool is_next = false;
  for (std::string_view rest = command_line; !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    if (is_next) return word;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    if (name.starts_with(kShortest) && kName.starts_with(name)) {
      if (equals < word.size()) return word.substr(equals + 1);
      is_next = true;
    } else if (word.starts_with("-d")) {
      if (word.size() > 2) return word.substr(2);
      is_next = true;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string slurm_dependency(std::string_view command_line, std::string_view own_id) {
  const auto option = dependency_option(command_line);
  const auto condition = option ? after_end(*option) : std::nullopt;
  if (!condition || !is_id(condition->job, "0123456789_+")) return {};
  std::string id(condition->job.substr(0, condition->job.find('+')));  // of a heterogeneous job the leader's
  const std::size_t task = own_id.find('_');
  if (same_but_for_case(condition->kind, "aftercorr") && task != std::string_view::npos) id += own_id.substr(task);
  return id;
}

std::string pbs_dependency(std::string_view condition) {
  const auto after = after_end(condition);
  if (!after || after->job.find_first_of(":,") != std::string_view::npos) return {};
  return std::string(after->job.substr(0, after->job.find('@')));
}

std::string lsf_dependency(std::string_view condition) {
  condition = condition.substr(std::min(condition.find_first_not_of(' '), condition.size()));
  condition = condition.substr(0, condition.find_last_not_of(' ') + 1);
  for (const std::string_view kind : {"done(", "ended(", "exit("})
    if (condition.starts_with(kind) && condition.ends_with(')')) {
      condition.remove_prefix(kind.size());
      condition.remove_suffix(1);
      if (kind == "exit(") condition = condition.substr(0, condition.find(','));  // "exit(1234, > 0)"
      break;
    }
  return is_id(condition, "0123456789[]") ? std::string(condition) : std::string{};
}

}  // namespace replay::accounting
