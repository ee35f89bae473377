// Scojo-PECT: coarse time slices. Jobs belong to a class by their request, and each class has a virtual machine
// (virtual_machine.hpp) with an inner policy of its own that shares space. Time is cut into intervals, and each interval
// into a slice per class (slices.hpp). In its slice a class has the machine; the jobs of the others are suspended and keep
// their cores. Cores that the class of the slice does not need until its end go to guests (safe non-type slice backfilling):
// suspended jobs of other classes on their own cores, then waiting ones that their own inner policy would start without
// a delay of others. Guests are suspended when the slice ends.
// Source: G-LOMARC-TS paper, section 4.7. What the paper leaves open: docs/policies/scojo-pect.md.

#include "scheduler/policy/sharing/scojo_pect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/sharing/job_units.hpp"
#include "scheduler/policy/sharing/slices.hpp"
#include "scheduler/policy/sharing/virtual_machine.hpp"

namespace replay {
namespace {

struct PectSettings {
  SliceSettings slices;
  Duration longest_short, longest_medium;  // requests
};

class ScojoPect final : public Policy {
 public:
  using Inner = std::array<std::unique_ptr<Policy>, kJobClasses>;

  ScojoPect(PectSettings settings, Inner inner) : settings_(std::move(settings)), inner_(std::move(inner)) {}

  void decide(const ClusterView& view, Decisions& out) override {
    set_up(view);
    run_clock(view.now);
    link_started(view);
    take_in(view, out);
    follow_budgets(view);
    if (has_no_jobs()) {
      close_slice();
      ask_inner(view, out);
      is_asleep_ = true;
    } else {
      enter_slice(view, out);
      is_asleep_ = false;
      ask_inner(view, out);
      if (is_open_) invite_guests(view);
      wake(view.now, out);
    }
    exchange(out);
    for (const JobId ended : ended_) jobs_.erase(ended);
    ended_.clear();
  }

  // Suspended jobs come back to their cores, so that nothing stays free for sure unless there are no jobs.
  CoreCount free_until(const ClusterView& view, Instant /*until*/) const override {
    return view.running.empty() && view.waiting.empty() ? view.free.total() : 0;
  }
  bool may_start_now(const ClusterView& view, const Job& job) const override {
    return view.running.empty() && !view.waiting.empty() && view.waiting.head().id == job.id &&
           job.processes <= view.free.total();
  }

  const Training* training() const override { return inner_.front()->training(); }
  bool chooses_sizes() const override { return inner_.front()->chooses_sizes(); }

  Duration more_time(const ClusterView& view, const RunningJob& running) override {
    run_clock(view.now);
    link_started(view);
    ClassJob& job = jobs_.at(running.job->id);
    machine_of(job).follow(job, view.now);
    return machine_of(job).more_time(view, job);
  }

 private:
  // Jobs of another class in the slice of this one: a unit (job_units.hpp).
  struct Guest {
    std::vector<ClassJob*> jobs;
    RunningJob* stand_in;  // in the virtual machine of the slice
  };

  [[nodiscard]] VirtualMachine& machine_of(JobClass of) { return *machines_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] VirtualMachine& machine_of(const ClassJob& job) { return machine_of(job.job_class); }
  [[nodiscard]] const Slice& slice() const { return slices_[at_]; }
  // The class that has the slice. REQUIRES: there is a slice.
  [[nodiscard]] VirtualMachine& host() { return machine_of(slice().job_class); }
  [[nodiscard]] bool has_no_jobs() const {
    return std::ranges::all_of(machines_, [](const auto& machine) { return machine->has_no_jobs(); });
  }
  [[nodiscard]] JobClass class_of_request(Duration request) const {
    if (request <= settings_.longest_short) return JobClass::kShort;
    return request <= settings_.longest_medium ? JobClass::kMedium : JobClass::kLong;
  }

  void set_up(const ClusterView& view) {
    if (machines_.front() != nullptr) return;
    for (std::size_t i = 0; i < kJobClasses; ++i)
      machines_[i] = std::make_unique<VirtualMachine>(*inner_[i], view.machine, view.now);
  }

  // The clock of the host runs while its slice is open, until the end that was planned.
  void run_clock(Instant now) {
    if (!is_open_) return;
    const Instant until = std::min(now, slice().ends);
    if (until <= clock_read_) return;
    host().run_clock(until - clock_read_);
    clock_read_ = until;
  }

  // ---- what has happened ----

  // Jobs that were started in the last passes are the last ones in the view.
  void link_started(const ClusterView& view) {
    const auto started = view.running.by_start();
    for (auto running = started.rbegin(); running != started.rend(); ++running) {
      ClassJob* const job = jobs_.find((*running)->job->id);
      if (job == nullptr) continue;
      if (job->real != nullptr) return;
      job->real = *running;
    }
  }

  // Ends come first: the view has no record of what has ended.
  void take_in(const ClusterView& view, Decisions& out) {
    for (const Trigger& trigger : view.triggers) {
      if (trigger.kind == TriggerKind::kSubmit) submit(*trigger.job, out);
      if (trigger.kind == TriggerKind::kFinish)
        if (ClassJob* const job = jobs_.find(trigger.job->id)) end(*job);
    }
    if (view.waiting.size() + view.running.size() != jobs_.size() - ended_.size()) reconcile(view, out);
    for (const Trigger& trigger : view.triggers) {
      if (trigger.kind != TriggerKind::kEstimateReached && trigger.kind != TriggerKind::kChange) continue;
      ClassJob* const job = jobs_.find(trigger.job->id);
      if (job == nullptr || job->running == nullptr || job->real == nullptr) continue;
      machine_of(*job).follow(*job, view.now);
      machine_of(*job).note(trigger.kind, job);
      if (!job->running->gone_in_plan) continue;  // it has got more time
      if (job->is_on) leave_guests(*job);
      job->is_on = job->was_on = false;
    }
  }

  void submit(const Job& submitted, Decisions& out) {
    if (jobs_.find(submitted.id) != nullptr) return;
    ClassJob& job = jobs_.add(submitted.id);
    job.job = submitted;
    job.submitted = submitted.submitted;
    job.job_class = class_of_request(submitted.estimate);
    out.emplace_back(ClassAssigned{submitted.id, job.job_class});
    machine_of(job).submit(job);
  }

  void end(ClassJob& job) {
    if (job.is_on) leave_guests(job);
    job.is_on = job.was_on = false;
    machine_of(job).end(job);
    ended_.push_back(job.job.id);
  }

  // The view has other jobs than expected: some were taken out of it, or put there, without a trigger.
  void reconcile(const ClusterView& view, Decisions& out) {
    for (const Job* job : view.waiting) submit(*job, out);
    std::unordered_set<JobId> in_view;
    for (const Job* job : view.waiting) in_view.insert(job->id);
    for (const RunningJob* running : view.running.by_start()) in_view.insert(running->job->id);
    std::vector<JobId> gone;
    jobs_.for_each([&](JobId id, const ClassJob&) {
      if (!in_view.contains(id) && std::ranges::find(ended_, id) == ended_.end()) gone.push_back(id);
    });
    std::ranges::sort(gone);
    for (const JobId id : gone) end(jobs_.at(id));
  }

  // Where rates or estimates have changed, those of the jobs on their cores are read again.
  void follow_budgets(const ClusterView& view) {
    if (!is_open_ || view.running.disturbances() == disturbances_seen_) return;
    disturbances_seen_ = view.running.disturbances();
    for_each_own(host(), [&](ClassJob& job) {
      if (job.is_on && job.real != nullptr) host().follow(job, view.now);
    });
    for (const Guest& guest : guests_) follow(guest, view.now);
  }
  void follow(const Guest& guest, Instant now) {
    for (ClassJob* job : guest.jobs)
      if (job->real != nullptr) machine_of(*job).follow(*job, now);
  }

  // Visits the jobs of the class that have started and are not gone in plan, in the order of their starts.
  template <class Visit>
  void for_each_own(const VirtualMachine& machine, Visit visit) {
    // A visit may change the order of ends, but not that of starts.
    for (const RunningJob* running : machine.running().by_start()) {
      if (running->gone_in_plan) continue;
      ClassJob& job = jobs_.at(running->job->id);
      if (&machine_of(job) == &machine) visit(job);  // else a guest
    }
  }

  // ---- slices ----

  void enter_slice(const ClusterView& view, Decisions& out) {
    if (slices_.empty() || view.now >= slice().ends) {
      close_slice();
      find_slice(view);
      is_logged_ = false;
    }
    if (!std::exchange(is_logged_, true))
      out.emplace_back(SliceBegun{slice().job_class, std::max(slice().begins, view.now), slice().ends});
    if (!is_open_ && view.now >= slice().begins) open_slice(view.now);
  }

  void find_slice(const ClusterView& view) {
    const Instant start = interval_of(settings_.slices, view.now);
    if (slices_.empty() || slices_.front().starts != start) {
      const bool was_empty = is_asleep_ && start < view.now;  // at the beginning of the interval
      ClassesWithJobs with_jobs{};
      for (std::size_t i = 0; i < kJobClasses; ++i) with_jobs[i] = !was_empty && !machines_[i]->has_no_jobs();
      const std::optional<Slice> before = slices_.empty() ? std::nullopt : std::optional{slice()};
      const Duration time_of_day = (start.time_since_epoch() + view.zero_time_of_day) % std::chrono::hours{24};
      slices_ = slices_of(settings_.slices, start, time_of_day, with_jobs, before ? &*before : nullptr);
      at_ = 0;
    }
    while (slice().ends <= view.now) ++at_;
  }

  // Nothing is on its cores any more, unless the next slice opens in this pass and takes it over.
  void close_slice() {
    if (!std::exchange(is_open_, false)) return;
    for (const Guest& guest : guests_) {
      for (ClassJob* job : guest.jobs) take_off(*job);
      host().dismiss(*guest.stand_in);
    }
    guests_.clear();
    for_each_own(host(), [this](ClassJob& job) { take_off(job); });
  }

  void open_slice(Instant now) {
    is_open_ = true;
    clock_read_ = now;
    for_each_own(host(), [&](ClassJob& job) {
      if (job.real != nullptr) host().follow(job, now);
      bring_on(job);
    });
    host().note(TriggerKind::kWake);
  }

  void take_off(ClassJob& job) {
    job.is_on = false;
    leaving_.push_back(&job);
  }
  void bring_on(ClassJob& job) {
    job.is_on = true;
    if (!std::exchange(job.was_on, true)) begun_.emplace_back(Resume{job.job.id});
  }

  // Suspensions first: others get their cores.
  void exchange(Decisions& out) {
    for (ClassJob* job : leaving_)
      if (!job->is_on && std::exchange(job->was_on, false)) out.emplace_back(Suspend{job->job.id});
    leaving_.clear();
    for (Decision& decision : begun_) out.push_back(std::move(decision));
    begun_.clear();
  }

  void wake(Instant now, Decisions& out) {
    if (!is_open_) {
      out.emplace_back(WakeAt{slice().begins});
      return;
    }
    out.emplace_back(WakeAt{slice().ends});
    if (const Instant wake = host().next_wake(); wake < end_of_slice(now))
      out.emplace_back(WakeAt{now + (wake - host().now())});
  }

  // In the clock of the host. REQUIRES: it is open.
  [[nodiscard]] Instant end_of_slice(Instant now) { return host().now() + (slice().ends - now); }

  // ---- inner policies ----

  void ask_inner(const ClusterView& view, Decisions& out) {
    for (const auto& machine : machines_) {
      const bool has_slice = is_open_ && machine.get() == &host();
      if (has_slice && machine->next_wake() <= machine->now()) machine->note(TriggerKind::kWake);
      if (!machine->has_news()) continue;
      answers_.clear();
      if (has_slice) {
        machine->decide(view, answers_);
      } else {
        for (const Guest& guest : guests_)
          if (&machine_of(*guest.jobs.front()) == machine.get()) follow(guest, view.now);
        machine->plan(view, answers_);
      }
      for (Decision& answer : answers_)
        std::visit([&](auto& decision) { adopt(decision, *machine, has_slice, view, out); }, answer);
    }
  }

  void adopt(Start& start, VirtualMachine& machine, bool has_slice, const ClusterView& view, Decisions&) {
    if (!has_slice) return;  // a policy that does not look at the free cores: it will say so again
    machine.start(job_of(start.job), start.allocation, view);
    begun_.emplace_back(std::move(start));
  }
  void adopt(Resize& resize, VirtualMachine& machine, bool has_slice, const ClusterView&, Decisions&) {
    if (!has_slice) return;
    machine.resize(job_of(resize.job), resize.allocation);
    begun_.emplace_back(std::move(resize));
  }
  void adopt(Kill& kill, VirtualMachine& machine, bool, const ClusterView&, Decisions&) {
    ClassJob& job = job_of(kill.job);
    if (job.running != nullptr) machine.leave_plan(job);
    if (job.is_on) leave_guests(job);
    job.is_on = job.was_on = false;
    begun_.emplace_back(kill);
  }
  void adopt(Extend& extend, VirtualMachine&, bool has_slice, const ClusterView&, Decisions&) {
    if (has_slice) begun_.emplace_back(extend);
  }
  void adopt(WakeAt& wake, VirtualMachine& machine, bool, const ClusterView&, Decisions&) { machine.wake_at(wake.at); }
  void adopt(Suspend&, VirtualMachine&, bool, const ClusterView&, Decisions&) { refuse_slices(); }
  void adopt(Resume&, VirtualMachine&, bool, const ClusterView&, Decisions&) { refuse_slices(); }
  template <class Fact>
  void adopt(Fact& fact, VirtualMachine&, bool, const ClusterView&, Decisions& out) {
    out.emplace_back(std::move(fact));
  }

  [[nodiscard]] ClassJob& job_of(JobId id) {
    ClassJob* const job = jobs_.find(id);
    if (job == nullptr)
      throw PolicyError(fmt::format("the inner policy decides on job {}, which is not there", number(id)));
    return *job;
  }
  [[noreturn]] static void refuse_slices() {
    throw PolicyError("the inner policy of scojo-pect suspends jobs: expected one that shares space only");
  }

  // ---- guests ----

  void leave_guests(ClassJob& job) {
    if (&machine_of(job) == &host()) return;
    const auto guest = std::ranges::find_if(
        guests_, [&job](const Guest& one) { return std::ranges::find(one.jobs, &job) != one.jobs.end(); });
    if (guest == guests_.end()) return;
    const Instant ends = guest->stand_in->estimated_end;
    host().dismiss(*guest->stand_in);
    std::erase(guest->jobs, &job);
    if (guest->jobs.empty())
      guests_.erase(guest);
    else
      guest->stand_in = &host().admit(guest->jobs.front()->job, nodes_of(guest->jobs), ends);
    host().note(TriggerKind::kWake);  // the host has more room
  }

  void admit(std::vector<ClassJob*> jobs, const Allocation& nodes, Instant ends) {
    RunningJob& stand_in = host().admit(jobs.front()->job, nodes, ends);
    guests_.push_back({std::move(jobs), &stand_in});
  }

  [[nodiscard]] Allocation nodes_of(const std::vector<ClassJob*>& jobs) const {
    std::vector<const Allocation*> allocations;
    for (const ClassJob* job : jobs) allocations.push_back(&job->running->allocation);
    return whole_nodes(allocations, machines_.front()->machine());
  }

  // Guests in the order of arrival over both other classes, suspended ones first. Each takes from what the host leaves
  // free until the end of its slice.
  void invite_guests(const ClusterView& view) {
    const auto has_candidates = [this](const auto& machine) {
      return machine.get() != &host() && !machine->has_no_jobs();
    };
    if (std::ranges::none_of(machines_, has_candidates) || !has_free_node(host().free(), view.machine)) return;
    const Instant ends = end_of_slice(view.now);
    std::optional<CoreCount> room;  // asked for when there is a candidate
    const auto has_room = [&](const Allocation& nodes) {
      if (!host().free().has_room(nodes)) return false;
      if (!room) room = host().free_until(view, ends);
      return nodes.cores <= *room;
    };
    for (std::vector<ClassJob*>& unit : suspended_units()) {
      const Allocation nodes = nodes_of(unit);
      if (!has_room(nodes)) continue;
      *room -= nodes.cores;
      for (ClassJob* job : unit) bring_on(*job);
      admit(std::move(unit), nodes, ends);
    }
    if (!room) room = host().free_until(view, ends);
    invite_waiting(view, ends, *room);
  }

  // Units of the other classes, by arrival of their first jobs.
  [[nodiscard]] std::vector<std::vector<ClassJob*>> suspended_units() {
    std::vector<std::vector<ClassJob*>> units;
    const auto is_before = [](const ClassJob* a, const ClassJob* b) { return a->is_before(*b); };
    for (const auto& machine : machines_) {
      if (machine.get() == &host()) continue;
      std::vector<ClassJob*> jobs;
      for_each_own(*machine, [&jobs](ClassJob& job) {
        if (!job.is_on) jobs.push_back(&job);
      });
      std::ranges::sort(jobs, is_before);
      std::vector<const Allocation*> allocations;
      for (const ClassJob* job : jobs) allocations.push_back(&job->running->allocation);
      for (const std::vector<std::size_t>& indices : units_of(allocations, machine->machine())) {
        std::vector<ClassJob*>& unit = units.emplace_back();
        for (const std::size_t index : indices) unit.push_back(jobs[index]);
      }
    }
    std::ranges::sort(units, is_before, [](const std::vector<ClassJob*>& unit) { return unit.front(); });
    return units;
  }

  void invite_waiting(const ClusterView& view, Instant ends, CoreCount room) {
    std::array<std::optional<FreeCores>, kJobClasses> free;  // by class: in its virtual machine and in truth
    for (ClassJob* job : narrow_waiting(std::min(room, host().free().total()))) {
      if (room <= 0) return;
      VirtualMachine& machine = machine_of(*job);
      std::optional<FreeCores>& its = free[static_cast<std::size_t>(job->job_class)];
      if (!its) {
        its = free_in_both(machine.free(), host().free(), view.machine);
        for (const Guest& guest : guests_)
          if (&machine_of(*guest.jobs.front()) == &machine) follow(guest, view.now);
      }
      Start start{job->job.id, {}};
      if (auto place = machine.alone(view, *job, *its))
        start.allocation = std::move(*place);
      else
        continue;
      const std::array<const Allocation*, 1> one{&start.allocation};
      const Allocation nodes = whole_nodes(one, view.machine);
      if (nodes.cores > room || !machine.may_start_now(view, *job, *its)) continue;
      machine.start(*job, start.allocation, view);
      begun_.emplace_back(std::move(start));
      admit({job}, nodes, ends);
      room -= nodes.cores;
      free.fill(std::nullopt);
    }
  }

  // Waiting jobs of the other classes with at most so many processes, by arrival.
  [[nodiscard]] std::vector<ClassJob*> narrow_waiting(ProcessCount most) {
    std::vector<ClassJob*> jobs;
    const Wanted wanted{most, Duration::max()};
    for (const auto& machine : machines_) {
      if (machine.get() == &host()) continue;
      const WaitingQueue& waiting = machine->waiting();
      for (auto at = waiting.begin(); (at = waiting.find(at, wanted)) != waiting.end(); ++at)
        jobs.push_back(&jobs_.at((*at)->id));
    }
    std::ranges::sort(jobs, [](const ClassJob* a, const ClassJob* b) { return a->is_before(*b); });
    return jobs;
  }

  PectSettings settings_;
  Inner inner_;
  std::array<std::unique_ptr<VirtualMachine>, kJobClasses> machines_;  // made in the first pass
  JobMap<ClassJob> jobs_;                                              // submitted and not ended
  std::vector<JobId> ended_;                                           // in this pass: still in jobs_
  std::uint64_t disturbances_seen_ = 0;

  std::vector<Slice> slices_;  // of the interval; empty before the first one
  std::size_t at_ = 0;         // the slice
  bool is_asleep_ = true;      // there were no jobs after the last pass: slices pass unseen
  bool is_logged_ = false;     // the slice
  bool is_open_ = false;       // the jobs of its class are on their cores
  Instant clock_read_{};       // the host's clock has run until here
  std::vector<Guest> guests_;

  std::vector<ClassJob*> leaving_;  // in this pass, unless they come back in it
  Decisions begun_;                 // of this pass: what needs the cores of those
  Decisions answers_;
};

constexpr ParameterSpec kScojoPectParameters[] = {
    {"inner", ParameterType::kPolicy, "conservative", "", "", "the policy that shares space, one for each class",
     "G-LOMARC-TS paper, section 4.7: conservative backfilling"},
    {"interval", ParameterType::kDuration, "1h", "", "", "one slice per class in each",
     "G-LOMARC-TS paper, section 5.1"},
    {"shares", ParameterType::kText, "30/70", "MEDIUM/LONG, or FROM-TO=MEDIUM/LONG,...,MEDIUM/LONG", "",
     "how medium and long jobs share an interval, less the slice of short jobs; between two hours of the day, or at "
     "all "
     "times; a class without jobs gives its share away",
     "G-LOMARC-TS paper, sections 4.7 and 5.1"},
    {"short-slice", ParameterType::kDuration, "10min", "", "", "of an interval at whose beginning there are short jobs",
     "ours; the paper does not state it"},
    {"overhead", ParameterType::kDuration, "60s", "", "", "for the exchange of jobs, in which none runs",
     "G-LOMARC-TS paper, section 5.1"},
    {"overhead-at", ParameterType::kChoice, "slice", "slice|switch", "",
     "the beginning of each slice, or of those that follow a slice of another class",
     "G-LOMARC-TS paper, section 5.1, footnote 3"},
    {"short", ParameterType::kDuration, "10min", "", "", "the longest request of a short job",
     "G-LOMARC-TS paper, section 5.1"},
    {"medium", ParameterType::kDuration, "3h", "", "", "the longest request of a medium job",
     "G-LOMARC-TS paper, section 5.1"},
};

std::unique_ptr<Policy> make_scojo_pect(const Parameters& parameters) {
  const SliceSettings slices{.interval = parameters.duration("interval"),
                             .short_slice = parameters.duration("short-slice"),
                             .overhead = parameters.duration("overhead"),
                             .overhead_at_every_slice = parameters.choice("overhead-at") == "slice",
                             .shares = SliceShares{parameters.text("shares")}};
  expect_useful_slices(slices);
  const PectSettings settings{slices, parameters.duration("short"), parameters.duration("medium")};
  ScojoPect::Inner inner;
  for (auto& one : inner) one = parameters.policy("inner");
  return std::make_unique<ScojoPect>(settings, std::move(inner));
}

}  // namespace

constinit const PolicyEntry kScojoPectPolicy{
    "scojo-pect", "time slices for short, medium and long jobs over a policy that shares space",
    "G-LOMARC-TS paper, section 4.7", kScojoPectParameters, make_scojo_pect};

}  // namespace replay
