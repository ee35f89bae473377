// Tests of the profile's file: it is read back as written, and errors name their place.
#include "scheduler/runtime_model/profile_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay {
namespace {

const std::string kSample = (std::filesystem::path(REPLAY_SOURCE_DIR) / "traces/samples/profile.json").string();

nlohmann::json sample_json() { return nlohmann::json::parse(test::text_of(kSample)); }

std::string message(const nlohmann::json& json) {
  try {
    (void)profile_of(json, "p.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ProfileFile, TheSampleComesBackAsItWas) {
  const Profile profile = read_profile(kSample);
  EXPECT_TRUE(profile.is_sample);
  EXPECT_EQ(profile.entries.size(), 10U);
  EXPECT_EQ(profile.speedups.at(0).points.size(), 3U);
  EXPECT_EQ(profile.entries.at(3).self_slowdown.two_same_package->value, 1.2);
  EXPECT_EQ(to_json(profile), sample_json());
  const TemporaryFolder folder;
  write_profile(profile, (folder / "p.json").string());
  EXPECT_EQ(read_profile((folder / "p.json").string()), profile);
}

TEST(ProfileFile, FiguresOfSeveralNodesComeBackAsTheyWere) {
  Profile profile = read_profile(kSample);
  profile.machine.nodes = "2x1x2";
  profile.machine.hosts = {"node1", "node2"};
  ProfileEntry& entry =
      *std::ranges::find_if(profile.entries, [](const ProfileEntry& one) { return one.processes == 4; });
  const auto at = static_cast<std::size_t>(&entry - profile.entries.data());
  entry.nodes = 1;
  entry.on_more_nodes = {{2, {1.5, 0.01, 3}}, {3, {1.75, 0, 3}}};
  CostsOnNodes& costs = profile.over_nodes.emplace_back();
  costs.launch = {{2, {0.25, 0, 3}}, {4, {0.5, 0, 3}}};
  costs.shrink = {{4, {0.125, 0, 3}}};
  EXPECT_EQ(profile_of(to_json(profile), "p.json"), profile);
  nlohmann::json json = to_json(profile);
  json["over_nodes"][0]["nodes"] = 1;
  EXPECT_EQ(message(json), "p.json: over_nodes[0].nodes: expected more than 1, in ascending order, found 1");
  json = to_json(profile);
  const std::string place = "p.json: benchmarks[" + std::to_string(at) + "].";
  json["benchmarks"][at]["on_more_nodes"][1]["nodes"] = 2;
  EXPECT_EQ(message(json), place + "on_more_nodes[1].nodes: expected more than 2, in ascending order, found 2");
  json["benchmarks"][at]["on_more_nodes"][1]["nodes"] = 5;
  EXPECT_EQ(message(json), place + "on_more_nodes[1].nodes: expected at most 4, found 5");
  json["benchmarks"][at]["nodes"] = 5;
  EXPECT_EQ(message(json), place + "nodes: expected at most 4, found 5");
  json = to_json(profile);
  json["over_nodes"][0]["nodes"] = 9999999;
  EXPECT_EQ(message(json), "p.json: over_nodes[0].nodes: expected at most 4, found 9999999");
  json = to_json(profile);
  json["machine"]["hosts"] = {"node1", "node1"};
  EXPECT_EQ(message(json), "p.json: machine.hosts[1]: expected each host once, found \"node1\"");
  json["machine"]["hosts"] = {"node1"};
  EXPECT_NE(message(json).find("machine.hosts: expected as many as there are nodes, 2, found"), std::string::npos);
  json = to_json(profile);
  json["machine"]["emulated"] = "x";
  EXPECT_EQ(message(json), "p.json: machine.emulated: expected nodes such as emulated:2x1x4, found \"x\"");
  json = to_json(profile);
  json["machine"]["nodes"] = "banana";
  EXPECT_EQ(message(json), "p.json: machine.nodes: expected nodes such as 2x1x4, found \"banana\"");
  json["machine"]["nodes"] = "9x1x1";
  EXPECT_EQ(message(json), "p.json: machine.nodes: expected nodes with 4 cores, found \"9x1x1\"");
}

TEST(ProfileFile, ErrorsNameThePlace) {
  nlohmann::json json = sample_json();
  json["version"] = 2;
  EXPECT_EQ(message(json), "p.json: version: expected 1: replay calibrate writes a new one, found 2");
  json = sample_json();
  json["benchmarks"][1]["run_time_s"]["value"] = -1;
  EXPECT_EQ(message(json), "p.json: benchmarks[1].run_time_s.value: expected a number 1e-09..1000000, found -1");
  json = sample_json();
  json["benchmarks"][0].erase("command");
  EXPECT_NE(message(json).find("p.json: benchmarks[0]: expected a member 'command'"), std::string::npos);
  json = sample_json();
  json["benchmarks"][1]["processes"] = 1;
  EXPECT_NE(message(json).find(
                "benchmarks[1].processes: expected each benchmark, class and number of processes once, found 1"),
            std::string::npos);
  json = sample_json();
  json["benchmarks"][1] = json["benchmarks"][0];
  json["benchmarks"][1]["benchmark"] = "another";
  EXPECT_NE(message(json).find("benchmarks[1].command: expected each command with a number of processes once"),
            std::string::npos);
  json = sample_json();
  json["turn_s"] = -1;
  EXPECT_EQ(message(json), "p.json: turn_s: expected a number 0..1, found -1");
  json = sample_json();
  ASSERT_FALSE(json["pairs"].empty());
  json["pairs"].push_back(json["pairs"][0]);
  EXPECT_NE(message(json).find("expected each pair with a number of processes once"), std::string::npos);
  json = sample_json();
  json["launch"][0]["seconds"]["value"] = 1e13;
  EXPECT_EQ(message(json), "p.json: launch[0].seconds.value: expected a number 0..1000000, found 10000000000000.0");
  json = sample_json();
  json["speedups"][0]["fit"] = "straight";
  EXPECT_NE(message(json).find("speedups[0].fit: expected a speedup such as"), std::string::npos);
  EXPECT_NE(message(nlohmann::json::array()).find("expected a profile of a machine"), std::string::npos);
}

TEST(ProfileFile, ALittleFileOfManyBracketsIsAnErrorAndNoCrash) {
  const TemporaryFolder folder;
  const std::size_t depth = 200'000;
  test::write_text(folder / "deep.json", std::string(depth, '[') + std::string(depth, ']'));
  try {
    (void)read_profile((folder / "deep.json").string());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("at most 64 lists and objects in each other"), std::string::npos)
        << error.what();
  }
}

TEST(ProfileFile, AFileThatCannotBeReplacedLeavesNothingBehind) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "p.json/in the way");
  EXPECT_THROW(write_profile(read_profile(kSample), (folder / "p.json").string()), InputError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(ProfileFile, WhatIsNoFileOrNoJsonIsSaidSo) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_profile((folder / "none.json").string()), InputError);
  EXPECT_THROW((void)read_profile(folder.path().string()), InputError);
  test::write_text(folder / "cut.json", test::text_of(kSample).substr(0, 100));
  EXPECT_THROW((void)read_profile((folder / "cut.json").string()), InputError);
}

}  // namespace
}  // namespace replay
