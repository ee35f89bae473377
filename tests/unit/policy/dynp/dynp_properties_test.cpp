// Properties of dynP for any jobs: when it takes a step. A step that changes the policy is a note in the event log.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/support/properties.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

constexpr CoreCount kProcessors = 8;

std::string any_dynp() {
  return "dynp:decider=" + *rc::gen::element<std::string>("simple", "advanced", "preferred") +
         ":metric=" + *rc::gen::element<std::string>("sldwa", "response", "slowdown", "bsld60", "utilisation");
}

Overrun any_overrun() { return *rc::gen::element(Overrun::kKill, Overrun::kExtend, Overrun::kPolicy); }

MemoryLog run_any_dynp(const std::vector<TracedJob>& jobs) {
  SimulationOptions options;
  options.overrun = any_overrun();
  return simulate(any_dynp(), cores(kProcessors), jobs, "rigid", options);
}

std::multiset<Instant> changes(const MemoryLog& log) {
  std::multiset<Instant> all;
  for (const log::Record& record : log.records())
    if (const auto* note = std::get_if<log::Note>(&record.what); note != nullptr && note->text.starts_with("dynp "))
      all.insert(record.at);
  return all;
}

TEST(DynpProperties, ThePolicyChangesOnlyWhereAJobIsSubmittedOrEnds) {
  EXPECT_TRUE(rc::check([] {
    const MemoryLog log = run_any_dynp(*any_jobs(kProcessors, true));
    std::set<Instant> events;
    for (const log::Record& record : log.records())
      if (std::holds_alternative<log::Submitted>(record.what) || std::holds_alternative<log::Finished>(record.what))
        events.insert(record.at);
    for (const Instant change : changes(log)) RC_ASSERT(events.contains(change));
  }));
}

// A job without run time starts and ends at one instant, which gives two events in a row; this test has no such jobs.
TEST(DynpProperties, AllThatHappensAtAnInstantIsOneStepKillsIncluded) {
  EXPECT_TRUE(rc::check([] {
    std::vector<TracedJob> jobs = *any_jobs(kProcessors, true);
    for (TracedJob& traced : jobs) {
      traced.truth.runtime = std::max<Duration>(traced.truth.runtime, 1ms);
      traced.job.estimate = std::max<Duration>(traced.job.estimate, 1ms);
    }
    const std::multiset<Instant> all = changes(run_any_dynp(jobs));
    for (const Instant change : all) RC_ASSERT(all.count(change) == 1U);
  }));
}

}  // namespace
}  // namespace replay::test
