// The machine and the jobs as g-lomarc-ts keeps them from pass to pass: what runs and where, what waits, the plan, and what
// was promised to each job. It says what could start and starts it; the policy says what should.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/sharing/group_search.hpp"
#include "scheduler/policy/sharing/node_plan.hpp"
#include "scheduler/policy/sharing/running_units.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::sharing {

class SharedCluster {
 public:
  SharedCluster(const Settings& settings, const Machine& machine);

  /// Brings all up to date: ends, planned ends that have changed, compression, and then submissions, which get their
  /// promises. What the event log is to know goes to `out`.
  void follow(const ClusterView& view, Decisions& out);

  /// Waiting jobs by arrival.
  [[nodiscard]] std::span<KnownJob* const> queue() const { return queue_; }
  [[nodiscard]] const HalfNodes& nodes() const { return nodes_; }
  [[nodiscard]] const NodePlan& plan() const { return plan_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] int free_nodes() const { return static_cast<int>(free_.size()); }
  [[nodiscard]] Slowdowns& slowdowns() { return slowdowns_; }
  [[nodiscard]] bool is_due(const KnownJob& job) const { return plan_.is_due(job) && job.nodes <= free_nodes(); }
  /// Whether each process of all jobs that run or wait could have a node that is open.
  [[nodiscard]] bool has_node_for_each_process() const { return processes_ <= nodes_.nodes() - std::ssize(closed_); }
  /// Units of `job_class` outside groups that leave half of their nodes, in no order.
  [[nodiscard]] std::span<Unit* const> open_units(JobClass job_class);

  // What could start. Each plans it, and answers with the first job that would be delayed beyond its promise.
  [[nodiscard]] std::optional<NodePlan::Delayed> try_group(const Group& group);
  [[nodiscard]] std::optional<NodePlan::Delayed> try_join(KnownJob& job, Unit& bundle);

  // Starts.
  /// REQUIRES: is_due().
  void start(KnownJob& job, Decisions& out);
  /// With one process per node, whatever the plan says. REQUIRES: so many nodes are free.
  void start_spread(KnownJob& job, Decisions& out);
  /// REQUIRES: the last try was this one, and delays no job.
  void start_group(const Group& group, Decisions& out);
  void start_join(KnownJob& job, Unit& bundle, Decisions& out);

  // For questions about views that are not the last one (Outlook).
  [[nodiscard]] const KnownJob* find(JobId id) const { return jobs_.find(id); }
  [[nodiscard]] std::span<const Release> held_by_others() const { return others_; }
  [[nodiscard]] std::span<Company* const> companies() const { return running_.companies(); }
  /// The shapes of a job, which need not be known.
  [[nodiscard]] KnownJob described(const Job& job);

 private:
  bool follow_nodes(const ClusterView& view);
  void follow_running(const ClusterView& view);
  bool follow_queue(const ClusterView& view);
  [[nodiscard]] Instant planned_end(const RunningJob& running) const;
  void take_over_start(const RunningJob& running, KnownJob& job);
  KnownJob& know(const Job& job);
  void forget(KnownJob& job);
  void promise(KnownJob& job, Duration response) const;
  [[nodiscard]] JobClass class_of(const Job& job) const;
  std::vector<Seat> take_free(int count);
  std::optional<NodePlan::Delayed> try_party(std::span<Unit* const> running);
  void write_start(const KnownJob& job, Decisions& out);
  void leave_queue(KnownJob& job);
  void seat_matched(const Group& group, Unit& primary, std::vector<Unit*>& units);
  Unit& seat_primary(const Group& group);

  const Settings& settings_;
  HalfNodes nodes_;
  Slowdowns slowdowns_{nodes_};
  RunningUnits running_{slowdowns_};
  NodePlan plan_;
  Party party_{slowdowns_};

  const Machine* machine_;
  Instant now_ = Instant::min();
  JobMap<KnownJob> jobs_;
  std::vector<KnownJob*> queue_;
  std::int64_t processes_ = 0;  // of all known jobs
  std::vector<int> free_;       // nodes, ascending
  std::vector<ClosedNode> closed_;
  int nodes_up_;     // that will ever be up
  Releases others_;  // nodes of jobs that were not started here, and closed ones
  std::uint64_t mark_ = 0;

  std::vector<KnownJob*> taken_over_;  // of one follow(): started by a wrapper
  std::vector<KnownJob*> ended_;
  std::vector<const Job*> submitted_;
  Releases held_;
  std::vector<Unit*> units_;
};

}  // namespace replay::sharing
