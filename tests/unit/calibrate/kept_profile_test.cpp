// Tests of what a calibration keeps of an earlier one.
#include "scheduler/calibrate/kept_profile.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::calibrate {
namespace {

// The number of pairs that are left for a calibration with turns of `now` after one with turns of `then`, and how many
// it says it has dropped.
struct Left {
  std::size_t pairs, dropped;
  bool operator==(const Left&) const = default;
};
Left left_of_two_pairs(std::optional<double> then, double now) {
  const TemporaryFolder folder;
  const auto file = folder / "p.json";
  Profile profile;
  profile.machine = machine_here(2);
  profile.date = "2026-11-25";
  profile.pairs = {{"cg", "W", "ep", "W", 2, {.value = 2.1}}, {"ep", "W", "cg", "W", 2, {.value = 2}}};
  profile.turn_s = then;
  write_profile(profile, file.string());
  KeptProfile kept{file, machine_here(2), false};
  const std::size_t dropped = kept.measure_in_turns(now);
  kept.write();
  const Profile written = read_profile(file.string());
  EXPECT_EQ(written.turn_s, now);
  return {written.pairs.size(), dropped};
}

TEST(KeptProfile, KeepsPairsOfTurnsOfTheSameLengthOnly) {
  EXPECT_EQ(left_of_two_pairs(0.04, 0.04), (Left{2, 0}));
  EXPECT_EQ(left_of_two_pairs(0, 0), (Left{2, 0}));
  EXPECT_EQ(left_of_two_pairs(0.02, 0.04), (Left{0, 2}));
  EXPECT_EQ(left_of_two_pairs(0.04, 0), (Left{0, 2}));
  EXPECT_EQ(left_of_two_pairs(std::nullopt, 0.04), (Left{0, 2})) << "of a profile that does not say it";
}

TEST(KeptProfile, IsNotAddedToOnOtherHosts) {
  const TemporaryFolder folder;
  const auto file = folder / "p.json";
  ProfileMachine two;
  two.cores = 4;
  two.nodes = "2x1x2";
  two.hosts = {"node1", "node2"};
  KeptProfile(file, two, false).write();
  EXPECT_NO_THROW((KeptProfile{file, two, false}));
  const auto message = [&file](const ProfileMachine& here) -> std::string {
    try {
      const KeptProfile kept{file, here, false};
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  ProfileMachine others = two;
  others.hosts[1] = "node3";
  EXPECT_NE(message(others).find("another machine (hosts: node1,node2 there, node1,node3 here)"), std::string::npos)
      << message(others);
  EXPECT_NE(message(machine_here(4)).find("is a profile of hosts, 2x1x2, expected one of one machine"),
            std::string::npos)
      << message(machine_here(4));
}

}  // namespace
}  // namespace replay::calibrate
