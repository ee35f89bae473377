#include "traces/convert/anonymise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "scheduler/base/text/lower_case.hpp"
#include "traces/local_time.hpp"

namespace replay {
namespace {

// Labels that describe the log and no person. It lists what may stay, not what must go, because other tools may write
// labels that are unknown here.
constexpr std::string_view kKept[] = {"Version",      "MaxJobs",   "MaxRecords",    "Preemption",
                                      "MaxNodes",     "MaxProcs",  "MaxRuntime",    "MaxMemory",
                                      "AllowOveruse", "MaxQueues", "MaxPartitions", "TimeZoneString"};
constexpr std::string_view kDates[] = {"UnixStartTime", "StartTime"};  // written anew
constexpr std::string_view kThanks[] = {"Acknowledge", "Copyright"};

template <class Labels>
bool is_among(const Labels& labels, std::string_view label) {
  return std::ranges::any_of(labels, [&](std::string_view known) { return same_but_for_case(known, label); });
}

// Of "MaxNodes: 144 (named after birds)" only the number stays.
std::string first_word(std::string_view value) { return std::string(value.substr(0, value.find_first_of(" \t\n"))); }

}  // namespace

std::int32_t Renumbering::operator()(std::int32_t number) {
  if (number < 0) return number;
  return known_.emplace(number, static_cast<std::int32_t>(known_.size() + 1)).first->second;
}

SwfHeader Anonymiser::header(const SwfHeader& original) {
  SwfHeader result(original.source());
  for (const SwfLabel& entry : original.labels()) {
    if (is_among(kKept, entry.label))
      result.add(entry.label, first_word(entry.value));
    else if (options_.keep_acknowledgement && is_among(kThanks, entry.label))
      result.add(entry.label, entry.value);
    else if (same_but_for_case(entry.label, "Conversion") && original.is_from_accounting())
      result.add(entry.label, entry.value);
    else if (!is_among(kDates, entry.label) && !is_among(removed_, entry.label))
      removed_.push_back(entry.label);
  }
  std::size_t labelled = 0;
  for (const SwfLabel& entry : original.labels())
    labelled += 1 + static_cast<std::size_t>(std::ranges::count(entry.value, '\n'));
  const auto with_text = [](const std::string& line) { return line.find_first_not_of("; \t") != std::string::npos; };
  if (static_cast<std::size_t>(std::ranges::count_if(original.lines(), with_text)) > labelled)
    removed_.emplace_back("free text");
  coarsen_start(result, original);
  return result;
}

void Anonymiser::coarsen_start(SwfHeader& header, const SwfHeader& original) {
  const auto start = original.unix_start_time();
  if (!start || *start < 0 || *start > kLastUnixSecond) {
    if (original.find("StartTime")) removed_.emplace_back("StartTime");
    return;
  }
  const LocalClock clock = LocalClock::named_or_utc(original.time_zone());
  const std::int64_t coarse = clock.same_weekday_first_in_month(*start);
  header.add("UnixStartTime", fmt::format("{}", coarse));
  header.add("StartTime", clock.text(coarse));
}

void Anonymiser::apply(TraceEntry& entry) {
  SwfRecord& record = entry.record;
  record.user = users_(record.user);
  record.group = groups_(record.group);
  record.executable = executables_(record.executable);
  if (record.queue != 0) record.queue = queues_(record.queue);
  record.partition = partitions_(record.partition);
}

}  // namespace replay
