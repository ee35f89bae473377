// Conservative backfilling. Each job gets the earliest hole of the plan when it is submitted, and starts no later than
// that: it may overtake jobs that it does not delay. When a job ends before its estimate, the plan is compressed:
// waiting jobs move up into the time that has become free.
// Sources: Mu'alem and Feitelson 2001; slack-based backfilling paper, sections 3.1 and 3.2. Compression one by one in
// the order of submission is the archive's reference; in the order of planned starts it is the slack paper's. With
// `replan` (plan.hpp) there is no guarantee. An end at the estimate frees no time, but a compression one by one leaves
// holes: a job that moves up frees a place that a job tried before it could use. With compress-at=every-end, as in the
// simulator pyss, each end looks for them; in the literature they stay until the next early end
// (docs/policies/backfilling.md).

#include "scheduler/policy/rigid/conservative.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/known_floors.hpp"
#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "scheduler/policy/rigid/plan.hpp"
#include "scheduler/policy/view/pass_parameter.hpp"

namespace replay {
namespace {

// A job's planned start. Ordered by start; at one instant by arrival.
struct StartByPlan {
  Instant start;
  Instant submitted;
  JobId id;

  [[nodiscard]] std::tuple<Instant, JobId> arrival() const { return {submitted, id}; }
  auto operator<=>(const StartByPlan&) const = default;
};

struct Planned {
  const Job* job;  // nullptr: it waits no longer
  Shape shape;
  StartByPlan at;

  [[nodiscard]] std::tuple<Instant, JobId> arrival() const { return at.arrival(); }
  [[nodiscard]] Instant end() const { return at.start + shape.time; }
};

// Waiting jobs by arrival, with their planned starts; holes as in WaitingQueue.
class PlannedQueue {
 public:
  [[nodiscard]] std::vector<Planned>& entries() { return entries_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  Planned& insert(const Job& job, Shape shape, Instant start) {
    const Planned fresh{&job, shape, {start, job.submitted, job.id}};
    ++size_;
    if (entries_.empty() || entries_.back().arrival() < fresh.arrival()) return entries_.emplace_back(fresh);
    return *entries_.insert(std::ranges::upper_bound(entries_, fresh.arrival(), {}, &Planned::arrival), fresh);
  }
  [[nodiscard]] const Planned* find(const std::tuple<Instant, JobId>& arrival) const {
    const auto found = std::ranges::lower_bound(entries_, arrival, {}, &Planned::arrival);
    return found != entries_.end() && found->job != nullptr && found->arrival() == arrival ? &*found : nullptr;
  }
  [[nodiscard]] const Planned* find(const Job& job) const {
    const Planned* const found = find(std::tuple{job.submitted, job.id});
    return found != nullptr && found->job == &job ? found : nullptr;
  }
  [[nodiscard]] Planned* find(const Job& job) { return const_cast<Planned*>(std::as_const(*this).find(job)); }
  // In the order of their planned starts.
  [[nodiscard]] std::vector<const Planned*> by_start() const {
    std::vector<const Planned*> order;
    for (const Planned& planned : entries_)
      if (planned.job != nullptr) order.push_back(&planned);
    std::ranges::sort(order, {}, [](const Planned* planned) { return planned->at; });
    return order;
  }
  void remove(const Job& job) {
    Planned* const planned = find(job);
    INVARIANT(planned != nullptr, "job {} has no place in the plan", number(job.id));
    planned->job = nullptr;
    --size_;
    if (entries_.size() > 2 * size_ + 16)
      std::erase_if(entries_, [](const Planned& entry) { return entry.job == nullptr; });
  }
  void clear() {
    entries_.clear();
    size_ = 0;
  }

 private:
  std::vector<Planned> entries_;
  std::size_t size_ = 0;
};

// The planned starts of a queue, earliest first: a heap in which a job that moves gets another entry. Outdated entries
// are skipped at the top, and removed when they are the majority.
class NextStarts {
 public:
  explicit NextStarts(const PlannedQueue& queue) : queue_(queue) {}

  // REQUIRES: the queue has it.
  void add(const StartByPlan& planned) {
    heap_.push_back(planned);
    std::ranges::push_heap(heap_, std::greater{});
    if (heap_.size() <= 2 * queue_.size() + 64) return;
    std::erase_if(heap_, [this](const StartByPlan& entry) { return find(entry) == nullptr; });
    std::ranges::make_heap(heap_, std::greater{});
  }
  // nullptr if no job waits.
  const Planned* first() {
    while (!heap_.empty()) {
      if (const Planned* const planned = find(heap_.front())) return planned;
      std::ranges::pop_heap(heap_, std::greater{});
      heap_.pop_back();
    }
    return nullptr;
  }
  void clear() { heap_.clear(); }

 private:
  // nullptr if the entry is outdated.
  [[nodiscard]] const Planned* find(const StartByPlan& entry) const {
    const Planned* const planned = queue_.find(entry.arrival());
    return planned != nullptr && planned->at == entry ? planned : nullptr;
  }

  const PlannedQueue& queue_;
  std::vector<StartByPlan> heap_;
};

struct Compression {
  bool in_start_order;
  bool at_every_end;
};

class Conservative final : public Policy, public Hosting {
 public:
  Conservative(PassRule rule, Compression compression, ShapeAtSubmission shape = {})
      : Policy({.pass_rule = rule, .chooses_sizes = static_cast<bool>(shape)}),
        compression_(compression),
        shape_(std::move(shape)) {}

  void decide(const ClusterView& view, Decisions& out) override {
    now_ = view.now;
    capacity_ = view.capacity();
    asked_key_ = {};
    const RunningPlan::Change change = running_.follow(view);
    if (change.rebuilt || a_planned_start_has_passed())
      plan_again(view);
    else
      take_in(view, change);
    start_who_is_due(view, out);
    if (const Planned* const next = next_starts_.first()) out.emplace_back(WakeAt{next->at.start});
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    return free_by_plan(view, plan_asked_about(view).profile, until);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    const Planned* const planned = queue_.find(job);
    const Shape shape = planned != nullptr ? planned->shape : submitted_shape(job);
    if (shape.cores > view.free.total()) return false;
    const Asked& asked = plan_asked_about(view);
    if (planned == nullptr || !asked.is_as_planned)
      return plan_of(view, &job).profile.fits(shape.cores, view.now, shape.time);
    // In its own place it fits: what matters is the time before that.
    const Instant until = std::min(planned->at.start, view.now + shape.time);
    return until <= view.now || asked.profile.least_free(view.now, until) >= shape.cores;
  }

  std::optional<Instant> planned_start(const Job& job) const override {
    const Planned* planned = queue_.find(job);
    return planned == nullptr ? std::nullopt : std::optional{planned->at.start};
  }

 private:
  // Applies submissions and ends, and uses the time that they have freed.
  void take_in(const ClusterView& view, const RunningPlan::Change& change) {
    Instant freed_until = change.freed_until;
    submitted_.clear();
    for (const Trigger& trigger : view.triggers) {
      if (trigger.kind == TriggerKind::kSubmit) submitted_.push_back(trigger.job);
      if (trigger.kind != TriggerKind::kFinish) continue;
      if (const Planned* const planned = queue_.find(*trigger.job)) {  // taken back by its user
        freed_until = std::max(freed_until, planned->end());
        take_back(*planned);
        queue_.remove(*trigger.job);
      }
      std::erase(submitted_, trigger.job);  // taken back at once
    }
    if (freed_until > now_ || (change.ended && compression_.at_every_end)) compress(freed_until);
    for (const Job* job : submitted_) insert(*job, shape_at_submission(*job));
    if (queue_.size() != view.waiting.size()) plan_again(view);  // the view has another queue
  }

  void insert(const Job& job, Shape shape) {
    const Instant start = profile().place(shape.cores, shape.time, no_hole_before(shape));
    floors_.note(shape.cores, shape.time, start);
    next_starts_.add(queue_.insert(job, shape, start).at);
  }

  [[nodiscard]] Instant no_hole_before(Shape shape) const {
    return std::max(now_, floors_.floor_for(shape.cores, shape.time));
  }

  Shape shape_at_submission(const Job& job) {
    if (!shape_) return submitted_shape(job);
    return shape_(job, now_, capacity_, [this](Shape tried) {
      const Instant start = profile().earliest_fit(tried.cores, tried.time, no_hole_before(tried));
      floors_.note(tried.cores, tried.time, start);
      return start;
    });
  }

  void take_back(const Planned& planned) { profile().release(planned.at.start, planned.end(), planned.shape.cores); }

  void move(Planned& planned, Instant start) {
    planned.at.start = start;
    next_starts_.add(planned.at);
  }

  void compress(Instant freed_until) {
    floors_.forget();
    if (compression_.in_start_order)
      compress_in_start_order();
    else
      compress_by_arrival(freed_until);
  }

  // Takes each job out of the plan and places it at its earliest hole, which is where it was or earlier. A new hole
  // begins in the time that has become free, by the end or by jobs that moved up. Moves of the last compression count,
  // too: they came after the jobs before them had been tried. A job that finds too few processors at every instant of
  // that time stays where it is and need not be taken out.
  // Where estimates are far too long and the queue is long, each early end moves a quarter of all planned starts (300
  // waiting jobs: 80), so the cost of an event grows with the queue.
  void compress_by_arrival(Instant freed_until) {
    Instant until = std::max(freed_until, moved_until_);
    moved_until_ = Instant::min();
    CoreCount most = until > now_ ? profile().most_free(now_, until) : CoreCount{0};
    for (Planned& planned : queue_.entries()) {
      if (planned.job == nullptr || planned.shape.cores > most || planned.at.start <= now_) continue;
      const Instant old_end = planned.end();
      if (!move_up(planned, until)) continue;
      moved_until_ = std::max(moved_until_, old_end);
      until = std::max(until, old_end);
      most = profile().most_free(now_, until);
    }
  }

  bool move_up(Planned& planned, Instant until) {
    if (!can_move_up(planned, until)) return false;
    take_back(planned);
    move(planned, profile().place(planned.shape.cores, planned.shape.time, now_));
    return true;
  }

  // Searches the plan with the job in it: for an earlier hole that does not touch its place, or free time right before
  // it. No new hole begins after `until`, the end of the time that has become free.
  bool can_move_up(const Planned& planned, Instant until) {
    constexpr Duration kTick{1};
    const Instant before = std::min(planned.at.start, until);
    return profile().free_at(planned.at.start - kTick) >= planned.shape.cores ||
           profile().earliest_fit_before(planned.shape.cores, planned.shape.time, now_, before) != kNever;
  }

  // Takes all jobs out of the plan and places them again in the order of their planned starts.
  void compress_in_start_order() {
    const std::vector<const Planned*> order = queue_.by_start();
    for (const Planned* planned : order) take_back(*planned);
    for (const Planned* planned : order) {
      const Instant start = profile().place(planned->shape.cores, planned->shape.time, now_);
      if (start != planned->at.start) move(*queue_.find(*planned->job), start);
    }
  }

  // In a real run, if the daemon was delayed or cores came late. The plan is inconsistent from then on.
  [[nodiscard]] bool a_planned_start_has_passed() {
    const Planned* const first = next_starts_.first();
    return first != nullptr && first->at.start < now_;
  }

  // The view differs from the plan: places all jobs again in the order of their planned starts, new ones last.
  void plan_again(const ClusterView& view) {
    struct Again {
      StartByPlan at;
      const Job* job;
      std::optional<Shape> shape;  // nothing: the job is new
    };
    std::vector<Again> order;
    for (const Job* job : view.waiting) {
      const Planned* known = queue_.find(*job);
      if (known != nullptr && known->shape.cores > capacity_) known = nullptr;  // nodes are closed since then
      order.push_back({{known != nullptr ? known->at.start : kNever, job->submitted, job->id},
                       job,
                       known != nullptr ? std::optional{known->shape} : std::nullopt});
    }
    std::ranges::sort(order, {}, &Again::at);
    queue_.clear();
    next_starts_.clear();
    moved_until_ = kNever;
    floors_.forget();
    running_.profile() = availability_of_running(view);
    for (const auto& [at, job, shape] : order) insert(*job, shape ? *shape : shape_at_submission(*job));
  }

  void start_who_is_due(const ClusterView& view, Decisions& out) {
    CoreCount free = view.free.total();
    for (const Planned* next = nullptr; (next = next_starts_.first()) != nullptr && next->at.start <= now_;) {
      const Job& job = *next->job;
      const Shape shape = next->shape;
      if (shape.cores > free) return;  // other jobs still hold its cores: the next event tries again
      free -= shape.cores;
      out.emplace_back(Start{job.id,
                             {.cores = shape.cores, .mpl = 1, .named = {}, .processes = shape.processes},
                             shape_ ? optimum_of(job, capacity_) : SizeChoice{}});
      running_.note_start(job, now_, shape.cores, shape.time);
      queue_.remove(job);
    }
  }

  // A plan of the running and waiting jobs of a view.
  struct Asked {
    Availability profile{0, Instant::min()};
    bool is_as_planned = true;  // each job that waits starts when it is planned to
  };

  // Without `but`. Of what waited at the last pass, jobs may have left the queue.
  Asked plan_of(const ClusterView& view, const Job* but) const {
    Asked plan{availability_of_running(view)};
    std::vector<const Planned*> order;
    std::vector<const Job*> unplanned;
    for (const Job* job : view.waiting) {
      if (job == but) continue;
      const Planned* const planned = queue_.find(*job);
      planned != nullptr ? order.push_back(planned) : unplanned.push_back(job);
    }
    std::ranges::sort(order, {}, [](const Planned* planned) { return planned->at; });
    for (const Planned* planned : order) {
      const Instant start =
          plan.profile.place(planned->shape.cores, planned->shape.time, std::max(planned->at.start, view.now));
      plan.is_as_planned = plan.is_as_planned && start == planned->at.start;
    }
    for (const Job* job : unplanned) place(plan.profile, *job, view.now);
    plan.is_as_planned = plan.is_as_planned && unplanned.empty();
    return plan;
  }

  // The plan of a view about which several questions are asked. Whether the view is another one is told as in
  // RunningPlan::follow(): by counts.
  const Asked& plan_asked_about(const ClusterView& view) const {
    const auto key = std::tuple{view.now, view.running.size(), view.running.disturbances(), view.waiting.size()};
    if (asked_key_ != key) asked_ = plan_of(view, nullptr);
    asked_key_ = key;
    return asked_;
  }

  Availability& profile() { return running_.profile(); }

  Compression compression_;
  ShapeAtSubmission shape_;  // empty: jobs keep the submitted size
  Instant now_{};
  CoreCount capacity_ = 0;
  RunningPlan running_;  // its profile has the waiting jobs too
  PlannedQueue queue_;
  NextStarts next_starts_{queue_};
  KnownFloors floors_;
  Instant moved_until_ = Instant::min();  // end of the time that jobs left in the last compression
  std::vector<const Job*> submitted_;     // in this pass

  // Since the last pass.
  mutable Asked asked_;
  mutable std::optional<std::tuple<Instant, std::size_t, std::uint64_t, std::size_t>> asked_key_;
};

constexpr ParameterSpec kConservativeParameters[] = {
    {"compress", ParameterType::kChoice, "arrival", "arrival|start-order|replan", "",
     "how waiting jobs move up when a job ends early: one by one by arrival; all in the order of their planned starts; "
     "or a fresh plan, which promises nothing",
     "arrival: reference schedules; start-order: Talby and Feitelson 1999, section 3.2"},
    {"compress-at", ParameterType::kChoice, "early-end", "early-end|every-end", "",
     "which end of a job makes waiting jobs move up: one before its estimate, or any; replan plans at every event",
     "early-end: Mu'alem and Feitelson 2001, Talby and Feitelson 1999, section 3.2; every-end: the simulator pyss"},
    pass_parameter("event"),
};

std::unique_ptr<Policy> make_conservative(const Parameters& parameters) {
  const PassRule rule = pass_rule_of(parameters);
  const std::string& compress = parameters.choice("compress");
  if (compress == "replan") return make_plan_by_arrival(rule);
  return std::make_unique<Conservative>(rule,
                                        Compression{.in_start_order = compress == "start-order",
                                                    .at_every_end = parameters.choice("compress-at") == "every-end"});
}

}  // namespace

std::unique_ptr<Policy> make_conservative(ShapeAtSubmission shape) {
  return std::make_unique<Conservative>(PassRule::kInstant, Compression{.in_start_order = false, .at_every_end = false},
                                        std::move(shape));
}

constinit const PolicyEntry kConservativePolicy{
    "conservative", "backfilling that delays no job: each one has a guaranteed start", "Mu'alem and Feitelson 2001",
    kConservativeParameters, make_conservative};

}  // namespace replay
