// Schedules written by hand: jobs are letters, logs are kept in memory and drawn as text, a row per core and a column
// per unit of time, so that figures in papers and tests look alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::test {

using namespace std::chrono_literals;

/// The job number of a letter: 'A' is 65.
constexpr JobId id(char letter) { return static_cast<JobId>(letter); }
constexpr Instant at(Duration since_zero) { return Instant{since_zero}; }

inline const SpeedupCurve kLinear{LinearSpeedup{}};

/// job('A').cores(3).runs(2min).arrives(1min): a malleable job that computes all the time, estimated exactly.
class JobBuilder {
 public:
  explicit JobBuilder(JobId number);
  JobBuilder& cores(ProcessCount processes);
  JobBuilder& arrives(Duration when);
  JobBuilder& runs(Duration how_long);  ///< the estimate too, unless it is given
  JobBuilder& estimated(Duration how_long);
  JobBuilder& rigid();
  JobBuilder& moldable(SpeedupCurve curve, std::optional<ProcessCount> least = {},
                       std::optional<ProcessCount> most = {});
  JobBuilder& cpu_use(double share);
  JobBuilder& follows(char other, Duration think_time);
  JobBuilder& cancelled_after(Duration wait);
  operator TracedJob() const;  // NOLINT(google-explicit-constructor): builders read as what they build

 private:
  TracedJob traced_;
  bool estimated_ = false;
};
inline JobBuilder job(char letter) { return JobBuilder{id(letter)}; }

/// The content of the record, or the fact that it tells, if that is a Type; else nullptr.
template <class Type>
const Type* content(const log::Record& record) {
  if constexpr (IsFact<Type>) {
    const Told* const told = std::get_if<Told>(&record.what);
    return told != nullptr ? std::get_if<Type>(&told->fact) : nullptr;
  } else {
    return std::get_if<Type>(&record.what);
  }
}

/// A log sink that keeps header and records in memory.
class MemoryLog final : public log::Sink {
 public:
  void header(const log::Header& header) override { header_ = header; }
  void record(const log::Record& record) override { records_.push_back(record); }
  [[nodiscard]] const std::vector<log::Record>& records() const { return records_; }

  /// When the job got its cores; kNever if never.
  [[nodiscard]] Instant start(JobId job) const;
  [[nodiscard]] Instant end(JobId job) const;
  [[nodiscard]] Outcome outcome(JobId job) const;
  /// The decisions on one job: "start 2, resize 1, ..." with core counts.
  [[nodiscard]] std::string decisions(JobId job) const;
  /// All decisions in order: "start A 2; resize A 1; ...", jobs as letters.
  [[nodiscard]] std::string decisions() const;
  /// The number of jobs that ended with a verified result.
  [[nodiscard]] int verified() const;
  /// Completed resizes of running jobs, to fewer and to more cores.
  struct Resizes {
    int shrinks = 0;
    int expands = 0;
  };
  [[nodiscard]] Resizes resizes() const;

 private:
  log::Header header_;
  std::vector<log::Record> records_;
};

inline Machine cores(CoreCount count) { return Machine::pool(count); }

/// Runs the jobs in virtual time under the policy as written ("easy:pass=instant") and a runtime model.
MemoryLog simulate(std::string_view policy, const Machine& machine, std::vector<TracedJob> jobs,
                   std::string_view model = "isolated", const SimulationOptions& options = {});
/// The same under a policy that is not in the table.
MemoryLog simulate(Policy& policy, const Machine& machine, std::vector<TracedJob> jobs,
                   std::string_view model = "isolated", const SimulationOptions& options = {});

/// Draws the schedule: a row per core, a column per `unit` of time until the last end; '.' is free, '&' is shared by
/// two jobs. Cores of a pool are numbered as they become free, lowest first.
std::string gantt(const MemoryLog& log, CoreCount cores, Duration unit);

/// The first error in the log; empty if it is correct. Errors are: two jobs on one core unless both are shareable,
/// three in any case, a process that changes its node, a job without its end, a start before its submission, an end for
/// a job that did not start, a time that goes back.
std::string what_is_wrong(const MemoryLog& log, const Machine& machine);

}  // namespace replay::test
