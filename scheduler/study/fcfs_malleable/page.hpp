// What the page of the FCFS-malleable paper and its statements are about.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/fcfs_malleable/study.hpp"

namespace replay::study {

inline constexpr const char* kWhyRange =
    "the paper does not say which of the log's jobs it took (\"20K-25K\", \"40K-45K\"), nor how the log was cleaned; "
    "the rows show how much hangs on that";
inline constexpr const char* kWhyFree =
    "shrunk jobs stay shrunk while the head waits, and cores between two levels are not handed out; expand=eager, "
    "beside it, lets them expand and leaves less";

struct MalleablePage {
  const Findings& found;
  const std::vector<MalleableLog>& logs;
  bool quick;

  [[nodiscard]] std::vector<std::string> ranges(const MalleableLog& log) const {
    std::vector<std::string> names;
    for (const JobRange& range : ranges_of(log.name, log.workload.jobs.size(), quick)) names.push_back(range.name);
    return names;
  }
  /// The range that the figures show, the whole log unless it was not run: "SDSC, whole log".
  [[nodiscard]] std::string main_part(const MalleableLog& log) const {
    return fmt::format("{}, {}", log.name, ranges(log).front());
  }
  [[nodiscard]] bool has(const ArchiveLog& log) const {
    return std::ranges::find(logs, log.name, &MalleableLog::name) != logs.end();
  }
  /// Of a policy on a part of a log, against EASY, in per cent.
  [[nodiscard]] double change(std::string_view part, std::string_view policy, std::string_view metric) const {
    return found.more(fmt::format("{}/{}", part, policy), fmt::format("{}/easy", part), metric);
  }
};

/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> malleable_checks(const MalleablePage& page);

}  // namespace replay::study
