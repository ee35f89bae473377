// Tests of the notes on the profile of a run.
#include "scheduler/experiment/profile_use.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "scheduler/experiment/hardware.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"

namespace replay::experiment {
namespace {

using namespace std::chrono_literals;

std::string note(const std::string& model, std::optional<double> turn_s, bool has_pairs = true) {
  Profile profile;
  if (has_pairs) profile.pairs = {{"cg", "W", "ep", "W", 2, {.value = 2.1}}};
  profile.turn_s = turn_s;
  Prepared run;
  run.spec.runtime_model = model;
  if (model != "isolated+pairs") run.profile = std::make_shared<const Profile>(std::move(profile));
  return note_on_turns(run, 40ms).value_or("");
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

// The notes of a run without jobs on these cores, with a profile of a machine like this one.
std::string notes(const JobsCores& cores, CoreCount profiled, const std::string& emulated = "") {
  Profile profile;
  profile.machine = machine_here(profiled);
  profile.machine.name = "node7";
  profile.machine.emulated = emulated;
  Prepared run;
  run.spec.runtime_model = kCalibrated;
  run.spec.profile = "p.json";
  run.profile = std::make_shared<const Profile>(std::move(profile));
  use_profile(run, cores, {});
  return fmt::format("{}", fmt::join(run.notes, "\n"));
}

TEST(UseProfile, ComparesTheCoresThatTheJobsRunOnAndNotAllThatAreHere) {
  using enum JobsCores::Kind;
  const CoreCount all = cores_here();
  EXPECT_EQ(notes({kHere, all + 1}, all + 1).find("another machine"), std::string::npos)
      << notes({kHere, all + 1}, all + 1);
  EXPECT_NE(notes({kHere, all + 1}, all).find(fmt::format("(cores: {} there, {} here)", all, all + 1)),
            std::string::npos);
  EXPECT_EQ(notes({kVirtual, all + 1}, all).find("another machine"), std::string::npos) << "measured on all of them";
  EXPECT_EQ(notes({kVirtual, all + 1}, all + 1, "emulated").find("another machine"), std::string::npos);
}

TEST(UseProfile, ComparesAnAgentsNodeOnlyByItsCoresAndSaysSo) {
  using enum JobsCores::Kind;
  EXPECT_NE(notes({kElsewhere, 64}, 64).find("p.json: is of node7; whether that is the agent's machine is not known"),
            std::string::npos);
  EXPECT_NE(notes({kElsewhere, 64}, 4).find("another machine (cores: 4 there, 64 here)"), std::string::npos);
}

}  // namespace
}  // namespace replay::experiment
