// A workload of the Lublin-Feitelson model with a requested number of jobs, duration and load. What has to be known
// before the first job is written (the number of jobs, the factors on gaps or run times) is found by generating the
// jobs as often as needed, never by keeping them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/models/lublin_model.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

/// What is changed to meet a load.
enum class SolveFor : std::uint8_t { kArrivals, kRuntimes };

struct LublinOrder {
  LublinModel model;
  std::optional<std::uint64_t> jobs;     ///< >= 1; neither this nor a duration: 10,000
  std::optional<std::int64_t> duration;  ///< seconds; alone: jobs until then. With jobs: the last one arrives then
  std::optional<double> load;            ///< work / (machine size x time from first to last arrival)
  SolveFor solve = SolveFor::kArrivals;
  std::int64_t min_runtime = 1;             ///< seconds; shorter ones are raised to it
  std::optional<std::int64_t> max_runtime;  ///< seconds; longer ones are cut to it
};

inline constexpr std::uint64_t kDefaultLublinJobs = 10'000;

struct LublinPlan {
  std::uint64_t jobs = 0;
  double gap_factor = 1;      ///< on gaps between arrivals, on the clock of the daily cycle
  double runtime_factor = 1;  ///< on run times, before they are rounded to seconds and held between least and most
};

struct LublinTotals {
  std::uint64_t jobs = 0;
  std::int64_t first = 0, last = 0;  ///< arrivals, in seconds
  double work = 0;                   ///< processor-seconds
  /// As in LublinOrder; infinite where all arrive in one second.
  [[nodiscard]] double load(CoreCount machine_size) const;
};

/// The jobs of a plan, in order.
class LublinTrace {
 public:
  LublinTrace(const LublinOrder& order, const LublinPlan& plan);
  /// False at the end.
  [[nodiscard]] bool next(LublinJob& job);

 private:
  const LublinOrder order_;
  const LublinPlan plan_;
  LublinStream stream_;
  std::uint64_t given_ = 0;
};

/// Throws UsageError for an order that contradicts itself, or for a load that cannot be met within 1 %, naming one that
/// can.
[[nodiscard]] LublinPlan plan_lublin(const LublinOrder& order);
/// Generates the whole workload once. O(jobs) time.
[[nodiscard]] LublinTotals lublin_totals(const LublinOrder& order, const LublinPlan& plan);

/// A job as an SWF record: status 1, queue 0 for interactive and typeless jobs and 1 for batch jobs, the rest unknown.
[[nodiscard]] SwfRecord lublin_record(std::uint64_t number, const LublinJob& job);
/// The command that makes the same workload: all that differs from the defaults, and always jobs, machine and seed.
[[nodiscard]] std::string lublin_command(const LublinOrder& order);
[[nodiscard]] SwfHeader lublin_header(const LublinOrder& order, const LublinTotals& totals);
/// Header and jobs. The writer is not closed.
void write_lublin(const LublinOrder& order, const LublinPlan& plan, const LublinTotals& totals, TraceWriter& writer);

}  // namespace replay
