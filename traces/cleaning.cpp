#include "traces/cleaning.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/choice.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay {
namespace {

constexpr CleaningOption kOptions[] = {
    {"size", "allocated|requested", "allocated",
     "processors of a job: those it got (field 5), else those it asked for (field 8); or the other way round"},
    {"zero-runtime", "keep|clamp", "keep", "a run time of 0 (less than half a second) stays, or becomes 1 s"},
    {"over-request", "cut|keep", "cut", "a job that ran longer than requested ends at its request, or runs on"},
    {"oversize", "skip|clamp|error", "skip", "a job wider than the machine is left out, narrowed to it, or an error"},
    {"out-of-order", "sort|skip", "sort",
     "submit times that descend: sort all jobs by submit time and number, or leave out the late ones"},
    {"cancelled", "skip|honour|run", "skip",
     "a job that was cancelled while it waited (status 5, no run time) is left out, is cancelled after the same wait "
     "(default in a run of a log that `replay trace convert` made of accounting), or runs for as long as it requests"},
    {"queue-from", "eligible|submit", "eligible",
     "a job that could not start at once (`eligible` of the side file) waits from then, or from its submission"},
    {"machine-size", "COUNT", "the header's", "processors of the machine that the log is cleaned for"},
    {"cpu-use", "0..1", "by log",
     "CPU use of parallel jobs whose fields 4 and 6 do not tell: CTC SP2 0.57, SDSC Blue Horizon 0.23, SDSC SP2 0.66, "
     "others 0.6"},
    {"closed-loop", "on|off", "off", "submit a job its think time (field 18) after the job it follows (field 17)"},
};

[[noreturn]] void fail(std::string_view name, std::string_view value) {
  const auto option = std::ranges::find(kOptions, name, &CleaningOption::name);
  if (option == std::end(kOptions)) {
    std::string names;
    for (const CleaningOption& known : kOptions) add_item(names, ", ", "{}", known.name);
    throw UsageError(fmt::format("no cleaning rule is called '{}'; there are {}", name, names));
  }
  throw UsageError(fmt::format("--{}: expected {}, found '{}'", name, option->values, value));
}

template <class Enum, std::size_t N>
Enum choose(std::string_view name, std::string_view value, const Choice<Enum> (&choices)[N]) {
  const auto found = std::ranges::find(choices, value, &Choice<Enum>::word);
  if (found == std::end(choices)) fail(name, value);
  return found->value;
}

template <class Number>
Number number_between(std::string_view name, std::string_view value, Number least, Number most) {
  const auto number = parse_number<Number>(value, least, most);
  if (!number) fail(name, value);
  return *number;
}

std::string line_list(const Finding& finding) {
  if (finding.lines.empty()) return "";
  return fmt::format(" ({} {}{})", finding.lines.size() == 1 && finding.count == 1 ? "line" : "lines",
                     fmt::join(finding.lines, ", "), finding.count > finding.lines.size() ? ", ..." : "");
}

}  // namespace

std::span<const CleaningOption> cleaning_options() { return kOptions; }

void set_rule(CleaningRules& rules, std::string_view name, std::string_view value) {
  if (name == "size")
    rules.size =
        choose<SizeFrom>(name, value, {{"allocated", SizeFrom::kAllocated}, {"requested", SizeFrom::kRequested}});
  else if (name == "zero-runtime")
    rules.zero_runtime =
        choose<ZeroRuntime>(name, value, {{"keep", ZeroRuntime::kKeep}, {"clamp", ZeroRuntime::kClamp}});
  else if (name == "over-request")
    rules.over_request = choose<OverRequest>(name, value, {{"cut", OverRequest::kCut}, {"keep", OverRequest::kKeep}});
  else if (name == "oversize")
    rules.oversize = choose<Oversize>(
        name, value, {{"skip", Oversize::kSkip}, {"clamp", Oversize::kClamp}, {"error", Oversize::kError}});
  else if (name == "out-of-order")
    rules.out_of_order = choose<OutOfOrder>(name, value, {{"sort", OutOfOrder::kSort}, {"skip", OutOfOrder::kSkip}});
  else if (name == "cancelled")
    rules.cancelled = choose<Cancelled>(
        name, value, {{"skip", Cancelled::kSkip}, {"honour", Cancelled::kHonour}, {"run", Cancelled::kRun}});
  else if (name == "queue-from")
    rules.queue_from =
        choose<QueueFrom>(name, value, {{"eligible", QueueFrom::kEligible}, {"submit", QueueFrom::kSubmit}});
  else if (name == "machine-size")
    rules.machine_size = number_between<CoreCount>(name, value, 1, 100'000'000);
  else if (name == "cpu-use")
    rules.cpu_use = number_between<double>(name, value, 0.0, 1.0);
  else if (name == "closed-loop")
    rules.closed_loop = choose<bool>(name, value, {{"on", true}, {"off", false}});
  else
    fail(name, value);
}

const Finding* CleaningReport::find(std::string_view rule) const {
  const auto found = std::ranges::find(findings, rule, &Finding::rule);
  return found == findings.end() ? nullptr : &*found;
}

std::uint64_t CleaningReport::count(std::string_view rule) const {
  const Finding* finding = find(rule);
  return finding == nullptr ? 0 : finding->count;
}

std::vector<std::string> CleaningReport::to_lines() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} read, {} kept, {} skipped, {}", file, counted(read, "record"),
                              counted(kept, "job"), skipped, counted(broken, "broken line")));
  for (const Finding& finding : findings)
    lines.push_back(fmt::format("{} {}: {}{}", finding.count, finding.action, finding.text, line_list(finding)));
  lines.insert(lines.end(), broken_messages.begin(), broken_messages.end());
  if (broken > broken_messages.size())
    lines.push_back(fmt::format("... and {} more broken lines", broken - broken_messages.size()));
  return lines;
}

}  // namespace replay
