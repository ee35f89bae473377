// SCOJO's space sharing: one factor shrinks or expands all jobs that adapt against their optimum sizes (load_factor.hpp).
// Jobs start at their size by the factor of now; running malleable jobs are brought to it when it differs by more than a
// tenth from the one in force, at most every 300 s. Short jobs go before medium before long ones, with EASY backfilling,
// in which short and medium jobs may be shrunk to fit; jobs that empty the queue are expanded into what is left.
// Short jobs are at most molded, long ones are never molded: only malleable ones among them adapt, while they run too.
// Source: SCOJO-P paper, section 4.1, on SCOJO (Sodan and Huang 2004), without its gang scheduling. The paper gives
// neither the interval, nor the tenth, nor the order of things.

#include "scheduler/policy/moldable/scojo.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/moldable/load_factor.hpp"
#include "scheduler/policy/moldable/pass_causes.hpp"
#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/easy_pass.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {
namespace {

constexpr Duration kBetweenResizes = std::chrono::seconds{300};
constexpr double kLeastChange = 0.1;  // of the factor in force
constexpr double kTolerance = 1e-9;   // halvings do not reach a factor exactly

bool is_adaptable(const ClassedJob& job) {
  if (!has_choice_of_size(*job.job)) return false;
  return job.job->flexibility == Flexibility::kMalleable || job.own != JobClass::kLong;
}

bool is_resizable(const ClassedJob& job) {
  return has_choice_of_size(*job.job) && job.job->flexibility == Flexibility::kMalleable && job.own != JobClass::kShort;
}

// Cores of a running job when `mpl` of its processes share one.
CoreCount cores_at_level(const RunningJob& job, const FreeCores& free, int mpl) {
  return job.allocation.cores - free.gain(job.allocation, job.processes(), mpl);
}

// One pass, on a copy of the free cores. emit() makes decisions of it.
class ScojoPass {
 public:
  ScojoPass(const ClusterView& view, std::span<const ClassedJob* const> queue, Aging aging, bool to_any_size)
      : view_(view), to_any_size_(to_any_size), free_(view.free) {
    load_.machine = view.capacity();
    for (const RunningJob* job : view.running.by_start())
      if (!job->is_gone_in_plan() && !job->is_suspended()) add_running(*job, classed(*job->job, load_.machine, aging));
    for (const ClassedJob* job : queue) add_waiting(*job);
  }

  [[nodiscard]] double factor() const { return load_factor(load_); }

  // Brings running jobs to their sizes; shrinks first, they make the room for the rest. Whether any has changed.
  bool resize(double factor) {
    bool any = false;
    for (Running& job : running_)
      if (job.sizes && job.cores_at(factor) < job.allocation.cores) any = change(job, job.cores_at(factor)) || any;
    for (Running& job : running_)
      if (job.sizes && job.cores_at(factor) > job.allocation.cores) any = change(job, job.cores_at(factor)) || any;
    return any;
  }

  void start(double factor) {
    std::vector<Release> started;
    easy_pass(
        view_.now, free_.total(), waiting_, [factor](const Waiting& job) { return job.shape(factor); },
        [&](CoreCount free, CoreCount head) { return head_shadow(view_.now, free, head, ends(), started); },
        [&](const Waiting& job, Shape shape) {
          started.push_back({view_.now + shape.time, shape.cores});
          starts_.push_back({&job, shape.processes});
        },
        [](const Waiting& job, CoreCount most) { return job.narrower(most); });
    if (starts_.size() == waiting_.size()) expand_started();
  }

  void emit(Decisions& out) const {
    const auto emit_resizes = [&](bool shrinks) {
      for (const Running& job : running_)
        if (job.allocation != job.running->allocation &&
            (job.allocation.cores < job.running->allocation.cores) == shrinks)
          out.emplace_back(Resize{job.running->job->id, job.allocation});
    };
    emit_resizes(true);
    emit_resizes(false);
    for (const Begin& begin : starts_)
      out.emplace_back(Start{begin.job->id,
                             {.cores = begin.cores(), .mpl = 1, .named = {}, .processes = begin.processes},
                             optimum_of(*begin.job->job, load_.machine)});
  }

 private:
  struct Running {
    const RunningJob* running;
    std::optional<AdaptableSizes> sizes;  // of one that can be resized
    Allocation allocation;                // after this pass

    [[nodiscard]] CoreCount cores_at(double factor) const { return cores_needed(*running->job, sizes->at(factor)); }
  };
  struct Waiting {
    const Job* job;
    JobId id;
    JobClass own;
    ProcessCount fixed;                   // its size if it does not adapt
    std::optional<AdaptableSizes> sizes;  // if it does

    [[nodiscard]] Shape at(ProcessCount size) const { return shape_at(*job, size); }
    [[nodiscard]] Shape shape(double factor) const { return at(sizes ? sizes->at(factor) : fixed); }
    [[nodiscard]] std::optional<Shape> narrower(CoreCount most) const {
      if (!sizes || own == JobClass::kLong) return std::nullopt;
      const auto size = largest_size(*job, processes_on(*job, most));
      return size ? std::optional{at(*size)} : std::nullopt;
    }
  };
  struct Begin {
    const Waiting* job;
    ProcessCount processes;

    [[nodiscard]] CoreCount cores() const { return cores_needed(*job->job, processes); }
  };

  void add_running(const RunningJob& job, const ClassedJob& classed) {
    load_.needed += job.is_guest() ? job.allocation.cores : cores_needed(*job.job, classed.optimum);
    std::optional<AdaptableSizes> sizes;
    if (is_resizable(classed) && !job.is_guest())
      sizes =
          to_any_size_ ? adaptable_sizes(*job.job, classed.optimum, load_.machine) : levels_of(job, classed.optimum);
    if (sizes)
      load_.adaptable.push_back(*sizes);
    else
      load_.fixed += job.allocation.cores;
    running_.push_back({&job, sizes, job.allocation});
  }

  void add_waiting(const ClassedJob& job) {
    Waiting waiting{job.job, job.id, job.own, size_near(*job.job, job.optimum, processes_on(*job.job, load_.machine)),
                    std::nullopt};
    if (is_adaptable(job)) waiting.sizes = adaptable_sizes(*job.job, job.optimum, load_.machine);
    load_.needed += job.optimum;
    if (waiting.sizes)
      load_.adaptable.push_back(*waiting.sizes);
    else
      load_.fixed += waiting.fixed;
    waiting_.push_back(waiting);
  }

  // Its processes share cores: the cores that it can have, from its least size on to one for each process.
  std::optional<AdaptableSizes> levels_of(const RunningJob& job, ProcessCount optimum) {
    if (!job.is_malleable()) return std::nullopt;
    std::vector<ProcessCount>& levels = levels_.emplace_back();
    for (int mpl = 1; mpl <= job.processes(); ++mpl) {
      const ProcessCount size = processes_on(*job.job, cores_at_level(job, view_.free, mpl));
      if (mpl > 1 && size < least_size(*job.job)) break;
      if (levels.empty() || size < levels.back()) levels.push_back(size);
    }
    std::ranges::reverse(levels);
    return AdaptableSizes{optimum, levels.front(), levels.back(), levels};
  }

  // False if it stays as it is, as there is no room to expand it.
  bool change(Running& job, CoreCount to) {
    if (to > job.allocation.cores + free_.total()) return false;
    std::optional<Allocation> place = to_any_size_ ? on_any(*job.running, to) : on_level(job, to);
    if (!place) return false;
    free_.release(job.allocation);
    free_.take(*place);
    job.allocation = *std::move(place);
    return true;
  }

  static Allocation on_any(const RunningJob& job, CoreCount cores) {
    Allocation place = job.allocation;
    place.cores = cores;
    place.mpl = mpl_on(job.processes(), cores);
    return place;
  }

  // REQUIRES: one of its levels has so many cores. Nothing if there is no room on its nodes.
  std::optional<Allocation> on_level(const Running& job, CoreCount cores) const {
    int mpl = 1;
    while (cores_at_level(*job.running, view_.free, mpl) > cores) ++mpl;
    auto place = free_.at_level(job.allocation, job.running->processes(), mpl);
    if (place) place->processes = job.allocation.processes;
    return place;
  }

  [[nodiscard]] Instant estimated_end(const Running& job) const {
    const Instant next = view_.now + Duration{1};
    if (job.allocation == job.running->allocation) return std::max(job.running->estimated_end, next);
    Progress budget = job.running->budget;
    budget.change_rate(view_.now, view_.rate_of(*job.running->job, job.allocation));
    return std::max(budget.end(), next);
  }

  // Ascending.
  [[nodiscard]] std::vector<Release> ends() const {
    std::vector<HeldUntil> held;
    held.reserve(running_.size());
    for (const Running& job : running_) held.push_back({&job.allocation, estimated_end(job)});
    return releases_of(view_, held);
  }

  // All of the queue starts: its jobs share what is left, the first one first.
  void expand_started() {
    CoreCount left = free_.total();
    for (const Begin& begin : starts_) left -= begin.cores();
    for (Begin& begin : starts_) {
      if (!begin.job->sizes || left == 0) continue;
      const Job& job = *begin.job->job;
      const auto size = largest_size(job, begin.processes + processes_on(job, left));
      if (!size || *size <= begin.processes) continue;
      left -= cores_needed(job, *size) - begin.cores();
      begin.processes = *size;
    }
  }

  const ClusterView& view_;
  bool to_any_size_;
  FreeCores free_;
  MachineLoad load_;
  std::vector<Running> running_;  // in start order
  std::vector<Waiting> waiting_;  // by class
  std::deque<std::vector<ProcessCount>> levels_;
  std::vector<Begin> starts_;
};

class Scojo final : public Policy, public Hosting {
 public:
  Scojo(Aging aging, bool to_levels)
      : Policy({.chooses_sizes = true}), aging_(aging), to_levels_(to_levels), queue_(aging) {}

  void decide(const ClusterView& view, Decisions& out) override {
    queue_.follow(view);
    if (!causes_.call_for_pass(view, queue_.in_order())) return queue_.wake_for_promotion(out);
    if (time_stands(view)) return causes_.put_off();
    causes_.note_pass(view);
    ScojoPass pass{view, queue_.in_order(), aging_, !to_levels_ && view.resizes_to_any_size};
    const double factor = pass.factor();
    if (std::abs(factor - in_force_) > (kLeastChange + kTolerance) * in_force_) {
      if (view.now >= next_resize_) {
        in_force_ = factor;
        if (pass.resize(factor)) next_resize_ = view.now + kBetweenResizes;
      } else {
        causes_.expect_timer(next_resize_);
        out.emplace_back(WakeAt{next_resize_});
      }
    }
    pass.start(factor);
    pass.emit(out);
    queue_.wake_for_promotion(out);
  }

  // What is free may go to a running job that is expanded, at the next event or without one.
  CoreCount free_until(const ClusterView& view, Instant /*until*/) const override {
    return view.waiting.empty() && view.running.empty() ? view.free.total() : CoreCount{0};
  }

  // As the first of the queue, without the resizing of running jobs.
  bool may_start_now(const ClusterView& view, const Job& job) const override {
    ClassQueue queue{aging_};
    queue.follow(view);
    if (queue.empty() || queue.in_order().front()->id != job.id) return false;
    ScojoPass pass{view, queue.in_order(), aging_, false};
    pass.start(pass.factor());
    Decisions decisions;
    pass.emit(decisions);
    return std::ranges::any_of(decisions, [&job](const Decision& decision) {
      const auto* const start = std::get_if<Start>(&decision);
      return start != nullptr && start->job == job.id;
    });
  }

 private:
  Aging aging_;
  bool to_levels_;
  ClassQueue queue_;
  PassCauses causes_;
  double in_force_ = 1;                   // the factor that running jobs were last brought to
  Instant next_resize_ = Instant::min();  // not before
};

constexpr ParameterSpec kScojoParameters[] = {
    aging_parameter(),
    {"resize", ParameterType::kChoice, "sizes", "sizes|levels", "",
     "to what running jobs are resized: to every size that they offer, where the runtime model divides their work anew "
     "and cores have no names, else to levels; or always to levels, ceil(p / m) cores of p processes, as real runs do",
     "sizes: SCOJO-P paper, section 4.1; levels: virtual malleability, Utrera et al. 2012"},
};

std::unique_ptr<Policy> make_scojo(const Parameters& parameters) {
  return std::make_unique<Scojo>(aging_of(parameters), parameters.choice("resize") == "levels");
}

}  // namespace

constinit const PolicyEntry kScojoPolicy{
    "scojo", "one factor by the load sizes all jobs that adapt, running malleable ones every 300 s at most",
    "SCOJO-P paper, section 4.1; Sodan and Huang 2004", kScojoParameters, make_scojo};

}  // namespace replay
