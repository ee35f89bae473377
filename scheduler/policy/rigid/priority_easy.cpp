// EASY over three classes: short jobs before medium before long ones, first come first served inside a class. A job
// that has waited for five times its estimate is promoted, so that no job starves.
// Source: SCOJO-P paper, section 5.1, the traditional scheduler that it compares with. Run times are those declared at
// the job's optimum size.

#include "scheduler/policy/rigid/priority_easy.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "scheduler/policy/plan/shadow.hpp"

namespace replay {
namespace {

enum class Aging : std::uint8_t { kTop, kOne, kOff };

constexpr Duration kShortBelow = std::chrono::seconds{60};
constexpr Duration kMediumBelow = std::chrono::hours{1};
constexpr int kPatience = 5;  // estimates

// 0 short, 1 medium, 2 long.
int class_of(const Job& job) { return job.estimate < kShortBelow ? 0 : job.estimate < kMediumBelow ? 1 : 2; }

class PriorityEasy final : public Policy {
 public:
  explicit PriorityEasy(Aging aging) : aging_(aging) {}

  void decide(const ClusterView& view, Decisions& out) override {
    const std::vector<const Job*> queue = in_order(view);
    CoreCount free = view.free.total();
    std::vector<Release> started;
    const auto start = [&](const Job& job) {
      free -= job.processes;
      started.push_back({view.now + job.estimate, job.processes});
      out.emplace_back(Start{job.id, {job.processes, 1, {}}});
    };
    std::size_t next = 0;
    for (; next < queue.size() && queue[next]->processes <= free; ++next) start(*queue[next]);
    if (next < queue.size() && free > 0) {
      Shadow shadow = head_shadow(view, free, queue[next]->processes, started);
      for (++next; next < queue.size() && free > 0; ++next) {
        const Job& job = *queue[next];
        if (job.processes > free) continue;
        const bool ends_in_time = view.now + job.estimate <= shadow.at;
        if (!ends_in_time && job.processes > shadow.extra) continue;
        if (!ends_in_time) shadow.extra -= job.processes;
        start(job);
      }
    }
    wake_for_promotions(view, out);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    const CoreCount free = view.free.total();
    const std::vector<const Job*> queue = in_order(view);
    if (queue.empty()) return free;
    const CoreCount head = queue.front()->processes;
    if (head <= free) return free - head;
    const Shadow shadow = head_shadow(view, free, head, {});
    return shadow.at >= until ? free : std::min(free, shadow.extra);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    const CoreCount free = view.free.total();
    const std::vector<const Job*> queue = in_order(view);
    if (queue.empty() || job.processes > free) return false;
    const Job& head = *queue.front();
    if (head.id == job.id) return true;
    if (head.processes <= free) return head.processes + job.processes <= free;
    const Shadow shadow = head_shadow(view, free, head.processes, {});
    return view.now + job.estimate <= shadow.at || job.processes <= shadow.extra;
  }

 private:
  [[nodiscard]] Instant promotion(const Job& job) const { return job.submitted + kPatience * job.estimate; }
  [[nodiscard]] bool can_be_promoted(const Job& job) const { return aging_ != Aging::kOff && class_of(job) > 0; }

  [[nodiscard]] int class_now(const Job& job, Instant now) const {
    const int own = class_of(job);
    if (!can_be_promoted(job) || now < promotion(job)) return own;
    return aging_ == Aging::kTop ? 0 : own - 1;
  }

  // By class after aging; the queue is in the order of arrival already. O(waiting) for each pass: promotions depend on
  // the clock as well as on the queue, and the wait that promotes (five estimates) is long where the queue is, so the
  // order of one pass says little about the next.
  [[nodiscard]] std::vector<const Job*> in_order(const ClusterView& view) const {
    std::vector<const Job*> queue{view.waiting.begin(), view.waiting.end()};
    std::ranges::stable_sort(queue, {}, [&](const Job* job) { return class_now(*job, view.now); });
    return queue;
  }

  // A promotion can change the head, and so the jobs that may be backfilled.
  void wake_for_promotions(const ClusterView& view, Decisions& out) const {
    Instant next = kNever;
    for (const Job* job : view.waiting)
      if (can_be_promoted(*job) && promotion(*job) > view.now) next = std::min(next, promotion(*job));
    if (next != kNever) out.emplace_back(WakeAt{next});
  }

  Aging aging_;
};

constexpr ParameterSpec kPriorityEasyParameters[] = {
    {"aging", ParameterType::kChoice, "top", "top|one|off", "",
     "what becomes of a medium or long job that has waited 5 times its estimate: it counts as short, as one class "
     "shorter, or stays",
     "SCOJO-P paper, section 5.1"},
};

std::unique_ptr<Policy> make_priority_easy(const Parameters& parameters) {
  return std::make_unique<PriorityEasy>(
      parameters.choice<Aging>("aging", {{"top", Aging::kTop}, {"one", Aging::kOne}, {"off", Aging::kOff}}));
}

}  // namespace

constinit const PolicyEntry kPriorityEasyPolicy{
    "priority-easy", "EASY with short jobs before medium before long ones, and aging", "SCOJO-P paper, section 5.1",
    kPriorityEasyParameters, make_priority_easy};

}  // namespace replay
