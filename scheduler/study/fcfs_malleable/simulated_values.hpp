// Values of the simulations for the page of the FCFS-malleable paper and the checks of its statements.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/result.hpp"

namespace replay::study {
namespace malleable {

inline constexpr std::string_view kEasy = "easy", kMalleable = "fcfs-malleable", kEager = "fcfs-malleable:expand=eager";
inline constexpr std::string_view kWhyRange =
    "the paper does not say which of the log's jobs it took (\"20K-25K\", \"40K-45K\"), nor how the log was cleaned; "
    "the rows show how much hangs on that";

inline constexpr std::string_view kWhyFree =
    "shrunk jobs stay shrunk while the head waits, and cores between two levels are not handed out; expand=eager, "
    "beside it, lets them expand and leaves less";

[[nodiscard]] inline double percent(double share) { return share * 100; }
[[nodiscard]] inline double change_percent(double value, double base) { return (value / base - 1) * 100; }

}  // namespace malleable

struct MalleableValues {
  const MalleableOutcome& outcome;

  /// NaN if it was not run.
  [[nodiscard]] double value(std::size_t log, std::string_view range, std::string_view policy, std::string_view metric,
                             std::optional<double> use = {}) const {
    const MalleableRun* run = outcome.find(log, range, policy, use);
    return run == nullptr ? std::nan("") : run->summary.value(metric);
  }
  /// Of a policy against EASY, in per cent.
  [[nodiscard]] double change(std::size_t log, std::string_view range, std::string_view policy,
                              std::string_view metric) const {
    return malleable::change_percent(value(log, range, policy, metric), value(log, range, malleable::kEasy, metric));
  }
  /// The range that the figures show: the whole log, unless it was not run.
  [[nodiscard]] const std::string& main_range(std::size_t log) const { return outcome.logs[log].ranges.front(); }
  [[nodiscard]] std::optional<std::size_t> log_called(std::string_view name) const {
    for (std::size_t l = 0; l < outcome.logs.size(); ++l)
      if (outcome.logs[l].name == name) return l;
    return std::nullopt;
  }
};

/// The CPU uses of long jobs that were simulated, ascending.
[[nodiscard]] inline std::vector<double> swept_uses(const MalleableOutcome& outcome) {
  std::vector<double> uses;
  for (const MalleableRun& run : outcome.runs)
    if (run.long_cpu_use && run.policy == malleable::kMalleable) uses.push_back(*run.long_cpu_use);
  return uses;
}

/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> malleable_checks(const MalleableValues& simulated);

}  // namespace replay::study
