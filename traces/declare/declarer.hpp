// Applies declarations to the jobs of a trace, one by one. A record that is no job that has run (no number, size or run
// time, part of an execution, a number seen before) passes unchanged: readers of the trace skip it as well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/declare/chance.hpp"
#include "traces/declare/contention.hpp"
#include "traces/declare/estimates.hpp"
#include "traces/declare/flexibility.hpp"
#include "traces/number_set.hpp"
#include "traces/swf_header.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

struct CpuUseRule {
  bool logged_first = true;  ///< field 6 / field 4 where the log has both
  ShareDistribution otherwise{};
  ShareDistribution serial{};  ///< of serial jobs: one process never waits for another, hence 1
};

/// Slack paper, section 5.3: each `every`-th job of the trace has these priorities, all others 0.
struct PriorityRule {
  std::int64_t every = 5;
  double user = 1;
  double political = 1;  ///< 0..1, or -infinity: beyond its quota
};

/// What to declare; what is not stated stays as it is.
struct Declarations {
  Seed seed{1};
  std::optional<FlexibilityRule> flexibility{};
  std::optional<EstimateRule> estimates{};
  std::optional<CpuUseRule> cpu_use{};
  std::optional<ShareDistribution> network_overhead{};
  bool contention = false;
  std::optional<SizeRule> sizes{};
  std::optional<PriorityRule> priorities{};
  std::optional<CoreCount> machine{};  ///< nothing: the header's
};

/// "--seed 1 --contention table4 ...": the options that make these declarations, always in the same form.
[[nodiscard]] std::string to_text(const Declarations& declarations);

/// Decides whether declarations apply to a record. It must see all records, in order.
class JobFilter {
 public:
  [[nodiscard]] bool is_job(const SwfRecord& record);

 private:
  NumberSet seen_;
};
/// Field 5, else field 8, as the rules of cleaning have it; <= 0 if neither is known.
[[nodiscard]] ProcessCount logged_size(const SwfRecord& record);

class Declarer {
 public:
  /// Throws UsageError if the machine's size is needed and neither `declarations` nor the header say it.
  Declarer(const Declarations& declarations, const SwfHeader& header);

  /// For Tsafrir's model: the estimates of all jobs, in the order of the trace.
  void use_estimates(std::vector<Duration> estimates) { estimates_ = std::move(estimates); }
  /// The measured curves of programs, by the number of the executable (field 14): jobs that run one of them are moldable
  /// by it, whatever else is declared, unless they are malleable; the other jobs are not changed by that.
  void use_curves(std::map<std::int32_t, SpeedupCurve> curves) { curves_ = std::move(curves); }
  /// The header of the result: how it was made, and the machine of a size rule.
  void declare(SwfHeader& header) const;
  /// Throws InputError where a size rule meets a job without slowdowns, or more jobs come than estimates.
  void declare(TraceEntry& entry);

  /// Jobs that got declarations, and other records.
  [[nodiscard]] std::uint64_t jobs() const { return jobs_; }
  [[nodiscard]] std::uint64_t others() const { return others_; }
  /// Jobs that got a curve of use_curves().
  [[nodiscard]] std::uint64_t measured() const { return measured_; }

 private:
  void resize(TraceEntry& entry) const;
  void set_measured_curve(TraceEntry& entry);
  void set_cpu_use(TraceEntry& entry) const;
  void set_estimate(SwfRecord& record);
  void set_priorities(JobTraits& traits) const;

  Declarations rules_;
  std::int32_t machine_ = 0;  // processors, or nodes for a size rule
  JobFilter filter_;
  std::vector<Duration> estimates_;
  std::map<std::int32_t, SpeedupCurve> curves_;  // by executable
  std::optional<ProcessCount> most_;             // one for each processor, if those are known
  std::uint64_t jobs_ = 0;
  std::uint64_t measured_ = 0;
  std::uint64_t others_ = 0;
};

}  // namespace replay
