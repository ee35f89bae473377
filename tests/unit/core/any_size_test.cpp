// Running jobs that divide their work anew: a policy may resize them to every size that they offer, fewer cores or more
// than they were started with, and their speed follows their curve.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// Starts the first job with `first` processes and resizes it to `second` when the other job comes, which never starts
// before the first has ended.
class ResizeOnce final : public Policy {
 public:
  ResizeOnce(ProcessCount first, Allocation second) : first_(first), second_(std::move(second)) {}
  void decide(const ClusterView& view, Decisions& out) override {
    any_size = view.resizes_to_any_size;
    if (view.running.empty() && !view.waiting.empty()) {
      const Job& head = view.waiting.head();
      const ProcessCount size = head.id == id('A') ? first_ : head.processes;
      out.emplace_back(Start{head.id, {.cores = cores_needed(head, size), .mpl = 1, .named = {}, .processes = size}});
    } else if (!view.waiting.empty()) {
      out.emplace_back(Resize{id('A'), second_});
    }
  }

  bool any_size = false;

 private:
  ProcessCount first_;
  Allocation second_;
};

std::vector<TracedJob> two_jobs() {
  TracedJob a = job('A').cores(4).runs(100s);
  Declaration declared;
  declared.least = 2;
  declared.most = 8;
  declared.speedup = SpeedupCurve{ThreePointSpeedup{.optimum = 4}};
  a.job.declaration = std::make_shared<const Declaration>(declared);
  return {a, job('B').cores(1).runs(1s).arrives(10s)};
}

TEST(AnySize, ARunningJobGetsAsFastAsItsCurveSaysOfMoreCoresThanItHasProcesses) {
  // 90 s are left at 4 processes; on 8 cores the speedup is 3.2 and not 2.6.
  ResizeOnce policy{4, {.cores = 8, .mpl = 1, .named = {}}};
  const MemoryLog log = simulate(policy, cores(8), two_jobs(), "speedup");
  EXPECT_EQ(log.decisions(id('A')), "start 4, resize 8");
  EXPECT_EQ(log.end(id('A')), at(83125ms));
  EXPECT_EQ(what_is_wrong(log, cores(8)), "");
}

TEST(AnySize, WorkStaysThatOfTheStartedSize) {
  // T(8) = 81.25 s; 71.25 s are left, which take 3.2 / 2.1 as long on 3 cores.
  ResizeOnce policy{8, {.cores = 3, .mpl = 3, .named = {}}};
  EXPECT_EQ(simulate(policy, cores(8), two_jobs(), "speedup").end(id('A')), at(118571429us));
}

TEST(AnySize, IsRefusedWhereTheJobDoesNotOfferItOrTheMachineHasNoRoom) {
  const auto is_refused = [](CoreCount cores_after, int mpl, const char* model = "speedup") {
    ResizeOnce policy{4, {.cores = cores_after, .mpl = mpl, .named = {}}};
    try {
      (void)simulate(policy, cores(8), two_jobs(), model);
    } catch (const PolicyError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(is_refused(3, 2));
  EXPECT_TRUE(is_refused(3, 1)) << "four processes on three cores are two on the fullest one";
  EXPECT_TRUE(is_refused(1, 2));
  EXPECT_TRUE(is_refused(9, 1));
  EXPECT_TRUE(is_refused(3, 2, "isolated")) << "its processes share cores there";
  EXPECT_FALSE(is_refused(2, 2, "isolated"));
}

TEST(AnySize, IsOfferedToPoliciesOnlyUnderAModelThatDividesWorkAndWhereCoresHaveNoNames) {
  const auto is_offered = [](const Machine& machine, const char* model) {
    ResizeOnce policy{4, {.cores = 2, .mpl = 2, .named = {}}};
    (void)simulate(policy, machine, two_jobs(), model);
    return policy.any_size;
  };
  EXPECT_TRUE(is_offered(cores(8), "speedup"));
  EXPECT_TRUE(is_offered(cores(8), "speedup+pairs"));
  EXPECT_FALSE(is_offered(cores(8), "isolated"));
  EXPECT_FALSE(is_offered(Machine::parse("2x2x2"), "speedup"));
}

}  // namespace
}  // namespace replay::test
