// The policy Scojo-PECT: scojo_pect.cpp follows what happens, changes slices and asks the inner policies;
// scojo_pect_guests.cpp has the guests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/slicing/slices.hpp"
#include "scheduler/policy/slicing/virtual_machine.hpp"
#include "scheduler/policy/view/counted_ends.hpp"

namespace replay {

struct PectSettings {
  SliceSettings slices;
  Duration longest_short, longest_medium;  // requests
};

class ScojoPect final : public Policy {
 public:
  using Inner = std::array<std::unique_ptr<Policy>, kJobClasses>;

  ScojoPect(PectSettings settings, Inner inner)
      : Policy(with_slices(inner.front()->traits())), settings_(std::move(settings)), inner_(std::move(inner)) {}

  void decide(const ClusterView& view, Decisions& out) override;

  Duration more_time(const ClusterView& view, const RunningJob& running) override;

 private:
  static Traits with_slices(Traits inner) {
    inner.pass_rule = PassRule::kInstant;
    inner.suspends = true;
    inner.adopts = false;  // a job has to be of a class from its submission on
    return inner;
  }

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

  void set_up(const ClusterView& view);
  void run_clock(Instant now);

  // ---- what has happened ----
  void link_started(const ClusterView& view);
  void take_in(const ClusterView& view, Decisions& out);
  void submit(const Job& submitted, Decisions& out);
  void end(ClassJob& job);
  void reconcile(const ClusterView& view, Decisions& out);
  void follow_budgets(const ClusterView& view);
  void follow(const Guest& guest, Instant now) {
    for (ClassJob* job : guest.jobs)
      if (job->real != nullptr) machine_of(*job).follow(*job, now);
  }

  // Visits the jobs of the class that have started and are not gone in plan, in the order of their starts.
  template <class Visit>
  void for_each_own(const VirtualMachine& machine, Visit visit) {
    // A visit may change the order of ends, but not that of starts.
    for (const RunningJob* running : machine.running().by_start()) {
      if (running->is_gone_in_plan()) continue;
      ClassJob& job = jobs_.at(running->job->id);
      if (&machine_of(job) == &machine) visit(job);  // else a guest
    }
  }

  // ---- slices ----
  void enter_slice(const ClusterView& view, Decisions& out);
  void find_slice(const ClusterView& view);
  [[nodiscard]] std::vector<Slice> slices_from(Instant start, const ClassesWithJobs& with_jobs,
                                               const ClusterView& view);
  void close_slice(Instant now);
  void open_slice(Instant now);
  void take_off(ClassJob& job) {
    job.is_on = false;
    leaving_.push_back(&job);
  }
  void bring_on(ClassJob& job) {
    job.is_on = true;
    if (!std::exchange(job.was_on, true)) begun_.emplace_back(Resume{job.job.id});
  }

  void exchange(Decisions& out);
  void wake(Instant now, Decisions& out);
  // In the clock of the host. REQUIRES: it is open.
  [[nodiscard]] Instant end_of_slice(Instant now) { return host().now() + (slice().ends - now); }

  // ---- inner policies ----
  void ask_inner(const ClusterView& view, Decisions& out);
  void adopt(Start& start, VirtualMachine& machine, bool has_slice, const ClusterView& view, Decisions&);
  void adopt(Resize& resize, VirtualMachine& machine, bool has_slice, const ClusterView&, Decisions&);
  void adopt(Kill& kill, VirtualMachine& machine, bool, const ClusterView&, Decisions&);
  void adopt(Extend& extend, VirtualMachine&, bool has_slice, const ClusterView&, Decisions&);
  void adopt(WakeAt& wake, VirtualMachine& machine, bool, const ClusterView&, Decisions&);
  void adopt(Suspend&, VirtualMachine&, bool, const ClusterView&, Decisions&);
  void adopt(Resume&, VirtualMachine&, bool, const ClusterView&, Decisions&);
  void adopt(Note& note, VirtualMachine&, bool, const ClusterView&, Decisions& out);
  void adopt(Told& told, VirtualMachine&, bool, const ClusterView&, Decisions& out);
  void follow_group(const Fact& told);

  [[nodiscard]] ClassJob& job_of(JobId id);
  [[noreturn]] static void refuse_slices();

  // ---- guests ----
  void leave_guests(ClassJob& job);
  void admit(std::vector<ClassJob*> jobs, const Allocation& nodes, Instant ends);
  [[nodiscard]] Allocation nodes_of(const std::vector<ClassJob*>& jobs) const;
  void invite_guests(const ClusterView& view);
  [[nodiscard]] std::vector<std::vector<ClassJob*>> suspended_units();
  void invite_waiting(const ClusterView& view, Instant ends, CoreCount room);
  [[nodiscard]] std::vector<ClassJob*> narrow_waiting(CoreCount most);

  PectSettings settings_;
  Inner inner_;
  std::array<std::unique_ptr<VirtualMachine>, kJobClasses> machines_;  // made in the first pass
  JobMap<ClassJob> jobs_;                                              // submitted and not ended
  std::vector<JobId> ended_;                                           // in this pass: still in jobs_
  std::vector<const Job*> again_;                                      // of ended_: they wait again
  std::uint64_t disturbances_seen_ = 0;

  std::vector<Slice> slices_;  // of the interval; empty before the first one
  std::size_t at_ = 0;         // the slice
  bool is_asleep_ = true;      // there were no jobs after the last pass: slices pass unseen
  bool is_logged_ = false;     // the slice
  bool is_open_ = false;       // the jobs of its class are on their cores
  Instant clock_read_{};       // the host's clock has run until here
  std::vector<Guest> guests_;
  CountedEnds counted_;  // guests change the plans of their classes: another look at an instant might find more

  std::optional<FreeCores> at_opening_;  // free when the slice opened in this pass, before the inner policy decided
  std::vector<ClassJob*> leaving_;       // in this pass, unless they come back in it
  Decisions begun_;                      // of this pass: what needs the cores of those
  Decisions answers_;
};

}  // namespace replay
