// "A planned start never moves later": what conservative backfilling promises to a job, at a size that the job has chosen, too, holds on machines whose nodes are
// closed for a while or for good, unless one is closed after the promise. The bounds of slack are in slack_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/oracle_test/closed_nodes.hpp"
#include "tests/oracle_test/comparison.hpp"

namespace replay::test {
namespace {

using oracle::Time;

Time micros_of(Instant at) { return at.time_since_epoch().count(); }

/// Notes the start that a policy plans for each job when it is submitted, or comes back into the queue.
class PlannedStarts final : public Policy {
 public:
  PlannedStarts(Policy& policy, const oracle::Workload& workload)
      : Policy(policy.traits()), policy_(policy), workload_(workload) {}

  void decide(const ClusterView& view, Decisions& out) override {
    const std::size_t before = out.size();
    policy_.decide(view, out);
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kSubmit) note(*trigger.job, view.now);
    for (std::size_t i = before; i < out.size(); ++i)
      if (const auto* start = std::get_if<Start>(&out[i])) check(start->job, view.now);
  }

  /// The first job that starts later than planned; empty if none does.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  struct Promise {
    Instant given, start;
  };
  // A job that has no planned start any more starts in this pass.
  void note(const Job& job, Instant now) {
    promises_[job.id] = {now, hosting_of(policy_).planned_start(job).value_or(now)};
  }
  void check(JobId job, Instant now) {
    const Promise promise = promises_.at(job);
    if (closes_a_node(workload_, micros_of(promise.given), micros_of(now))) return;
    ++held_;
    if (promise.start < now && error_.empty())
      error_ = fmt::format("job {} is promised {} s at {} s, and starts at {} s", number(job), to_text(promise.start),
                           to_text(promise.given), to_text(now));
  }

  Policy& policy_;
  const oracle::Workload& workload_;
  std::map<JobId, Promise> promises_;
  std::size_t held_ = 0;
  std::string error_;
};

class PlannedStartOnClosedNodes : public testing::TestWithParam<std::string> {};

TEST_P(PlannedStartOnClosedNodes, IsKeptUntilANodeIsClosed) {
  const Draw draw{.extends = false, .moldable = true, .node_events = true, .halved_nodes = true};
  std::size_t held = 0;
  expect_no_error({GetParam(), {}, draw, "rigid"}, [&](const oracle::Workload& workload) {
    const auto policy = make_policy(GetParam()).policy;
    PlannedStarts watched{*policy, workload};
    static_cast<void>(simulated(workload, watched, GetParam(), "rigid"));
    held += watched.held();
    return watched.error();
  });
  EXPECT_GT(held, runs()) << "promises that no node has ended";
}

INSTANTIATE_TEST_SUITE_P(ClosedNodes, PlannedStartOnClosedNodes,
                         testing::Values("conservative", "conservative:compress=start-order:pass=instant",
                                         "conservative:compress-at=every-end", "cirne-berman:base=conservative",
                                         "cirne-berman:base=conservative:max=opt"),
                         [](const testing::TestParamInfo<std::string>& policy) { return test_name(policy.param); });

}  // namespace
}  // namespace replay::test
