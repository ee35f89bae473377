// Tests of `replay calibrate` and `--runtime-model calibrated` as far as they start no MPI program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/calibrate/report.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "tests/support/first_core.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

const std::string kSample = (std::filesystem::path(REPLAY_SOURCE_DIR) / "traces/samples/profile.json").string();

class Calibrated : public testing::Test {
 protected:
  /// Two jobs: a benchmark of the sample, and one with the run time of the trace.
  void write_trace(const std::string& program, int processes = 2) {
    write_text(folder_ / "t.swf", "; MaxProcs: 4\n; Program: 0 " + program +
                                      "\n"
                                      "1 0 -1 10 " +
                                      std::to_string(processes) + " -1 -1 " + std::to_string(processes) +
                                      " 100 -1 1 1 1 0 1 -1 -1 -1\n"
                                      "2 50 -1 10 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1\n");
  }
  [[nodiscard]] ShellResult simulate(const std::string& options) const {
    return shell(std::string{REPLAY_PROGRAM} + " simulate --trace t.swf --policy fcfs --out out " +
                     (options.find("--machine ") == std::string::npos ? "--machine 1x1x4 " : "") + options,
                 folder_.path());
  }
  [[nodiscard]] nlohmann::json run_json() const { return nlohmann::json::parse(text_of(folder_ / "out/run.json")); }

  TemporaryFolder folder_;
};

TEST_F(Calibrated, JobsRunAsLongAsMeasured) {
  write_trace("cg --class W");
  const ShellResult result = simulate("--runtime-model calibrated --profile " + kSample);
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string swf = text_of(folder_ / "out/schedule.swf");
  // cg W at 2: 0.35 s, launch 0.1333 s (between 1 and 4 processes), end 0.02 s.
  EXPECT_NE(text_of(folder_ / "out/events.log").find("0.503333"), std::string::npos)
      << text_of(folder_ / "out/events.log");
  EXPECT_NE(text_of(folder_ / "out/events.log").find("60.12"), std::string::npos) << "10 s, launch 0.1 s, end 0.02 s";
  const nlohmann::json run = run_json();
  EXPECT_EQ(run["runtime_model"], "calibrated");
  EXPECT_NE(run["notes"].dump().find("is a sample, of no real machine"), std::string::npos) << run["notes"];
  EXPECT_NE(run["notes"].dump().find("1 of 2 jobs are benchmarks of "), std::string::npos) << run["notes"];
  EXPECT_NE(run["inputs"].dump().find("profile.json"), std::string::npos) << "the profile is an input of the run";
}

TEST_F(Calibrated, AJobOverNodesCountsAsOnOneWhereNothingElseWasMeasuredAndThatIsSaid) {
  write_trace("cg --class W");
  const std::string on_two = "--machine 4x1x1 --runtime-model calibrated --profile ";
  const ShellResult without = simulate(on_two + kSample);
  ASSERT_EQ(without.status, 0) << without.err;
  const std::string said = "a job over several nodes is assumed to run as on one: ";
  EXPECT_NE((without.out + without.err).find(said), std::string::npos) << without.out << without.err;
  EXPECT_NE(text_of(folder_ / "out/events.log").find("0.503333 finish job=1"), std::string::npos);

  Profile profile = read_profile(kSample);
  for (ProfileEntry& entry : profile.entries)
    if (entry.command == "cg --class W" && entry.processes == 2) entry.on_more_nodes = {{2, {0.7, 0, 3}}};
  profile.over_nodes.emplace_back().launch = {{2, {0.2, 0, 3}}};
  write_profile(profile, folder_ / "p.json");
  const ShellResult with = simulate(on_two + "p.json --force");
  ASSERT_EQ(with.status, 0) << with.err;
  EXPECT_EQ((with.out + with.err).find(said), std::string::npos) << with.out << with.err;
  EXPECT_NE(text_of(folder_ / "out/events.log").find("0.92 finish job=1"), std::string::npos)
      << "0.7 s, launch 0.2 s, end 0.02 s as on one node";
}

TEST_F(Calibrated, AProfileOfAnotherMachineIsFlaggedWithWhatDiffers) {
  nlohmann::json profile = nlohmann::json::parse(text_of(kSample));
  profile["sample"] = false;
  write_text(folder_ / "other.json", profile.dump());
  write_trace("cg --class W");
  ASSERT_EQ(simulate("--runtime-model calibrated --profile other.json").status, 0);
  const std::string notes = run_json()["notes"].dump();
  EXPECT_NE(notes.find("other.json: is the profile of another machine ("), std::string::npos) << notes;
  EXPECT_NE(notes.find("kernel: none there, Linux "), std::string::npos) << notes;
}

TEST_F(Calibrated, AProfileOfSomeCoresIsComparedWithAMachineOfSomeCores) {
  Profile profile = read_profile(kSample);
  profile.is_sample = false;
  profile.machine = machine_here(1);
  write_profile(profile, folder_ / "one.json");
  write_trace("cg --class W", 1);
  const ShellResult result = shell(std::string{REPLAY_PROGRAM} +
                                       " simulate --trace t.swf --policy fcfs --out out --runtime-model calibrated "
                                       "--profile one.json --machine local:" +
                                       first_core(),
                                   folder_.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(run_json()["notes"].dump().find("another machine"), std::string::npos) << run_json()["notes"];
}

TEST_F(Calibrated, WhatWasNotMeasuredNamesTheCommand) {
  write_trace("cg --class W", 3);
  ShellResult result = simulate("--runtime-model calibrated --profile " + kSample);
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("job 1 runs 'cg --class W' with 3 processes, which was not measured: `replay calibrate "
                            "--benchmarks cg --classes W --processes 3 -o "),
            std::string::npos)
      << result.err;
}

TEST_F(Calibrated, WrongProfilesAreRefused) {
  write_trace("cg --class W");
  nlohmann::json profile = nlohmann::json::parse(text_of(kSample));
  profile["version"] = 7;
  write_text(folder_ / "new.json", profile.dump());
  write_text(folder_ / "cut.json", profile.dump().substr(0, 200));
  EXPECT_NE(simulate("--runtime-model calibrated --profile new.json")
                .err.find("new.json: version: expected 1: replay calibrate writes a new one, found 7"),
            std::string::npos);
  EXPECT_NE(simulate("--runtime-model calibrated --profile cut.json").err.find("cut.json: expected a profile in JSON"),
            std::string::npos);
  const ShellResult missing =
      shell("XDG_DATA_HOME=" + folder_.path().string() + "/none " + REPLAY_PROGRAM +
                " simulate --trace t.swf --policy fcfs --runtime-model calibrated --outputs none",
            folder_.path());
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(
      missing.err.find("none/replay/profile.json: there is no profile of this machine: `replay calibrate` makes one"),
      std::string::npos)
      << missing.err;
  const ShellResult useless = simulate("--runtime-model utrera --profile new.json");
  EXPECT_EQ(useless.status, 2);
  EXPECT_NE(useless.err.find("--profile: the runtime model utrera reads none"), std::string::npos) << useless.err;
}

TEST_F(Calibrated, WrongOptionsAreSaidBeforeAnythingIsMeasured) {
  const auto calibrate = [this](const std::string& options) {
    return shell(std::string{REPLAY_PROGRAM} + " calibrate -o p.json " + options, folder_.path());
  };
  const std::pair<const char*, const char*> cases[] = {
      {"--benchmarks cf", "--benchmarks: expected some of ep,cg,is,mg,ft,lu, found 'cf'"},
      {"--classes S,C", "--classes: expected some of S,W,A,B, found 'C'"},
      {"--processes 1,0", "--processes: expected counts from 1 to "},
      {"--processes 100000", "--processes: expected counts from 1 to "},
      {"--budget soon", "--budget: expected a duration such as 90s or 15min, found 'soon'"},
      {"--spread 0", "--spread: expected per cent above 0 and up to 100, found 0"},
      {"--machine emulated:1x1x2 --benchmarks xx", "--benchmarks xx: on emulated cores no benchmark is measured"},
      {"--machine emulated:1x1x2 --classes S", "--classes S: on emulated cores no benchmark is measured"},
      {"--lease 5s", "--lease 5s: --machine local is here: expected hosts:FILE, slurm, pbs or agent:HOST:PORT"},
      {"--machine emulated:1x1x2 --agent-key k", "--agent-key k: --machine emulated:1x1x2 is here"},
      {"--machine agent:nowhere:1", "--machine agent:HOST:PORT needs --agent-key FILE"}};
  for (const auto& [options, message] : cases) {
    const ShellResult result = calibrate(options);
    EXPECT_NE(result.status, 0) << options;
    EXPECT_NE(result.err.find(message), std::string::npos) << options << ": " << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "p.json"));
}

TEST_F(Calibrated, ASampleOrAnotherMachinesProfileIsNotAddedTo) {
  const ShellResult result =
      shell(std::string{REPLAY_PROGRAM} + " calibrate --benchmarks ep --classes S -o " + kSample, folder_.path());
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("is a sample, of no real machine; -o puts the figures elsewhere, --fresh replaces it"),
            std::string::npos)
      << result.err;
  nlohmann::json profile = nlohmann::json::parse(text_of(kSample));
  profile["sample"] = false;
  write_text(folder_ / "other.json", profile.dump());
  const ShellResult other =
      shell(std::string{REPLAY_PROGRAM} + " calibrate --benchmarks ep --classes S -o other.json", folder_.path());
  EXPECT_NE(other.err.find("other.json: is the profile of another machine (CPU: made up there, "), std::string::npos)
      << other.err;
}

TEST_F(Calibrated, FiguresOfEmulatedAndOfOwnCoresDoNotMix) {
  nlohmann::json profile = nlohmann::json::parse(text_of(kSample));
  profile["sample"] = false;
  const ProfileMachine here = machine_here(1);
  profile["machine"] = {{"name", here.name}, {"cores", 1}, {"emulated", "emulated:1x1x1"}};
  write_text(folder_ / "emulated.json", profile.dump());
  profile["machine"].erase("emulated");
  write_text(folder_ / "own.json", profile.dump());
  const auto expect_refused = [this](const std::string& options, const char* message) {
    const ShellResult result = shell(std::string{REPLAY_PROGRAM} + " calibrate " + options, folder_.path());
    EXPECT_EQ(result.status, 1) << options;
    EXPECT_NE(result.err.find(message), std::string::npos) << options << ": " << result.err;
  };
  expect_refused("--machine emulated:1x1x1 -o own.json",
                 "own.json: is a profile of the machine's own cores, expected one of emulated:1x1x1");
  expect_refused("--machine local:" + first_core() + " --benchmarks ep --classes S -o emulated.json",
                 "emulated.json: is a profile of emulated:1x1x1, expected one of the machine's own cores");
}

TEST(MachineFacts, DifferBetweenMachinesButNotInTheirNames) {
  const ProfileMachine here{.name = "a", .cpu = "x", .kernel = "Linux 6", .mpi = "MPICH 4", .cores = 2};
  ProfileMachine there = here;
  there.name = "b";
  EXPECT_TRUE(differences(there, here).empty());
  there.kernel = "Linux 5";
  there.cores = 4;
  there.mpi.clear();
  EXPECT_EQ(differences(there, here),
            (std::vector<std::string>{"cores: 4 there, 2 here", "kernel: Linux 5 there, Linux 6 here"}));
  EXPECT_FALSE(machine_here(1).kernel.empty());
}

TEST(CalibrationReport, SpeedupsSayWhichPointsAreOfSeveralNodes) {
  Profile profile = read_profile(kSample);
  for (ProfileEntry& entry : profile.entries)
    if (entry.processes == 4) entry.nodes = 2;
  const std::string text = calibrate::profile_text(profile, 0.05);
  EXPECT_NE(text.find("1: 1.00, 2: 1.71, 4 on 2 nodes: 2.73"), std::string::npos) << text;
}

TEST(ProfileFile, MembersOfACalibrationComeBack) {
  Profile profile = read_profile(kSample);
  profile.spread_bound = 0.05;
  profile.turn_s = 0.04;
  profile.entries[0].runtime_s.disturbed = true;
  EXPECT_EQ(profile_of(to_json(profile), "p.json"), profile);
}

}  // namespace
}  // namespace replay::test
