// Waiting jobs, running jobs and free cores at each instant, by the decisions in an event log: the state that the
// policy knew when it decided. Cores count as taken from the decision on, also while another job is still on them;
// those of a job that is to be killed or suspended count as free. In a real run a job whose estimate is used up has some
// seconds of grace, in which some policies give its cores away already: it counts as gone from then on. The queue is by
// (submitted, job number), as policies see it. The estimated end of a job follows from its progress so far, and so from
// where its processes really were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "scheduler/history/observer.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"
#include "scheduler/runtime_model/shared_rates.hpp"

namespace replay::compare {

struct QueueKey {
  Instant submitted{};  ///< as the trace says
  JobId job{};
  auto operator<=>(const QueueKey&) const = default;
};

/// A job that was submitted and has not ended.
struct LiveJob {
  QueueKey key;
  Job declared;
  ProcessCount processes = 0;
  Duration estimate{};          ///< grows when it is extended
  Instant decided = kNever;     ///< when its start was decided; kNever: it waits
  Instant launched = kNever;    ///< when it got its cores
  std::uint64_t start_order{};  ///< counts the starts
  Allocation allocation;        ///< as decided last
  bool suspended = false;
  bool leaving = false;   ///< to be killed, or over its estimate and its cores are given away
  Allocation held;        ///< where its processes are, or were before they were suspended
  bool on_cores = false;  ///< they are there
  Progress budget;        ///< of work, by the estimate

  [[nodiscard]] bool waits() const { return decided == kNever; }
  [[nodiscard]] bool holds_cores() const { return !waits() && !suspended && !leaving; }
  /// When its estimate is used up if nothing changes: what RunningJob::estimated_end is to policies. kNever while it is
  /// suspended. REQUIRES: its start was decided.
  [[nodiscard]] Instant estimated_end() const { return budget.end(); }
};

class RunState final : public history::Observer {
 public:
  /// Without a rate every job runs at full speed, wherever it is.
  explicit RunState(DeclaredRate rate = {}) : rate_(std::move(rate)) {}

  void on_begin(const log::Header& header, const Machine& machine) override;
  /// Throws log::BadRecord for decisions that cannot be true: a job is started twice.
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;

  /// history::stated_cores().
  [[nodiscard]] CoreCount cores() const { return stated_cores_; }
  /// On nodes that are up.
  [[nodiscard]] CoreCount free_cores() const { return std::max<CoreCount>(0, stated_cores_ - busy_ - absent_); }
  /// Those that there are, or will be as far as is known: without those of closed nodes that are not to be up again.
  [[nodiscard]] CoreCount cores_there() const;
  /// By a waiting job at the least: as submitted, unless the policy can choose another size.
  [[nodiscard]] CoreCount needed(const Job& job) const;
  /// Whether a waiting job needs more than there are: the policy does not see it.
  [[nodiscard]] bool holds_back(const Job& job) const { return needed(job) > cores_there(); }
  [[nodiscard]] const std::map<NodeId, NodeChange>& closed() const { return closed_; }
  [[nodiscard]] std::string name_of(NodeId node) const { return names_.of(node); }
  /// Null if it was not submitted yet, or has ended.
  [[nodiscard]] const LiveJob* find(JobId job) const;
  [[nodiscard]] const std::set<QueueKey>& waiting() const { return waiting_; }
  /// Those that hold cores by the decisions, in the order of their starts.
  [[nodiscard]] const std::map<std::uint64_t, const LiveJob*>& running() const { return running_; }
  /// The earliest instant from `now` on at which `cores` are free if every running job ends by its estimate, closed nodes are
  /// up again when that was said, and none starts; kNever if they never are. O(running log running).
  [[nodiscard]] Instant earliest_start(CoreCount cores, Instant now) const;

 private:
  struct OnRecord;
  LiveJob& job(JobId job) { return live_.at(job); }
  void hold(LiveJob& job);
  void let_go(LiveJob& job);
  void put_back(LiveJob& job, Instant now);
  void change(const NodeChange& change, Instant now);
  [[nodiscard]] bool is_closed(CoreId core) const {
    return !closed_.empty() && closed_.contains(machine_->node_of(core));
  }
  void end_jobs_over_their_estimates(const LiveJob& taker);
  [[nodiscard]] bool is_taken(const Allocation& allocation) const;
  CoreCount newly_busy(const Allocation& allocation);
  CoreCount newly_free(const Allocation& allocation);
  [[nodiscard]] double rate(const LiveJob& job, const Allocation& on, const Surroundings& around) const;
  void come_to_cores(LiveJob& job, Instant now);
  void leave_cores(LiveJob& job, Instant now);
  void ask_rate_again(JobId job, const Allocation& on, const Surroundings& around, Instant now);

  DeclaredRate rate_;
  bool chooses_sizes_ = false;  // the policy
  CoreCount cores_ = 0, stated_cores_ = 0;
  CoreCount busy_ = 0;
  CoreCount absent_ = 0;  // of closed nodes, with no job by the decisions
  std::map<NodeId, NodeChange> closed_;
  log::NodeNames names_;
  std::uint64_t starts_ = 0;
  std::unordered_map<JobId, LiveJob> live_;
  std::set<QueueKey> waiting_;
  std::map<std::uint64_t, const LiveJob*> running_;
  std::unordered_map<CoreId, int> sharers_;  // by core with a name: jobs that have it by the decisions
  std::optional<Machine> machine_;
  std::optional<SharedRates> shared_;  // where their processes are
};

/// The state of a run just before a record: follows the log and stops there.
class StateBefore final : public history::Observer {
 public:
  /// Stops at the record of that number (from 0), or at the first one later than `last`.
  StateBefore(std::uint64_t record, Instant last) : stop_(record), last_(last) {}

  void on_begin(const log::Header& header, const Machine& machine) override { state_.on_begin(header, machine); }
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  [[nodiscard]] const RunState& state() const { return state_; }

 private:
  RunState state_;
  std::uint64_t stop_;
  Instant last_;
  std::uint64_t seen_ = 0;
  bool is_over_ = false;
};

}  // namespace replay::compare
