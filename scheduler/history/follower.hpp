// Follows the event log of one run: refuses records that cannot be true after those before them, in one way for all readers, and
// keeps what the log says of jobs, cores and load now. Memory grows with the jobs that wait and run, not with the run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/history/job_numbers.hpp"
#include "scheduler/history/job_state.hpp"
#include "scheduler/history/observer.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::history {

/// Throws log::BadRecord for a header without a machine, for a job that is submitted or launched twice, that changes or ends and
/// was never submitted or has ended, and for cores that the machine does not have or that others hold.
class Follower final : public log::Sink {
 public:
  /// The observers must outlive this. They are told in this order.
  explicit Follower(const Observers& observers = {});
  /// One more, told after the others. REQUIRES: the log has not begun.
  void add(const ObserverRef& observer);

  void header(const log::Header& header) override;
  void record(const log::Record& record) override;
  /// Those that change a job, and those that an observer wants. All are checked that come.
  [[nodiscard]] log::Kinds kinds() const override;

  /// Without entries before the log has begun.
  [[nodiscard]] const log::Header& of_run() const { return header_; }
  /// REQUIRES: the log has begun.
  [[nodiscard]] const Machine& machine() const { return *machine_; }
  /// nullptr: it was not submitted, or has ended. Valid until its end.
  [[nodiscard]] const JobState* find(JobId job) const { return jobs_.find(job); }
  [[nodiscard]] const Load& load() const { return load_; }
  /// When the last record was; nothing before the first.
  [[nodiscard]] std::optional<Instant> now() const { return now_; }

 private:
  struct Taker;

  const JobState& submit(const log::Submitted& what);
  const JobState& launch(const log::Launched& what);
  const JobState& resize(const log::ResizeDone& what);
  const JobState& suspend(JobId job);
  const JobState& resume(JobId job);
  const JobState& requeue(JobId job);
  void change(const NodeChange& change);
  void end(const log::Finished& what, const log::Record& record);
  void changed(const Before& before, const JobState& job);
  void tell_load();
  void tell_record(const log::Record& record, const JobState* job);
  JobState& job(JobId job, std::string_view event);

  void join(JobState& job);
  void part(JobState& job);
  void expect_cores(const JobState& job, const Allocation& allocation) const;
  void expect_open(const JobState& job, const Allocation& gets) const;
  [[nodiscard]] bool is_closed(CoreId core) const;
  [[nodiscard]] CoreCount take_cores(const JobState& job);
  [[nodiscard]] CoreCount give_cores(const JobState& job);

  std::vector<Observer*> observers_, of_time_, of_jobs_, of_load_;
  std::array<std::vector<Observer*>, log::kKindCount> by_kind_;
  log::Header header_;
  std::optional<Machine> machine_;
  std::vector<std::uint8_t> on_core_;  // by core with a name: jobs on it, kAlone for one that shares it with none
  std::vector<NodeState> nodes_;       // empty: all have been up all the time
  JobNumbers submitted_;
  std::uint32_t places_ = 0;
  JobMap<JobState> jobs_;
  Load load_;
  std::optional<Instant> now_;
};

/// Reads an event log for `observers`, which are told in this order. Throws InputError with file and line for a bad or impossible
/// record. A log that was cut off ends at its last whole line.
log::LogEnd follow(const std::filesystem::path& log, const Observers& observers);

}  // namespace replay::history
