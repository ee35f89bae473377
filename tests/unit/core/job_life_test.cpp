// Tests of the table of a job's life: each state with each step, and what holds in all states that a job can come to.
#include "scheduler/core/job_life.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace replay {
namespace {

constexpr std::string_view kPlannedLetters = "RSGE";  // kRuns, kSuspended, kGone, kEnds
constexpr std::string_view kPhysicalLetters =
    "woyrstc";  // waits, on cores, stays, resizing, suspending, stopped, coming

std::vector<JobState> all_states() {
  std::vector<JobState> all;
  for (std::size_t planned = 0; planned < kPlannedLetters.size(); ++planned)
    for (std::size_t physical = 0; physical < kPhysicalLetters.size(); ++physical)
      all.push_back({static_cast<Planned>(planned), static_cast<Physical>(physical)});
  return all;
}

std::string name(JobState state) {
  return {kPlannedLetters[static_cast<std::size_t>(state.planned)],
          kPhysicalLetters[static_cast<std::size_t>(state.physical)]};
}

Allocation on(CoreCount cores) { return {cores, 1, {}}; }

std::string order_name(std::optional<JobStep> order) {
  if (order == JobStep::kLaunchOrdered) return "launch";
  if (order == JobStep::kResizeOrdered) return "resize";
  if (order == JobStep::kSuspendOrdered) return "suspend";
  if (order == JobStep::kResumeOrdered) return "resume";
  return order ? "?" : "-";
}

TEST(JobLife, EachStateWithEachStep) {
  std::string table;
  for (const JobState state : all_states()) {
    table += name(state) + ':';
    for (std::size_t step = 0; step < kJobSteps; ++step) {
      const auto next = after(state, static_cast<JobStep>(step));
      table += ' ' + (next ? name(*next) : "--");
    }
    table += '\n';
  }
  // decided: resize suspend resume kill over; ordered: launch resize suspend resume; done: resize suspend resume;
  // refused: resize suspend resume. "--" is out of turn.
  EXPECT_EQ(table,
            "Rw: Rw Sw -- Ew Gw Ro -- -- -- -- -- -- -- -- --\n"
            "Ro: Ro So -- Eo Go -- Rr Rs -- -- -- -- -- -- --\n"
            "Ry: Ro So -- Ey Gy -- -- -- -- -- -- -- -- -- --\n"
            "Rr: Rr Sr -- Er Gr -- -- -- -- Ro -- -- Ry -- --\n"
            "Rs: Rs Ss -- Es Gs -- -- -- -- -- Rt -- -- Ro --\n"
            "Rt: Rt St -- Et Gt -- -- -- Rc -- -- -- -- -- --\n"
            "Rc: Rc Sc -- Ec Gc -- -- -- -- -- -- Ro -- -- Et\n"
            "Sw: -- -- Rw Ew -- So -- -- -- -- -- -- -- -- --\n"
            "So: -- -- Ro Eo -- -- Sr Ss -- -- -- -- -- -- --\n"
            "Sy: -- -- Ro Ey -- -- -- -- -- -- -- -- -- -- --\n"
            "Sr: -- -- Rr Er -- -- -- -- -- So -- -- So -- --\n"
            "Ss: -- -- Rs Es -- -- -- -- -- -- St -- -- Sy --\n"
            "St: -- -- Rt Et -- -- -- -- Sc -- -- -- -- -- --\n"
            "Sc: -- -- Rc Ec -- -- -- -- -- -- -- So -- -- St\n"
            "Gw: -- -- -- Ew -- Go -- -- -- -- -- -- -- -- --\n"
            "Go: -- -- -- Eo -- -- Gr Gs -- -- -- -- -- -- --\n"
            "Gy: -- -- -- Ey -- -- -- -- -- -- -- -- -- -- --\n"
            "Gr: -- -- -- Er -- -- -- -- -- Go -- -- Gy -- --\n"
            "Gs: -- -- -- Es -- -- -- -- -- -- Gt -- -- Go --\n"
            "Gt: -- -- -- Et -- -- -- -- Gc -- -- -- -- -- --\n"
            "Gc: -- -- -- Ec -- -- -- -- -- -- -- Go -- -- Et\n"
            "Ew: -- -- -- Ew -- Eo -- -- -- -- -- -- -- -- --\n"
            "Eo: -- -- -- Eo -- -- Er Es -- -- -- -- -- -- --\n"
            "Ey: -- -- -- Ey -- -- -- -- -- -- -- -- -- -- --\n"
            "Er: -- -- -- Er -- -- -- -- -- Eo -- -- Ey -- --\n"
            "Es: -- -- -- Es -- -- -- -- -- -- Et -- -- Eo --\n"
            "Et: -- -- -- Et -- -- -- -- Ec -- -- -- -- -- --\n"
            "Ec: -- -- -- Ec -- -- -- -- -- -- -- Eo -- -- Et\n");
}

TEST(JobLife, TheNextOrderOfEachState) {
  std::string orders;
  for (const JobState state : all_states()) {
    const auto as_planned = next_order(state, on(2), on(2)), elsewhere = next_order(state, on(2), on(4));
    if (!as_planned && !elsewhere) continue;
    orders += fmt::format("{}: {}, {}\n", name(state), order_name(as_planned), order_name(elsewhere));
  }
  EXPECT_EQ(orders,
            "Rw: launch, launch\n"
            "Ro: -, resize\n"
            "Rt: resume, resume\n"
            "So: suspend, suspend\n"
            "Gw: launch, launch\n"
            "Go: -, resize\n"
            "Gt: resume, resume\n");
}

// Decisions that a policy may take, estimates that run out where there is a limit, orders that are next, and all answers.
std::vector<JobState> next_states(JobState state) {
  std::vector<JobState> all;
  const auto add = [&](JobStep step) {
    if (const auto next = after(state, step)) all.push_back(*next);
  };
  for (const JobStep decided :
       {JobStep::kResizeDecided, JobStep::kSuspendDecided, JobStep::kResumeDecided, JobStep::kKillDecided})
    if (decided != JobStep::kKillDecided || state.physical != Physical::kWaits) add(decided);
  if (has_time_limit(state)) add(JobStep::kEstimateOver);
  for (const CoreCount planned : {2, 4})
    if (const auto order = next_order(state, on(2), on(planned))) add(*order);
  for (auto step = static_cast<std::size_t>(JobStep::kResizeDone); step < kJobSteps; ++step)
    add(static_cast<JobStep>(step));
  return all;
}

std::vector<JobState> states_that_a_job_comes_to() {
  std::vector<JobState> found{JobState{}};
  std::set<std::string> names{name(JobState{})};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const JobState next : next_states(found[i]))
      if (names.insert(name(next)).second) found.push_back(next);
  return found;
}

TEST(JobLife, AJobNeitherRunsWithoutALimitNorStopsWithoutAnEnd) {
  const auto states = states_that_a_job_comes_to();
  for (const JobState state : states) {
    SCOPED_TRACE(name(state));
    const bool is_asked_next = next_order(state, on(2), on(2)).has_value();
    const bool is_suspended = state.planned == Planned::kSuspended && !holds_cores(state);
    const bool has_its_end = state.planned == Planned::kEnds;
    if (is_with_the_body(state))
      EXPECT_FALSE(is_asked_next) << "one order at a time";
    else  // of a suspended job the policy decides
      EXPECT_TRUE(is_asked_next || has_time_limit(state) || is_suspended || has_its_end);
    EXPECT_TRUE(has_its_end || holds_cores(state) || is_asked_next != is_suspended);
  }
  EXPECT_EQ(states.size(), 23U) << "a limit ends none that wait, sleep, or are between";
}

// Whatever the order and its answer: afterwards the plan of the job can be carried out, or is given up.
TEST(JobLife, EachOrderCanBeRefusedAndLeavesTheJobWhereItWas) {
  for (const JobState state : states_that_a_job_comes_to()) {
    if (!is_with_the_body(state)) continue;
    SCOPED_TRACE(name(state));
    int answers = 0;
    for (const std::string_view action : {"resize", "suspend", "resume"}) {
      const auto next = after(state, *refusal_of(action));
      if (!next) continue;
      ++answers;
      EXPECT_EQ(holds_cores(*next), state.physical != Physical::kResuming);
      EXPECT_FALSE(is_with_the_body(*next));
      EXPECT_TRUE(next->planned == state.planned || next->planned == Planned::kEnds);
    }
    EXPECT_EQ(answers, 1) << "the answers to other orders are out of turn";
  }
  EXPECT_EQ(refusal_of("end"), std::nullopt);
}

}  // namespace
}  // namespace replay
