// SCOJO-P: when a job is to start, it gets the size with which the load predicted for its run comes nearest to an ideal
// one; running jobs, waiting jobs and, by a forecast, jobs to come count. The head waits for a better size if it is over
// sooner then, and is guaranteed that size, not that start; jobs behind it start, sized by the same factor, where they
// do not delay it. The queue is that of three classes.
// Source: SCOJO-P paper, sections 4.2 to 4.4, Figures 2 and 3. The paper leaves open when guarantees end, which sizes
// others count with, and what bounds the search: docs/policies/moldable.md has our reading.

#include "scheduler/policy/moldable/scojo_p.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/moldable/forecast.hpp"
#include "scheduler/policy/moldable/forecast_file.hpp"
#include "scheduler/policy/moldable/head_size.hpp"
#include "scheduler/policy/moldable/pass_causes.hpp"
#include "scheduler/policy/moldable/trained_forecast.hpp"
#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/easy_pass.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {
namespace {

Duration since_midnight(const ClusterView& view, Instant at) { return view.zero_time_of_day + at.time_since_epoch(); }

// Learns what is expected from what was submitted before now.
class PastOfLog {
 public:
  // The past up to the view's instant, without the jobs of that instant.
  void follow(const ClusterView& view) {
    if (!forecast_) forecast_.emplace(view.machine.size());
    if (view.now > at_) {
      for (const SeenJob& job : present_) forecast_->add(job, since_midnight(view, at_));
      present_.clear();
      forecast_->watch(since_midnight(view, std::max(at_, Instant{})), since_midnight(view, view.now));
      at_ = view.now;
    }
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kSubmit)
        present_.push_back(seen_job(classed(*trigger.job, view.machine.size(), Aging::kOff), view.machine.size()));
  }
  [[nodiscard]] const Forecast* forecast() const { return forecast_ ? &*forecast_ : nullptr; }

 private:
  std::optional<Forecast> forecast_;
  Instant at_ = Instant::min();
  std::vector<SeenJob> present_;  // submitted at at_
};

// Where it is known from which jobs are to come: from the log's past, or from a training workload; off without both.
struct Prediction {
  bool from_past;
  std::optional<TrainedForecast> trained;
};

// One pass, on copies of what it changes; these are kept from pass to pass for their memory alone.
class ScojoPPass {
 public:
  struct Begin {
    const WaitingShare* job;
    ProcessCount size;
    HeadSize by;  // the search that its size is from
  };
  struct Guarantee {
    JobId job;
    ProcessCount size;
  };

  explicit ScojoPPass(const LoadAim& aim) : aim_(aim) {}

  // With nothing free, too: the head is guaranteed its size then. `waiting` is in the order of the queue.
  void run(const ClusterView& view, std::span<const WaitingShare* const> waiting, const Forecast* forecast) {
    begin(view, forecast);
    for (std::size_t next = 0; next < waiting.size(); ++next) {
      load_.running = ends_;
      load_.waiting = waiting.subspan(next);
      const HeadSize wanted = size_of_head(load_, aim_);
      const WaitingShare& head = *waiting[next];
      const ProcessCount target = head.size_at(wanted.modifier);
      const bool fits = cores_needed(head.job(), target) <= free_;
      const auto chosen = fits ? std::optional{Option{load_.now, target, free_}} : best_option(head, target);
      if (!chosen) return;
      if (chosen->at != load_.now) {
        guarantee_ = {head.job().id, chosen->size};
        backfill(waiting.subspan(next + 1), wanted,
                 {chosen->at, chosen->free - cores_needed(head.job(), chosen->size)});
        return;
      }
      start(head, chosen->size, wanted);
    }
  }

  [[nodiscard]] const std::vector<Begin>& starts() const { return starts_; }
  /// Of the head that waits; nothing if none does.
  [[nodiscard]] const std::optional<Guarantee>& guarantee() const { return guarantee_; }

 private:
  struct Option {
    Instant at;
    ProcessCount size;
    CoreCount free;
  };

  void begin(const ClusterView& view, const Forecast* forecast) {
    free_ = view.free.total();
    ends_.clear();
    starts_.clear();
    guarantee_.reset();
    load_ = {.machine = view.capacity(),
             .now = view.now,
             .running = {},
             .running_cores = 0,
             .waiting = {},
             .forecast = forecast,
             .since_midnight = since_midnight(view, view.now)};
    for (const RunningJob* job : view.running.by_estimated_end())
      if (!job->is_suspended()) load_.running_cores += job->allocation.cores;
    ends_ = releases(view);
  }

  void start(const WaitingShare& job, ProcessCount size, const HeadSize& by) {
    starts_.push_back({&job, size, by});
    const CoreCount cores = cores_needed(job.job(), size);
    free_ -= cores;
    const Instant end = load_.now + job.time_at(size);
    ends_.insert(std::ranges::upper_bound(ends_, end, {}, &Release::at), {end, cores});
    load_.running_cores += cores;
  }

  // Figure 3: now with what is free, or when running jobs have ended with what is free then, up to `target`; whichever is over
  // first, the earlier and then the smaller one of several.
  // Nothing where the free cores and those of running jobs do not suffice: the view of a wrapping policy may show fewer.
  [[nodiscard]] std::optional<Option> best_option(const WaitingShare& head, ProcessCount target) const {
    const CoreCount enough = cores_needed(head.job(), target);
    const ProcessCount low = std::max(head.guaranteed, std::min(least_size(head.job()), target));
    std::optional<Option> best;
    Instant best_end{};
    const auto try_at = [&](Instant at, CoreCount free) {
      const auto size = free >= enough ? std::optional{target} : largest_offered(head.job(), free);
      if (!size || *size < low) return;
      const Instant end = at + head.time_at(*size);
      if (best && best_end <= end) return;
      best = {at, *size, free};
      best_end = end;
    };
    try_at(load_.now, free_);
    CoreCount free = free_;
    for (auto next = ends_.begin(); next != ends_.end() && free < enough;) {
      const Instant at = next->at;
      for (; next != ends_.end() && next->at == at; ++next) free += next->cores;
      try_at(at, free);
    }
    return best;
  }

  static std::optional<ProcessCount> largest_offered(const Job& job, CoreCount free) {
    if (!has_choice_of_size(job)) return cores_needed(job) <= free ? std::optional{job.processes} : std::nullopt;
    return largest_size(job, processes_on(job, free));
  }

  void backfill(std::span<const WaitingShare* const> behind, const HeadSize& by, Shadow shadow) {
    for (const WaitingShare* const job : behind) {
      if (free_ == 0) return;
      const ProcessCount size = job->size_at(by.modifier);
      if (take_if_head_is_not_delayed({size, cores_needed(job->job(), size), job->time_at(size)}, load_.now, free_,
                                      shadow))
        start(*job, size, by);
    }
  }

  LoadAim aim_;
  CoreCount free_ = 0;
  std::vector<Release> ends_;  // of what runs, ascending
  LoadView load_{};
  std::vector<Begin> starts_;
  std::optional<Guarantee> guarantee_;
};

class ScojoP final : public Policy, public Hosting {
 public:
  ScojoP(Aging aging, const LoadAim& aim, const Prediction& prediction)
      : Policy({.chooses_sizes = true, .training = training_of(prediction)}),
        aging_(aging),
        aim_(aim),
        from_past_(prediction.from_past),
        queue_(aging),
        pass_(aim) {
    if (prediction.trained) trained_ = forecast_of(*prediction.trained);
  }

  void decide(const ClusterView& view, Decisions& out) override {
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kFinish) shares_.erase_if_there(trigger.job->id);
    if (from_past_) past_.follow(view);
    queue_.follow(view);
    if (!causes_.call_for_pass(view, queue_.in_order())) return queue_.wake_for_promotion(out);
    if (time_stands(view)) return causes_.put_off();
    causes_.note_pass(view);
    find_shares(view);
    pass_.run(view, waiting_, forecast());
    for (const ScojoPPass::Begin& begin : pass_.starts()) {
      const Job& job = begin.job->job();
      const CoreCount cores = cores_needed(job, begin.size);
      out.emplace_back(
          Start{job.id, {.cores = cores, .mpl = 1, .named = {}, .processes = begin.size}, choice_of(begin)});
      shares_.erase(job.id);
    }
    if (const auto& guarantee = pass_.guarantee()) shares_.at(guarantee->job).guaranteed = guarantee->size;
    queue_.wake_for_promotion(out);
  }

  // Until something happens: an end, or a promotion that changes the head.
  CoreCount free_until(const ClusterView& view, Instant until) const override {
    if (view.waiting.empty()) return view.free.total();
    const auto ends = view.running.by_estimated_end();
    const Instant end = ends.empty() ? kNever : ends.front()->estimated_end;
    return until <= std::min(end, queue_.next_promotion()) ? view.free.total() : CoreCount{0};
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    ClassQueue queue{aging_};
    queue.follow(view);
    std::vector<WaitingShare> shares;
    std::vector<const WaitingShare*> waiting;
    shares.reserve(queue.in_order().size());
    for (const ClassedJob* other : queue.in_order()) {
      const WaitingShare* const known = shares_.find(other->id);
      const ProcessCount guaranteed = known == nullptr ? ProcessCount{0} : known->guaranteed;
      waiting.push_back(&shares.emplace_back(*other, view.capacity(), guaranteed));
    }
    ScojoPPass pass{aim_};
    pass.run(view, waiting, forecast());
    return std::ranges::any_of(pass.starts(),
                               [&job](const ScojoPPass::Begin& begin) { return begin.job->job().id == job.id; });
  }

 private:
  static std::optional<Training> training_of(const Prediction& prediction) {
    return prediction.trained ? std::optional{prediction.trained->training} : std::nullopt;
  }
  [[nodiscard]] const Forecast* forecast() const { return trained_ ? &*trained_ : past_.forecast(); }

  void find_shares(const ClusterView& view) {
    waiting_.clear();
    for (const ClassedJob* job : queue_.in_order()) {
      WaitingShare* share = shares_.find(job->id);
      if (share == nullptr) share = &shares_.add(job->id);
      const bool is_kept =
          cores_needed(*job->job, share->guaranteed) <= view.capacity();  // else nodes are closed since then
      const ProcessCount guaranteed = is_kept ? share->guaranteed : ProcessCount{0};
      if (!share->is_of(*job, view.capacity()) || !is_kept) *share = {*job, view.capacity(), guaranteed};
      waiting_.push_back(share);
    }
  }

  [[nodiscard]] SizeChoice choice_of(const ScojoPPass::Begin& begin) const {
    if (!has_choice_of_size(begin.job->job())) return {};
    SizeChoice choice{.optimal = begin.job->optimum(), .modifier = begin.by.modifier};
    if (begin.by.time == Duration::zero()) return choice;
    choice.load = begin.by.load;
    choice.ideal = aim_.ideal;
    choice.horizon = begin.by.time;
    return choice;
  }

  Aging aging_;
  LoadAim aim_;
  bool from_past_;
  ClassQueue queue_;
  PastOfLog past_;
  std::optional<Forecast> trained_;
  PassCauses causes_;
  JobMap<WaitingShare> shares_;               // of the waiting jobs
  std::vector<const WaitingShare*> waiting_;  // by class
  ScojoPPass pass_;
};

constexpr ParameterSpec kScojoPParameters[] = {
    {"predict", ParameterType::kFile, "past", "FILE|past|off", "",
     "jobs to come count by what another workload has at each half hour of the day (`replay trace forecast` makes the "
     "file), by what the log has had so far, or not at all",
     "SCOJO-P paper, section 4.3, which trains on another workload; past is ours"},
    {"ideal", ParameterType::kNumber, "0.9", "0.1..1.5", "", "the load that sizes aim at, as a share of the machine",
     "SCOJO-P paper, section 4.2; 0.9 is ours"},
    {"delta", ParameterType::kNumber, "0.01", "0..1", "", "the search for a size ends when the load is so near to it",
     "SCOJO-P paper, Figure 2; the value is ours"},
    {"max_bad", ParameterType::kInteger, "2", "1..50", "trials", "or after so many in a row that come no nearer",
     "SCOJO-P paper, Figure 2; the value is ours"},
    aging_parameter(),
};

std::unique_ptr<Policy> make_scojo_p(const Parameters& parameters) {
  const LoadAim aim{.ideal = parameters.number("ideal"),
                    .delta = parameters.number("delta"),
                    .most_worse = static_cast<int>(parameters.integer("max_bad"))};
  Prediction prediction{.from_past = parameters.text("predict") == "past", .trained = {}};
  if (const auto file = parameters.file("predict")) prediction.trained = read_forecast(*file);
  return std::make_unique<ScojoP>(aging_of(parameters), aim, prediction);
}

}  // namespace

constinit const PolicyEntry kScojoPPolicy{
    "scojo-p", "sizes by the load predicted for the run of each job, which waits if it is over sooner so",
    "SCOJO-P paper, sections 4.2 to 4.4", kScojoPParameters, make_scojo_p};

}  // namespace replay
