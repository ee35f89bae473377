// Conservative backfilling. Each job gets the earliest hole of the plan when it is submitted: its guarantee. When
// processors become free before their time, or at every end of a job, each waiting job in turn is lifted out of the plan and
// put back at its earliest hole, which is never later. A job starts when its planned start has come.
// Sources: Mu'alem and Feitelson 2001; Talby and Feitelson 1999, sections 3.1 and 3.2 (start-order).
// Where the schedule differs, the plan adapts to it: a job that was put off gets the place that the schedule gives it,
// and of the others only those are moved that have lost their place.

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/audit/profile.hpp"
#include "scheduler/audit/rule.hpp"

namespace replay::audit {
namespace {

constexpr Duration kTick{1};  // a job that runs on beyond its estimate counts as ending in the next one

struct Plan {
  Instant start = kNever;     // kNever: it has no place
  Instant promised = kNever;  // the first start that it got
  bool is_fixed = false;      // it waits for the start that the schedule gives it, whatever the rule says
};

class Conservative final : public Rule {
 public:
  Conservative(State& state, Compress compress, CompressAt compress_at)
      : Rule(state),
        compress_(compress),
        compress_at_(compress_at),
        profile_(state.machine_size()),
        plans_(state.jobs().size()) {}

  void advance() override {
    profile_.forget_before(state_.now());
    if (state_.has_overrun()) plan_around();
  }

  void submitted(Index index) override {
    settle();
    place(index);
    plans_[index].promised = plans_[index].start;
  }

  void gone(Index index) override {
    const Instant now = state_.now();
    Instant held_until = state_.estimated_end(index);
    if (const Plan& plan = plans_[index]; plan.start != kNever) {  // it left the queue
      held_until = plan.start + job(index).estimate;
      take_back(index);
    } else if (held_until != kNever) {
      profile_.release(now, held_until, job(index).processors);
    }
    const bool is_early = held_until != kNever && held_until > now;
    is_to_compress_ = is_to_compress_ || is_early || compress_at_ == CompressAt::kEveryEnd;
  }

  void pass(std::vector<Decision>& out) override {
    settle();
    std::vector<Index> due;
    for (auto next = by_start_.begin(); next != by_start_.end() && next->first <= state_.now(); ++next)
      due.push_back(next->second);
    bool somebody_has_no_room = false;
    for (const Index index : due) {
      if (job(index).processors > state_.free()) {
        somebody_has_no_room = true;
        continue;
      }
      out.push_back(
          {.job = index, .ground = Ground::kPlanned, .free = state_.free(), .promised = plans_[index].promised});
      state_.start(index);
      forget(index);
    }
    if (somebody_has_no_room) plan_around();  // the schedule has other jobs where these were planned
  }

  // While a job runs over its estimate, jobs planned for the next tick wait for it and are decided at the next event.
  Instant next_start() const override {
    const Instant after = state_.now() + (state_.has_overrun() ? kTick : Duration::zero());
    const auto next = by_start_.upper_bound({after, static_cast<Index>(-1)});
    return next == by_start_.end() ? kNever : next->first;
  }

  std::string why_not(Index index) const override {
    const Instant start = plans_[index].start;
    if (start == kNever) return "the rule has no place for it";
    const Instant now = state_.now();
    const Job& early = job(index);
    const std::string planned = fmt::format("its planned start is {} s", to_text(start));
    if (early.processors > state_.free())
      return fmt::format("{}: it needs {}, and the rule leaves {} free", planned, processors(early.processors),
                         state_.free());
    Profile others = profile_;
    others.release(start, start + early.estimate, early.processors);
    const Instant until = now + early.estimate;
    const Instant short_at = others.first_short(now, until, early.processors);
    if (short_at == kNever)
      return fmt::format("{}: it would delay no job, but the rule moves a job up only when {}", planned,
                         compress_at_ == CompressAt::kEarlyEnd ? "processors become free" : "a job ends");
    for (const auto& [victim_start, victim] : by_start_)
      if (victim != index && victim_start <= short_at && short_at < victim_start + job(victim).estimate)
        return fmt::format("{}: now it would delay job {} ({} from {} s on): it needs {} until {} s", planned,
                           job(victim).name, processors(job(victim).processors), to_text(victim_start),
                           processors(early.processors), to_text(until));
    return fmt::format("{}: by their estimates, running jobs leave no room for it from {} s on", planned,
                       to_text(short_at));
  }

  Instant planned_start(Index index) const override { return plans_[index].start; }

  void follow(const std::vector<Index>& put_off, const std::vector<Index>& jumped) override {
    for (const Index index : put_off) {
      plans_[index].is_fixed = true;
      plans_[index].start = job(index).started;
      if (plans_[index].start != kNever) by_start_.emplace(plans_[index].start, index);
    }
    for (const Index index : jumped) forget(index);
    plan_around();
  }

 private:
  void place(Index index) {
    const Job& placed = job(index);
    const Instant start = profile_.earliest(state_.now(), placed.estimate, placed.processors);
    profile_.reserve(start, start + placed.estimate, placed.processors);
    plans_[index].start = start;
    by_start_.emplace(start, index);
  }

  void take_back(Index index) {
    const Instant start = plans_[index].start;
    profile_.release(start, start + job(index).estimate, job(index).processors);
    forget(index);
  }

  void forget(Index index) {
    by_start_.erase({plans_[index].start, index});
    plans_[index].start = kNever;
  }

  [[nodiscard]] bool may_move(Index index) const {
    const Plan& plan = plans_[index];
    return !plan.is_fixed && plan.start != kNever && plan.start > state_.now();
  }

  void settle() {
    if (!std::exchange(is_to_compress_, false)) return;
    if (compress_ == Compress::kArrival)
      move_up_by_arrival();
    else
      move_up_by_start();
  }

  void move_up_by_arrival() {
    for (const Index index : state_.waiting()) {
      if (!may_move(index)) continue;
      // It can start earlier only if enough processors are free at some time before its planned start.
      if (!profile_.has_free(state_.now(), plans_[index].start, job(index).processors)) continue;
      take_back(index);
      place(index);
    }
  }

  void move_up_by_start() {
    std::vector<Index> order;
    for (const auto& [start, index] : by_start_)
      if (may_move(index)) order.push_back(index);
    for (const Index index : order) take_back(index);
    for (const Index index : order) place(index);
  }

  // Makes the plan anew from the state: keeps places that are still free, in the order of their starts. The other jobs
  // get new places, and later promises.
  void plan_around() {
    const Instant now = state_.now();
    profile_ = Profile{state_.machine_size()};
    for (const auto& [end, index] : state_.holding())
      profile_.reserve(now, std::max(end, now + kTick), job(index).processors);
    std::vector<Index> movable;
    for (const auto& [start, index] : by_start_) {
      if (plans_[index].is_fixed)
        profile_.reserve(start, start + job(index).estimate, job(index).processors);
      else
        movable.push_back(index);
    }
    std::vector<Index> lost;
    for (const Index index : movable) {
      const Instant start = plans_[index].start;
      const Instant end = start + job(index).estimate;
      if (start < now || profile_.first_short(start, end, job(index).processors) != kNever)
        lost.push_back(index);
      else
        profile_.reserve(start, end, job(index).processors);
    }
    for (const Index index : lost) {
      forget(index);
      place(index);
      plans_[index].promised = std::max(plans_[index].promised, plans_[index].start);
    }
  }

  Compress compress_;
  CompressAt compress_at_;
  Profile profile_;  // running and waiting jobs
  std::vector<Plan> plans_;
  std::set<std::pair<Instant, Index>> by_start_;  // ties by arrival
  bool is_to_compress_ = false;
};

}  // namespace

std::unique_ptr<Rule> make_conservative(State& state, Compress compress, CompressAt compress_at) {
  return std::make_unique<Conservative>(state, compress, compress_at);
}

}  // namespace replay::audit
