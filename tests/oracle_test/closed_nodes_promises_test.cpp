// "A planned start never moves later": what conservative backfilling promises to a job, at a size that the job has chosen, too, holds
// on machines whose nodes are closed for a while or for good, unless one is closed after the promise. So do the responses that
// g-lomarc-ts expects, unless there is any row of node events after that. The bounds of slack are in slack_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "scheduler/facts/node_sharing.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/oracle_test/closed_nodes.hpp"
#include "tests/oracle_test/comparison.hpp"
#include "tests/oracle_test/drawn_sharing.hpp"

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

// A node that is opened, which is not known beforehand, ends it as well: on more nodes jobs have other shapes.
bool has_row(const oracle::Workload& workload, Instant from, Instant to) {
  return std::ranges::any_of(workload.node_events, [&](const oracle::NodeEvent& event) {
    return micros_of(from) < event.at && event.at <= micros_of(to);
  });
}

// R <= R_max, or not later than planned at the submission: formula 4 with the parameters of Table 6.
std::string late_response(const oracle::Workload& workload, const MemoryLog& log) {
  constexpr double kMost = 1.5;  // times R_est, which is 0.75 of the planned response
  struct Expected {
    Instant told;
    Duration response;
  };
  std::map<JobId, Expected> expected;
  std::map<JobId, Instant> submitted;
  for (const log::Record& record : log.records()) {
    if (const auto* submit = std::get_if<log::Submitted>(&record.what))
      submitted[submit->job.id] = submit->job.submitted;
    if (const auto* told = std::get_if<Told>(&record.what))
      if (const auto* fact = std::get_if<ResponseExpected>(&told->fact))
        expected[fact->job] = {record.at, fact->response};
    const auto* end = std::get_if<log::Finished>(&record.what);
    if (end == nullptr || !expected.contains(end->job)) continue;
    const auto& [told, response] = expected.at(end->job);
    if (has_row(workload, told, record.at)) continue;
    const Duration took = record.at - submitted.at(end->job);
    if (seconds(took) > kMost * seconds(response) + 1e-5)
      return fmt::format("job {} is expected to take {} s at {} s, and ends after {} s", number(end->job),
                         to_text(response), to_text(told), to_text(took));
  }
  return {};
}

class ResponseOnClosedNodes : public testing::TestWithParam<std::string> {};

TEST_P(ResponseOnClosedNodes, IsWithinItsLimitUntilARowOfNodeEvents) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + runs(); ++seed) {
    const oracle::Workload workload = drawn_sharing(seed, {.node_events = true}).workload;
    const auto error = [&](const oracle::Workload& smaller) {
      const MemoryLog log = simulated(smaller, GetParam(), "pairs");
      const std::string wrong = against_the_page(smaller, log);
      return wrong.empty() ? late_response(smaller, log) : wrong;
    };
    if (error(workload).empty()) continue;
    const oracle::Workload small =
        minimised(workload, [&](const oracle::Workload& smaller) { return !error(smaller).empty(); });
    FAIL() << "seed " << seed << "; as small as it gets:\n" << as_command(small, GetParam(), "pairs") << error(small);
  }
}

INSTANTIATE_TEST_SUITE_P(ClosedNodes, ResponseOnClosedNodes,
                         testing::Values("g-lomarc-ts", "g-lomarc-ts:variant=ssp", "g-lomarc-ts:variant=cst",
                                         "g-lomarc-ts:variant=nh"),
                         [](const testing::TestParamInfo<std::string>& policy) { return test_name(policy.param); });

}  // namespace
}  // namespace replay::test
