// Scojo-PECT: coarse time slices. Jobs belong to a class by their request, and each class has a virtual machine
// (virtual_machine.hpp) with an inner policy of its own that shares space. Time is cut into intervals, and each interval
// into a slice per class (slices.hpp). In its slice a class has the machine; the jobs of the others are suspended and keep
// their cores. Cores that the class of the slice does not need until its end go to guests (safe non-type slice backfilling):
// suspended jobs of other classes on their own cores, then waiting ones that their own inner policy would start without
// a delay of others. Guests are suspended when the slice ends.
// Source: G-LOMARC-TS paper, section 4.7. What the paper leaves open: docs/policies/scojo-pect.md.

#include "scheduler/policy/slicing/scojo_pect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/policy/slicing/scojo_pect_policy.hpp"

namespace replay {

void ScojoPect::decide(const ClusterView& view, Decisions& out) {
  set_up(view);
  run_clock(view.now);
  link_started(view);
  for (const auto& machine : machines_) machine->follow_nodes(view);
  take_in(view, out);
  follow_budgets(view);
  if (has_no_jobs()) {
    close_slice(view.now);
    ask_inner(view, out);
    is_asleep_ = true;
  } else {
    enter_slice(view, out);
    is_asleep_ = false;
    ask_inner(view, out);
    if (is_open_ && !counted_.are_all(view)) invite_guests(view);
    wake(view.now, out);
  }
  counted_.note_pass(view);
  exchange(out);
  at_opening_.reset();
  for (const JobId ended : ended_) jobs_.erase(ended);
  ended_.clear();
  if (again_.empty()) return;
  for (const Job* job : std::exchange(again_, {})) submit(*job, out);
  out.emplace_back(WakeAt{view.now + Duration{1}});
}

Duration ScojoPect::more_time(const ClusterView& view, const RunningJob& running) {
  run_clock(view.now);
  link_started(view);
  for (const auto& machine : machines_) machine->follow_nodes(view);
  ClassJob& job = jobs_.at(running.job->id);
  machine_of(job).follow(job, view.now);
  return machine_of(job).more_time(view, job);
}

void ScojoPect::set_up(const ClusterView& view) {
  if (machines_.front() != nullptr) return;
  for (std::size_t i = 0; i < kJobClasses; ++i)
    machines_[i] = std::make_unique<VirtualMachine>(*inner_[i], view.machine, view.now);
}

// The clock of the host runs while its slice is open, until the end that was planned.
void ScojoPect::run_clock(Instant now) {
  if (!is_open_) return;
  const Instant until = std::min(now, slice().ends);
  if (until <= clock_read_) return;
  host().run_clock(until - clock_read_);
  clock_read_ = until;
}

// ---- what has happened ----

// Jobs that were started in the last passes are the last ones in the view.
void ScojoPect::link_started(const ClusterView& view) {
  const auto started = view.running.by_start();
  for (auto running = started.rbegin(); running != started.rend(); ++running) {
    ClassJob* const job = jobs_.find((*running)->job->id);
    if (job == nullptr) continue;
    if (job->real != nullptr) return;
    job->real = *running;
  }
}

// Ends come first: the view has no record of what has ended.
void ScojoPect::take_in(const ClusterView& view, Decisions& out) {
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
    if (!job->running->is_gone_in_plan()) continue;  // it has got more time
    if (job->is_on) leave_guests(*job);
    job->is_on = job->was_on = false;
  }
}

void ScojoPect::submit(const Job& submitted, Decisions& out) {
  if (jobs_.find(submitted.id) != nullptr) {
    if (std::ranges::find(ended_, submitted.id) != ended_.end()) again_.push_back(&submitted);
    return;
  }
  ClassJob& job = jobs_.add(submitted.id);
  job.job = submitted;
  job.submitted = submitted.submitted;
  job.job_class = class_of_request(submitted.estimate);
  out.emplace_back(ClassAssigned{submitted.id, job.job_class});
  machine_of(job).submit(job);
}

void ScojoPect::end(ClassJob& job) {
  if (job.is_on) leave_guests(job);
  job.is_on = job.was_on = false;
  machine_of(job).end(job);
  ended_.push_back(job.job.id);
}

// The view has other jobs than expected: some were taken out of it, or put there, without a trigger.
void ScojoPect::reconcile(const ClusterView& view, Decisions& out) {
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
void ScojoPect::follow_budgets(const ClusterView& view) {
  if (!is_open_ || view.running.disturbances() == disturbances_seen_) return;
  disturbances_seen_ = view.running.disturbances();
  for_each_own(host(), [&](ClassJob& job) {
    if (job.is_on && job.real != nullptr) host().follow(job, view.now);
  });
  for (const Guest& guest : guests_) follow(guest, view.now);
}

// ---- slices ----

void ScojoPect::enter_slice(const ClusterView& view, Decisions& out) {
  if (slices_.empty() || view.now >= slice().ends) {
    close_slice(view.now);
    find_slice(view);
    is_logged_ = false;
  }
  if (!std::exchange(is_logged_, true))
    out.emplace_back(SliceBegun{slice().job_class, std::max(slice().begins, view.now), slice().ends});
  if (!is_open_ && view.now >= slice().begins) open_slice(view.now);
}

void ScojoPect::find_slice(const ClusterView& view) {
  const Instant start = interval_of(settings_.slices, view.now);
  if (slices_.empty() || slices_.front().starts != start) {
    const bool was_empty = is_asleep_ && start < view.now;  // at the beginning of the interval
    ClassesWithJobs with_jobs{};
    for (std::size_t i = 0; i < kJobClasses; ++i) with_jobs[i] = !was_empty && !machines_[i]->has_no_jobs();
    const Instant last = start - settings_.slices.interval;  // an interval without jobs has slices, too
    if (last >= Instant{} && (slices_.empty() || slices_.front().starts != last)) slices_ = slices_from(last, {}, view);
    slices_ = slices_from(start, with_jobs, view);
    at_ = 0;
  }
  while (slice().ends <= view.now) ++at_;
}

// After the last slice so far.
std::vector<Slice> ScojoPect::slices_from(Instant start, const ClassesWithJobs& with_jobs, const ClusterView& view) {
  const Duration time_of_day = (start.time_since_epoch() + view.zero_time_of_day) % std::chrono::hours{24};
  const Slice* const before = slices_.empty() ? nullptr : &slices_.back();
  return slices_of(settings_.slices, start, time_of_day, with_jobs, before);
}

// Nothing is on its cores any more, unless the next slice opens in this pass and takes it over.
void ScojoPect::close_slice(Instant now) {
  if (!std::exchange(is_open_, false)) return;
  for (const Guest& guest : guests_) {
    follow(guest,
           now);  // what is left of them counts for the next job of their class, which may come before their slice
    for (ClassJob* job : guest.jobs) take_off(*job);
    host().dismiss(*guest.stand_in);
  }
  guests_.clear();
  for_each_own(host(), [this](ClassJob& job) { take_off(job); });
}

void ScojoPect::open_slice(Instant now) {
  is_open_ = true;
  clock_read_ = now;
  for_each_own(host(), [&](ClassJob& job) {
    if (job.real != nullptr) host().follow(job, now);
    bring_on(job);
  });
  at_opening_ = host().free();
  host().note(TriggerKind::kWake);
}

// Suspensions first: others get their cores.
void ScojoPect::exchange(Decisions& out) {
  for (ClassJob* job : leaving_)
    if (!job->is_on && std::exchange(job->was_on, false)) out.emplace_back(Suspend{job->job.id});
  leaving_.clear();
  for (Decision& decision : begun_) out.push_back(std::move(decision));
  begun_.clear();
}

void ScojoPect::wake(Instant now, Decisions& out) {
  if (!is_open_) {
    out.emplace_back(WakeAt{slice().begins});
    return;
  }
  out.emplace_back(WakeAt{slice().ends});
  if (const Instant wake = host().next_wake(); wake < end_of_slice(now))
    out.emplace_back(WakeAt{now + (wake - host().now())});
}

// ---- inner policies ----

void ScojoPect::ask_inner(const ClusterView& view, Decisions& out) {
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

void ScojoPect::adopt(Start& start, VirtualMachine& machine, bool has_slice, const ClusterView& view, Decisions&) {
  if (!has_slice) return;  // a policy that does not look at the free cores: it will say so again
  machine.start(job_of(start.job), start.allocation, view);
  begun_.emplace_back(std::move(start));
}

void ScojoPect::adopt(Resize& resize, VirtualMachine& machine, bool has_slice, const ClusterView&, Decisions&) {
  if (!has_slice) return;
  machine.resize(job_of(resize.job), resize.allocation);
  begun_.emplace_back(std::move(resize));
}

void ScojoPect::adopt(Kill& kill, VirtualMachine& machine, bool, const ClusterView&, Decisions&) {
  ClassJob& job = job_of(kill.job);
  if (job.running != nullptr) machine.leave_plan(job);
  if (job.is_on) leave_guests(job);
  job.is_on = job.was_on = false;
  begun_.emplace_back(kill);
}

void ScojoPect::adopt(Extend& extend, VirtualMachine&, bool has_slice, const ClusterView&, Decisions&) {
  if (has_slice) begun_.emplace_back(extend);
}

void ScojoPect::adopt(WakeAt& wake, VirtualMachine& machine, bool, const ClusterView&, Decisions&) {
  machine.wake_at(wake.at);
}

void ScojoPect::adopt(Note& note, VirtualMachine&, bool, const ClusterView&, Decisions& out) {
  out.emplace_back(std::move(note));
}

void ScojoPect::adopt(Told& told, VirtualMachine&, bool, const ClusterView&, Decisions& out) {
  follow_group(told.fact);
  out.emplace_back(std::move(told));
}

// A group is a unit for guests, also where it lies apart.
void ScojoPect::follow_group(const Fact& told) {
  if (const auto* const formed = std::get_if<GroupFormed>(&told)) {
    const auto join = [&](JobId id) {
      if (ClassJob* const job = jobs_.find(id)) job->is_grouped = true, job->group = formed->primary;
    };
    join(formed->primary);
    std::ranges::for_each(formed->matched, join);
  } else if (const auto* const ended = std::get_if<GroupEnded>(&told)) {
    jobs_.for_each([ended](JobId, ClassJob& job) {
      if (job.is_grouped && job.group == ended->primary) job.is_grouped = false;
    });
  }
}

void ScojoPect::adopt(Suspend&, VirtualMachine&, bool, const ClusterView&, Decisions&) { refuse_slices(); }

void ScojoPect::adopt(Resume&, VirtualMachine&, bool, const ClusterView&, Decisions&) { refuse_slices(); }

void ScojoPect::refuse_slices() {
  throw PolicyError("the inner policy of scojo-pect suspends a job: expected one that shares space only");
}

ClassJob& ScojoPect::job_of(JobId id) {
  ClassJob* const job = jobs_.find(id);
  if (job == nullptr)
    throw PolicyError(fmt::format("the inner policy decides on job {}, which is not there", number(id)));
  return *job;
}

namespace {

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
  if (inner.front()->traits().suspends)
    throw UsageError(
        fmt::format("scojo-pect: the inner policy '{}' suspends jobs, but in a virtual machine all started jobs run; "
                    "expected one that shares space only, such as conservative",
                    parse_policy(parameters.text("inner")).name));
  if (inner.front()->traits().follows_log)
    throw UsageError(
        fmt::format("scojo-pect: the inner policy '{}' starts jobs when their log did: expected one that decides, such "
                    "as conservative",
                    parse_policy(parameters.text("inner")).name));
  return std::make_unique<ScojoPect>(settings, std::move(inner));
}

}  // namespace

constinit const PolicyEntry kScojoPectPolicy{
    .name = "scojo-pect",
    .summary = "time slices for short, medium and long jobs over a policy that shares space",
    .source = "G-LOMARC-TS paper, section 4.7",
    .parameters = kScojoPectParameters,
    .make = make_scojo_pect,
    .tells = kWordsOf<ClassAssigned, SliceBegun>};

}  // namespace replay
