// Tests of `replay calibrate` with short programs on this machine's first two cores. Figures are checked for their
// order of magnitude at most, because other programs may run on the machine.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

// What follows `label` in the text, up to the next blank.
std::string field_of(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return {};
  std::string value;
  std::istringstream{text.substr(at + label.size())} >> value;
  return value;
}

class Calibrate : public testing::Test {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    options_ = {"calibrate",
                "--machine",
                "local:" + cores,
                "--quick",
                "--benchmarks",
                "ep",
                "--processes",
                "1,2",
                "-o",
                (folder_ / "p.json").string()};
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  [[nodiscard]] std::string command(const std::string& more = "") const {
    std::string words = REPLAY_PROGRAM;
    for (const std::string& word : options_) words += " " + word;
    return words + " " + more;
  }
  [[nodiscard]] Profile profile() const { return read_profile((folder_ / "p.json").string()); }
  // The benchmarks that have both ranks on one core now; a name for each such core.
  [[nodiscard]] std::vector<std::string> shrunk_jobs() const {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> cores_of_job;  // by the ranks' parent, name
    std::istringstream processes{processes_marked(folder_.path().string())};
    for (std::string pid, name; processes >> pid >> name;) {
      if (name != "ep" && name != "cg") continue;
      const std::string status = text_of("/proc/" + pid + "/status");
      cores_of_job[{field_of(status, "PPid:"), name}].push_back(field_of(status, "Cpus_allowed_list:"));
    }
    std::map<std::string, std::string> job_on;
    for (const auto& [job, used] : cores_of_job)
      if (used.size() == 2 && used[0] == used[1] && used[0].find_first_of("-,") == std::string::npos)
        job_on[used[0]] = job.second;
    std::vector<std::string> jobs;
    for (const auto& [core, name] : job_on) jobs.push_back(name);
    return jobs;
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(
        comes_true([this] { return processes_marked(folder_.path().string()).empty(); }, std::chrono::seconds{5}))
        << processes_marked(folder_.path().string());
  }

  TemporaryFolder folder_;
  std::vector<std::string> options_;
};

TEST_F(Calibrate, MeasuresWritesAndAddsTo) {
  const ShellResult first = shell(command("--budget 100s --spread 100"), folder_.path());
  ASSERT_EQ(first.status, 0) << first.out << first.err;
  const Profile measured = profile();
  EXPECT_FALSE(measured.is_sample);
  EXPECT_EQ(measured.machine.cores, 2);
  EXPECT_FALSE(measured.machine.kernel.empty());
  ASSERT_EQ(measured.entries.size(), 2U) << first.out;
  for (const ProfileEntry& entry : measured.entries) {
    EXPECT_EQ(entry.command, "ep --class S");
    EXPECT_GT(entry.runtime_s.value, 0.005);
    EXPECT_LT(entry.runtime_s.value, 20);
    EXPECT_GE(entry.runtime_s.runs, 3);
  }
  ASSERT_TRUE(measured.entries[1].cpu_use && measured.entries[1].slowdown_mpl_2) << first.out;
  EXPECT_GT(measured.entries[1].cpu_use->value, 0.3) << "ep computes nearly all the time";
  EXPECT_GT(measured.entries[1].slowdown_mpl_2->value, 1.05) << "two ranks on one core";
  EXPECT_EQ(measured.launch.size(), 3U) << "1, 2 and, on two cores, 4";
  EXPECT_EQ(measured.end.size(), 3U);
  EXPECT_EQ(measured.shrink.size(), 1U);
  EXPECT_TRUE(measured.message_s);
  EXPECT_EQ(measured.pairs.size(), 1U) << "ep beside ep";
  EXPECT_EQ(measured.turn_s, 0.04);
  EXPECT_EQ(measured.speedups.size(), 1U);
  EXPECT_NE(first.out.find("formula (3)"), std::string::npos) << first.out;

  // A second calibration adds to the profile. It may repeat disturbed measurements, so figures are not compared.
  const ShellResult second = shell(command("--budget 3s --spread 100 --classes S,W --json"), folder_.path());
  ASSERT_EQ(second.status, 0) << second.err;
  EXPECT_GE(nlohmann::json::parse(second.out)["benchmarks"].size(), 2U);
  const auto pairs_of = [this](const char* problem_class) {
    return std::ranges::count(profile().pairs, problem_class, &PairSlowdown::problem_class);
  };
  EXPECT_EQ(pairs_of("S"), 1) << "what was there";
  EXPECT_EQ(profile().launch.size(), 3U);

  // Figures of another build of the program do not count for this one.
  nlohmann::json file = nlohmann::json::parse(text_of(folder_ / "p.json"));
  EXPECT_EQ(file["benchmarks"][0]["program_sha256"].get<std::string>().size(), 64U);
  file["benchmarks"][0]["program_sha256"] = std::string(64, '0');
  write_text(folder_ / "rebuilt.json", file.dump());
  const ShellResult rebuilt = shell(std::string{REPLAY_PROGRAM} + " calibrate --machine " + options_[2] +
                                        " --benchmarks ep --classes S --budget 1s -o rebuilt.json",
                                    folder_.path());
  EXPECT_NE(rebuilt.err.find("rebuilt.json: ep built anew since"), std::string::npos) << rebuilt.err;

  // The simulator runs a trace of benchmarks with this profile.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 2\n; Program: 0 ep --class S\n1 0 -1 10 2 -1 -1 2 100 -1 1 1 1 0 1 -1 -1 -1\n");
  const ShellResult simulated = shell(std::string{REPLAY_PROGRAM} +
                                          " simulate --trace t.swf --policy fcfs --runtime-model calibrated --profile "
                                          "p.json --out out",
                                      folder_.path());
  EXPECT_EQ(simulated.status, 0) << simulated.err;
  EXPECT_EQ(nlohmann::json::parse(text_of(folder_ / "out/run.json"))["notes"].dump().find("another machine"),
            std::string::npos);
  expect_nothing_left();
}

TEST_F(Calibrate, CtrlCKeepsWhatThereIs) {
  options_.insert(options_.end(), {"--budget", "100s", "--spread", "0.001"});
  Background calibrate{REPLAY_PROGRAM, options_, folder_ / "out", folder_ / "err"};
  ASSERT_TRUE(comes_true([this] { return fs::exists(folder_ / "p.json"); })) << calibrate.err();
  calibrate.send(SIGINT);
  EXPECT_EQ(calibrate.wait(), 130) << calibrate.err();
  EXPECT_FALSE(profile().launch.empty());
  expect_nothing_left();
}

// The profile of two cores with all figures of ep and cg at two processes, but for what sharing costs ep.
Profile profile_without_sharing_of_ep() {
  const auto figure = [](double value) { return Figure{.value = value, .runs = 3}; };
  Profile profile;
  profile.machine = machine_here(2);
  for (const std::string name : {"ep", "cg"}) {
    ProfileEntry& entry = profile.entries.emplace_back();
    entry.benchmark = name;
    entry.problem_class = "S";
    entry.processes = 2;
    entry.command = name + " --class S";
    entry.runtime_s = figure(0.1);
    for (const std::string neighbour : {"ep", "cg"}) profile.pairs.push_back({name, "S", neighbour, "S", 2, figure(2)});
  }
  profile.turn_s = 0.04;
  profile.entries.back().cpu_use = figure(0.9);
  profile.entries.back().slowdown_mpl_2 = figure(2);
  for (const ProcessCount processes : {2, 4}) {
    profile.launch.push_back({processes, figure(0.1)});
    profile.end.push_back({processes, figure(0.01)});
  }
  profile.shrink = profile.expand = {{2, figure(0.001)}};
  profile.message_s = figure(1e-5);
  return profile;
}

// A scheduler shrinks a job to start another one on the freed cores, so sharing is measured like that: first with a
// copy of the same benchmark, in the next reading with another one. The profile has all else, so that it comes at once.
TEST_F(Calibrate, RunsEachBenchmarkInTurnOnTheCoresThatAShrunkJobGivesUp) {
  options_[5] = "ep,cg";
  options_[7] = "2";
  write_profile(profile_without_sharing_of_ep(), folder_ / "p.json");
  Background calibrate{REPLAY_PROGRAM, options_, folder_ / "out", folder_ / "err"};
  std::vector<std::string> jobs;
  EXPECT_TRUE(comes_true([&] { return (jobs = shrunk_jobs()).size() == 2; }, std::chrono::seconds{60}))
      << calibrate.err();
  EXPECT_EQ(jobs, (std::vector<std::string>{"ep", "ep"}));
  EXPECT_TRUE(comes_true(
      [&] {
        jobs = shrunk_jobs();
        return jobs.size() == 2 && jobs[0] != jobs[1];
      },
      std::chrono::seconds{100}))
      << calibrate.err();
  EXPECT_NE(calibrate.err().find(": 1 measurements to make, 11 are there"), std::string::npos) << calibrate.err();
  calibrate.send(SIGINT);
  EXPECT_EQ(calibrate.wait(), 130) << calibrate.err();
  expect_nothing_left();
}

TEST_F(Calibrate, OfEmulatedCoresHasLaunchEndResizesAndMessages) {
  options_ = {
      "calibrate", "--machine", "emulated:1x1x2", "--quick", "--spread", "100", "-o", (folder_ / "p.json").string()};
  const ShellResult result = shell(command(), folder_.path());
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const Profile measured = profile();
  EXPECT_TRUE(measured.entries.empty());
  EXPECT_EQ(measured.launch.size(), 2U);
  EXPECT_EQ(measured.expand.size(), 1U);
  ASSERT_TRUE(measured.message_s);
  EXPECT_LT(measured.message_s->value, 0.02);
  EXPECT_NE(measured.machine.name.find("emulated:1x1x2"), std::string::npos);
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
