// Tests of the notes on the profile of a run.
#include "scheduler/experiment/calibrated_scenario.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace replay::experiment {
namespace {

using namespace std::chrono_literals;

std::string note(const std::string& model, std::optional<double> turn_s, bool has_pairs = true) {
  Profile profile;
  if (has_pairs) profile.pairs = {{"cg", "W", "ep", "W", 2, {.value = 2.1}}};
  profile.turn_s = turn_s;
  Scenario scenario;
  scenario.runtime_model = model;
  if (model != "isolated+pairs") scenario.profile = std::make_shared<const Profile>(std::move(profile));
  return note_on_turns(scenario, 40ms).value_or("");
}

TEST(NoteOnTurns, SaysWhenPairsWereMeasuredWithOtherTurns) {
  EXPECT_EQ(note("calibrated+pairs", 0.04), "");
  EXPECT_EQ(note("calibrated+pairs", 0.02),
            "jobs on the same cores take turns of 40 ms, the pairs of the profile were measured with turns of 20 ms");
  EXPECT_EQ(note("calibrated+pairs", 0.0),
            "jobs on the same cores take turns of 40 ms, the pairs of the profile were measured with turns of 0 ms");
  EXPECT_EQ(
      note("calibrated+pairs", std::nullopt),
      "jobs on the same cores take turns of 40 ms, the pairs of the profile were measured with turns that it does "
      "not state");
  EXPECT_EQ(note("calibrated+pairs", 0.02, false), "") << "no pair was measured";
  EXPECT_EQ(note("calibrated", 0.02), "") << "reads no pairs";
  EXPECT_EQ(note("isolated+pairs", 0.02), "") << "reads no profile";
}

}  // namespace
}  // namespace replay::experiment
