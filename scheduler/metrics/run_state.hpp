// Who waits, who runs and how many cores are free at each instant, by the decisions in an event log: what the policy
// knew when it decided. Cores count as given away when that is decided, also while others still are on them; those of
// a job that is to be killed or suspended count as free. The queue is by (submitted, job number), as policies see it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct QueueKey {
  Instant submitted{};  ///< as the trace says
  JobId job{};
  auto operator<=>(const QueueKey&) const = default;
};

/// A job that was submitted and has not ended.
struct LiveJob {
  QueueKey key;
  Instant entered{};  ///< when it came into the queue
  ProcessCount processes = 0;
  Duration estimate{};          ///< grows when it is extended
  Instant decided = kNever;     ///< when its start was; kNever: it waits
  Instant launched = kNever;    ///< when it got its cores
  std::uint64_t start_order{};  ///< counts the starts
  Allocation allocation;        ///< as decided last
  bool suspended = false;
  bool leaving = false;  ///< to be killed
  Duration asleep{};     ///< time suspended, but for the present one
  Instant asleep_since{};

  [[nodiscard]] bool waits() const { return decided == kNever; }
  [[nodiscard]] bool holds_cores() const { return !waits() && !suspended && !leaving; }
  /// Its estimate after its launch (or its start's decision), time suspended added: when it ends at the latest if it
  /// keeps as many cores as processes. A job that was shrunk may take longer.
  [[nodiscard]] Instant estimated_end(Instant now) const;
};

class RunState final : public log::Sink {
 public:
  /// Throws InputError if the header names no machine.
  void header(const log::Header& header) override;
  /// Throws InputError when a record cannot be true (a job that starts and was never submitted).
  void record(const log::Record& record) override;

  [[nodiscard]] CoreCount cores() const { return cores_; }
  [[nodiscard]] CoreCount free_cores() const { return cores_ - busy_; }
  /// Null if it was not submitted yet, or has ended.
  [[nodiscard]] const LiveJob* find(JobId job) const;
  [[nodiscard]] const std::set<QueueKey>& waiting() const { return waiting_; }
  /// Those that hold cores by the decisions, in the order of their starts.
  [[nodiscard]] const std::map<std::uint64_t, const LiveJob*>& running() const { return running_; }
  /// The earliest instant from `now` on at which `cores` are free if every running job ends by its estimate and none
  /// starts; kNever if they never are. O(running log running).
  [[nodiscard]] Instant earliest_start(CoreCount cores, Instant now) const;

 private:
  struct OnRecord;
  LiveJob& job(JobId job, std::string_view event);
  void hold(LiveJob& job);
  void let_go(LiveJob& job);
  CoreCount newly_busy(const Allocation& allocation);
  CoreCount newly_free(const Allocation& allocation);

  CoreCount cores_ = 0;
  CoreCount busy_ = 0;
  std::uint64_t starts_ = 0;
  std::unordered_map<std::int64_t, LiveJob> live_;
  std::set<QueueKey> waiting_;
  std::map<std::uint64_t, const LiveJob*> running_;
  std::unordered_map<CoreId, int> sharers_;  // jobs on a core, of those that share theirs
};

/// The state of a run just before a record: follows the log and stops there.
class StateBefore final : public log::Sink {
 public:
  /// Stops at the record of that number (from 0), or at the first one later than `last`.
  StateBefore(std::uint64_t record, Instant last) : stop_(record), last_(last) {}

  void header(const log::Header& header) override { state_.header(header); }
  void record(const log::Record& record) override;
  [[nodiscard]] const RunState& state() const { return state_; }

 private:
  RunState state_;
  std::uint64_t stop_;
  Instant last_;
  std::uint64_t seen_ = 0;
  bool is_over_ = false;
};

}  // namespace replay::metrics
