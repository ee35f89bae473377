#include "scheduler/policy/sharing/shared_cluster.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay::sharing {
namespace {

constexpr Duration kLongest = kEndOfPlans.time_since_epoch();

Duration at_most_longest(double microseconds) {
  return microseconds < static_cast<double>(kLongest.count()) ? Duration{static_cast<std::int64_t>(microseconds)}
                                                              : kLongest;
}

}  // namespace

SharedCluster::SharedCluster(const Settings& settings, const Machine& machine)
    : settings_(settings), nodes_(machine), plan_(machine.nodes()), machine_(&machine), nodes_up_(machine.nodes()) {}

// ---- what has happened ----

void SharedCluster::follow(const ClusterView& view, Decisions& out) {
  now_ = view.now;
  slowdowns_.use(view);
  follow_running(view);
  running_.follow(now_, mark_, out);
  for (KnownJob* const job : ended_) forget(*job);
  bool has_left = follow_queue(view);
  has_left = follow_nodes(view) || has_left;
  running_.held(others_, {}, held_);
  plan_.follow(now_, held_, has_left);
  for (KnownJob* const job : taken_over_) {
    if (job->expected > Duration::zero()) continue;
    promise(*job, job->end - job->submitted);
    out.emplace_back(ResponseExpected{job->id(), job->expected});
  }
  for (const Job* const job : submitted_) {
    KnownJob& known = know(*job);
    queue_.push_back(&known);
    plan_.insert(known);
    promise(known, known.ends_at() - known.submitted);
    out.emplace_back(ResponseExpected{known.id(), known.expected});
  }
  if (!submitted_.empty()) std::ranges::sort(queue_, {}, &KnownJob::arrival);
  nodes_.list_free(view.free, free_);
}

// Returns whether waiting jobs have other shapes: there are more or fewer nodes for them.
bool SharedCluster::follow_nodes(const ClusterView& view) {
  closed_.assign(view.free.closed().begin(), view.free.closed().end());
  hold_closed(
      view, [this](const RunningJob& running) { return planned_end(running); }, others_);
  const auto up = nodes_.nodes() - static_cast<int>(std::ranges::count(closed_, kNever, &ClosedNode::until));
  if (std::exchange(nodes_up_, up) == up) return false;
  for (KnownJob* const job : queue_) {
    const KnownJob shape = described(*job->job);
    job->per_node = shape.per_node;
    job->nodes = shape.nodes;
    job->length = shape.length;
  }
  return true;
}

// Marks the jobs that run.
void SharedCluster::follow_running(const ClusterView& view) {
  ++mark_;
  others_.clear();
  taken_over_.clear();
  std::map<NodeId, Instant> of_others;  // several of them may be on a node
  for (const RunningJob* const running : view.running.by_start()) {
    if (running->is_gone_in_plan()) continue;
    KnownJob* job = jobs_.find(running->job->id);
    if (job == nullptr && std::ranges::any_of(view.triggers, [running](const Trigger& trigger) {
          return trigger.kind == TriggerKind::kSubmit && trigger.job == running->job;
        }))
      job = &know(*running->job);
    if (job == nullptr) {
      for_each_node(running->allocation, *machine_, [&, end = planned_end(*running)](const NodeShare& share) {
        Instant& until = of_others.try_emplace(share.node, end).first->second;
        until = std::max(until, end);
      });
      continue;
    }
    if (job->unit == nullptr) {
      take_over_start(*running, *job);
      taken_over_.push_back(job);
    }
    job->mark = mark_;
    if (running->budget.end() == job->work.end()) continue;
    job->work = running->budget;
    job->unit->company->changed = true;
  }
  for (const auto& [node, until] : of_others) others_.push_back({until, 1});
  ended_.clear();
  for (const Company* company : running_.companies())
    for (const Unit* unit : company->units)
      for (KnownJob* const job : unit->jobs)
        if (job->mark != mark_) ended_.push_back(job);
}

Instant SharedCluster::planned_end(const RunningJob& running) const {
  const KnownJob* const job = find(running.job->id);
  return job != nullptr && job->unit != nullptr ? job->end : std::max(running.estimated_end, now_ + kOneTick);
}

// Started by a wrapper as alone() says, with nodes for itself.
void SharedCluster::take_over_start(const RunningJob& running, KnownJob& job) {
  std::vector<Seat> seats;
  for_each_node(running.allocation, *machine_, [&seats](const NodeShare& share) {
    seats.push_back({static_cast<int>(share.node), Half::kFirst});
  });
  const bool as_planned = static_cast<int>(seats.size()) == job.nodes;
  running_.start(job, as_planned ? job.per_node : nodes_.cores(), std::move(seats), now_);
}

// Finds what has left the queue and what has come, both in the order of arrival. Returns whether the plan has places of
// jobs that wait no longer.
bool SharedCluster::follow_queue(const ClusterView& view) {
  submitted_.clear();
  std::size_t kept = 0, at = 0;
  const auto drop_before = [&](auto has_passed) {
    for (; at < queue_.size() && has_passed(*queue_[at]); ++at) {
      plan_.remove(*queue_[at]);
      if (queue_[at]->unit == nullptr) forget(*queue_[at]);  // taken back by its user
    }
  };
  for (const Job* const job : view.waiting) {
    drop_before([job](const KnownJob& known) { return known.arrival() < std::tuple{job->submitted, job->id}; });
    if (at < queue_.size() && queue_[at]->job == job)
      queue_[kept++] = queue_[at++];
    else
      submitted_.push_back(job);
  }
  drop_before([](const KnownJob&) { return true; });
  const bool has_left = kept < queue_.size();
  queue_.resize(kept);
  return has_left;
}

KnownJob& SharedCluster::know(const Job& job) {
  KnownJob& known = jobs_.add(job.id);
  known = described(job);
  known.self = &known;
  processes_ += job.processes;
  return known;
}

void SharedCluster::forget(KnownJob& job) {
  processes_ -= job.processes();
  jobs_.erase(job.id());
}

// In the clock of the view. A wrapper's clock may be behind that of the job's submission.
KnownJob SharedCluster::described(const Job& job) {
  KnownJob known;
  known.job = &job;
  known.job_class = class_of(job);
  known.submitted = std::min(job.submitted, now_);
  known.rate_one = slowdowns_.rate_alone(job, 1);
  known.rate_half = slowdowns_.rate_alone(job, nodes_.half());
  known.rate_full = slowdowns_.rate_alone(job, nodes_.cores());
  known.modelled = as_declared(job, {});

  const bool half_is_good = slowdowns_.self_slowdown(job, nodes_.half()) <= settings_.max_self + kTolerance;
  const bool full_is_good = slowdowns_.self_slowdown(job, nodes_.cores()) <= settings_.max_slowdown + kTolerance;
  known.may_fill_nodes = !known.is_serial() && full_is_good;
  known.per_node_in_group = !known.is_serial() && half_is_good ? nodes_.half() : 1;
  known.per_node = known.may_fill_nodes ? nodes_.cores() : known.per_node_in_group;
  const auto does_not_fit = [&] { return HalfNodes::nodes_for(job.processes, known.per_node) > nodes_up_; };
  if (known.per_node == 1 && does_not_fit()) known.per_node = nodes_.half();
  if (does_not_fit()) known.per_node = nodes_.cores();

  known.nodes = HalfNodes::nodes_for(job.processes, known.per_node);
  known.nodes_in_group = HalfNodes::nodes_for(job.processes, known.per_node_in_group);
  const double rate = slowdowns_.rate_alone(known, known.per_node);
  known.length = std::min(Progress{job.estimate, Instant{}, rate}.end() - Instant{}, kLongest);
  return known;
}

JobClass SharedCluster::class_of(const Job& job) const {
  if (job.estimate <= settings_.short_up_to) return JobClass::kShort;
  return job.estimate <= settings_.medium_up_to ? JobClass::kMedium : JobClass::kLong;
}

// Formula 4.
void SharedCluster::promise(KnownJob& job, Duration response) const {
  constexpr double kRounding = 1e-3;
  const double expected = settings_.estimate_factor * static_cast<double>(response.count());
  job.exactly_expected = std::max(expected, 1.0);
  job.expected = std::max(kOneTick, at_most_longest(expected + 0.5));
  job.latest = job.submitted + at_most_longest(settings_.slack * expected + kRounding);
}

// ---- what could start ----

std::span<Unit* const> SharedCluster::open_units(JobClass job_class) {
  units_.clear();
  const auto is_closed = [this](const Seat& seat) {
    return std::ranges::find(closed_, NodeId{seat.node}, &ClosedNode::node) != closed_.end();
  };
  for (const Company* company : running_.companies()) {
    Unit& unit = *company->units.front();
    if (!company->is_group && unit.jobs.front()->job_class == job_class && unit.per_node <= nodes_.half() &&
        std::ranges::none_of(unit.seats, is_closed))
      units_.push_back(&unit);
  }
  return units_;
}

std::optional<NodePlan::Delayed> SharedCluster::try_group(const Group& group) {
  std::vector<Unit*> running;
  if (group.primary.running != nullptr) running.push_back(group.primary.running);
  party_.clear(now_);
  party_.add(group.primary.jobs, group.primary.per_node, group.primary.nodes, 0);
  int before = 0;
  for (const Candidate& candidate : group.matched) {
    const int covered = std::clamp(group.primary.nodes - before, 0, candidate.nodes);
    party_.add(candidate.jobs, candidate.per_node, candidate.nodes, covered);
    before += candidate.nodes;
    if (candidate.running != nullptr) running.push_back(candidate.running);
  }
  return try_party(running);
}

std::optional<NodePlan::Delayed> SharedCluster::try_join(KnownJob& job, Unit& bundle) {
  std::vector<KnownJob*> jobs = bundle.jobs;
  jobs.push_back(&job);
  party_.clear(now_);
  party_.add(jobs, bundle.per_node, bundle.nodes(), 0);
  Unit* const running[] = {&bundle};
  return try_party(running);
}

// Step 6 of section 4.5: no job ends later than both its limit and its planned end.
std::optional<NodePlan::Delayed> SharedCluster::try_party(std::span<Unit* const> running) {
  party_.foresee();
  ++mark_;
  for (const Party::Guest& guest : party_.guests()) {
    const KnownJob& job = *guest.job;
    const Instant planned = job.unit != nullptr ? job.end : job.ends_at();
    if (guest.end > job.latest && guest.end > planned) return NodePlan::Delayed{&job, guest.end};
    guest.job->mark = mark_;
  }
  Releases releases;
  party_.releases(releases);
  releases.insert(releases.end(), others_.begin(), others_.end());
  running_.held(releases, running, held_);
  return plan_.try_with(held_, mark_);
}

// ---- starts ----

std::vector<Seat> SharedCluster::take_free(int count) {
  INVARIANT(count <= free_nodes(), "{} nodes are wanted, {} are free", count, free_nodes());
  std::vector<Seat> seats;
  for (int i = 0; i < count; ++i) seats.push_back({free_[static_cast<std::size_t>(i)], Half::kFirst});
  free_.erase(free_.begin(), free_.begin() + count);
  return seats;
}

void SharedCluster::leave_queue(KnownJob& job) { std::erase(queue_, &job); }

void SharedCluster::write_start(const KnownJob& job, Decisions& out) {
  const Unit& unit = *job.unit;
  out.emplace_back(Start{job.id(), nodes_.allocation(job.processes(), unit.per_node, unit.seats, job.slot), {}});
}

void SharedCluster::start(KnownJob& job, Decisions& out) {
  plan_.start(job);
  running_.start(job, job.per_node, take_free(job.nodes), now_);
  leave_queue(job);
  write_start(job, out);
}

void SharedCluster::start_spread(KnownJob& job, Decisions& out) {
  running_.start(job, 1, take_free(job.processes()), now_);
  plan_.start_differently(job, {job.end, job.processes()});
  leave_queue(job);
  write_start(job, out);
}

void SharedCluster::start_group(const Group& group, Decisions& out) {
  Unit& primary = seat_primary(group);
  std::vector<Unit*> units{&primary};
  seat_matched(group, primary, units);
  running_.join_up(units, party_);
  plan_.adopt_trial();
  GroupFormed formed{primary.jobs.front()->id(), {}, static_cast<int>(group.way), group.gain};
  for (const Unit* unit : units)
    for (KnownJob* const job : unit->jobs) {
      if (unit != &primary) formed.matched.push_back(job->id());
      const auto waits = std::ranges::find(queue_, job);
      if (waits == queue_.end()) continue;
      queue_.erase(waits);
      write_start(*job, out);
    }
  out.emplace_back(std::move(formed));
}

// A waiting primary that joins running jobs takes the other half of their nodes, in their order, and then free ones.
Unit& SharedCluster::seat_primary(const Group& group) {
  if (group.primary.running != nullptr) return *group.primary.running;
  std::vector<Seat> seats;
  for (const Candidate& candidate : group.matched) {
    if (candidate.running == nullptr) continue;
    for (const Seat seat : candidate.running->seats)
      if (static_cast<int>(seats.size()) < group.primary.nodes) seats.push_back({seat.node, other_half(seat.half)});
  }
  for (const Seat seat : take_free(group.primary.nodes - static_cast<int>(seats.size()))) seats.push_back(seat);
  return running_.add(*group.primary.jobs.front(), group.primary.per_node, std::move(seats));
}

// From the primary's first node on, in the order of the group, and the excess on free nodes.
void SharedCluster::seat_matched(const Group& group, Unit& primary, std::vector<Unit*>& units) {
  std::size_t next = 0;
  for (const Candidate& candidate : group.matched) {
    if (candidate.running != nullptr) {
      units.push_back(candidate.running);
      continue;
    }
    std::vector<Seat> seats;
    for (; next < primary.seats.size() && static_cast<int>(seats.size()) < candidate.nodes; ++next)
      seats.push_back({primary.seats[next].node, other_half(primary.seats[next].half)});
    for (const Seat seat : take_free(candidate.nodes - static_cast<int>(seats.size()))) seats.push_back(seat);
    units.push_back(&running_.add(*candidate.jobs.front(), candidate.per_node, std::move(seats)));
  }
}

void SharedCluster::start_join(KnownJob& job, Unit& bundle, Decisions& out) {
  job.slot = 0;
  while (std::ranges::any_of(bundle.jobs, [&job](const KnownJob* mate) { return mate->slot == job.slot; })) ++job.slot;
  running_.join(job, bundle, party_);
  plan_.adopt_trial();
  leave_queue(job);
  write_start(job, out);
}

}  // namespace replay::sharing
