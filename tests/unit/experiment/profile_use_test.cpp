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

// The notes of a run without jobs on these cores, with a profile of that machine.
std::string notes(const JobsCores& cores, ProfileMachine machine) {
  Profile profile;
  profile.machine = std::move(machine);
  Prepared run;
  run.spec.runtime_model = kCalibrated;
  run.spec.profile = "p.json";
  run.profile = std::make_shared<const Profile>(std::move(profile));
  use_profile(run, cores, {});
  return fmt::format("{}", fmt::join(run.notes, "\n"));
}

// With a profile of a machine like this one.
std::string notes(const JobsCores& cores, CoreCount profiled, const std::string& emulated = "") {
  ProfileMachine machine = machine_here(profiled);
  machine.name = "node7";
  machine.emulated = emulated;
  return notes(cores, std::move(machine));
}

TEST(UseProfile, ComparesTheCoresThatTheJobsRunOnAndNotAllThatAreHere) {
  using enum JobsCores::Kind;
  const CoreCount all = cores_here();
  EXPECT_EQ(notes({kHere, Machine::pool(all + 1)}, all + 1).find("another machine"), std::string::npos)
      << notes({kHere, Machine::pool(all + 1)}, all + 1);
  EXPECT_NE(notes({kHere, Machine::pool(all + 1)}, all).find(fmt::format("(cores: {} there, {} here)", all, all + 1)),
            std::string::npos);
  EXPECT_EQ(notes({kVirtual, Machine::pool(all + 1)}, all).find("another machine"), std::string::npos)
      << "measured on all of them";
  EXPECT_NE(notes({kHere, Machine::pool(all)}, all, "emulated:1x1x2")
                .find("p.json: is of as many virtual cores (emulated:1x1x2), and jobs run on real ones"),
            std::string::npos);
  EXPECT_EQ(notes({kVirtual, Machine::pool(all + 1)}, all + 1, "emulated").find("another machine"), std::string::npos);
}

TEST(UseProfile, ComparesAnAgentsNodeOnlyByItsCoresAndSaysSo) {
  using enum JobsCores::Kind;
  EXPECT_NE(notes({kElsewhere, Machine::pool(64)}, 64)
                .find("p.json: is of node7; whether that is the agent's machine is not known"),
            std::string::npos);
  EXPECT_NE(notes({kElsewhere, Machine::pool(64)}, 4).find("another machine (cores: 4 there, 64 here)"),
            std::string::npos);
}

TEST(UseProfile, ComparesHostsByTheirCoresAndInARealRunByTheirNames) {
  using enum JobsCores::Kind;
  const Machine two = Machine::cluster(2, 1, 4), four = Machine::cluster(4, 1, 2);
  ProfileMachine hosts;
  hosts.cores = 8;
  hosts.nodes = "2x1x4";
  hosts.hosts = {"node1", "node2"};
  const std::string all_fits = "0 of 0 jobs are benchmarks of p.json (), with run times as measured";
  EXPECT_EQ(notes({kVirtual, two}, hosts).find(all_fits), 0U) << notes({kVirtual, two}, hosts);
  EXPECT_EQ(notes({kElsewhere, two, {"node1", "node2"}}, hosts).find(all_fits), 0U);
  EXPECT_NE(notes({kVirtual, four}, hosts).find("another machine (nodes: 2x1x4 there, 4x1x2 here)"), std::string::npos);
  EXPECT_NE(notes({kElsewhere, two, {"node1", "node3"}}, hosts).find("(hosts: node1,node2 there, node1,node3 here)"),
            std::string::npos);
}

}  // namespace
}  // namespace replay::experiment
