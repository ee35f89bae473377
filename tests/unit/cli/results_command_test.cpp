// Tests of `replay results`: it rebuilds a run's files from the event log, byte for byte, also those of a run that was
// killed or had a full disk.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/results/output_names.hpp"
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

// Of the table of outputs.
// But for nodes.csv, as no node is closed.
std::vector<std::string> files_remade() {
  std::vector<std::string> files;
  for (const results::OutputFile& output : results::output_files())
    if (output.is_remade && output.name != "nodes") files.emplace_back(output.file);
  return files;
}

class Results : public Comparing {
 protected:
  std::string text(const std::string& file) const { return text_of(folder_ / file); }
  void expect_same_files(const std::string& a, const std::string& b) const {
    for (const std::string& file : files_remade()) {
      EXPECT_FALSE(text(a + "/" + file).empty()) << a << ' ' << file;
      EXPECT_EQ(text(a + "/" + file), text(b + "/" + file)) << file << " of " << a << " and " << b;
    }
  }
  // Leaves the folder as kill -9 does: the log ends in the middle of a line, and no file was written after it.
  void kill_run() const {
    const std::string log = text("r/events.log");
    write_text(folder_ / "r/events.log", log.substr(0, log.rfind(" outcome=")));
    for (const std::string& file : files_remade())
      if (file != "run.json") fs::remove(folder_ / "r" / file);
    auto json = nlohmann::ordered_json::parse(text("r/run.json"));
    json["ended"] = nullptr;
    write_text(folder_ / "r/run.json", json.dump(2) + "\n");
  }
};

TEST_F(Results, OfACompleteRunAreTheBytesThatItWroteItselfUnderEveryPolicy) {
  fs::copy_file(REPLAY_SOURCE_DIR "/traces/samples/kth-easy-149.swf", folder_ / "kth.swf");
  const std::string policies =
      "fcfs,easy,priority-easy,conservative,plan,sjf,ljf,slack,dynp,fcfs-malleable,easy-malleable";
  for (const char* machine : {"", " --machine 25x2x2"}) {
    const ShellResult run =
        replay(fmt::format("simulate --trace kth.swf --policy {}{} --out r --force", policies, machine));
    ASSERT_EQ(run.status, 0) << run.err;
    const ShellResult made = replay("results r --out again");
    ASSERT_EQ(made.status, 0) << made.err;
    int folders = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "r")) {
      const std::string policy = entry.path().filename();
      expect_same_files("r/" + policy, "again/" + policy);
      ++folders;
    }
    EXPECT_EQ(folders, 11);
    EXPECT_EQ(replay("results r").status, 0) << "all are as they were";
    fs::remove_all(folder_ / "again");
  }
}

TEST_F(Results, AreTheFilesOfTheTableAndForceReplacesThem) {
  write_text(folder_ / "t.nodes.csv",
             "time,nodes,state,until\n1,n0,drained,2\n");  // else one of the files has no cause
  const std::string run = "simulate --trace t.swf --machine 4x1x1 --policy easy ";
  ASSERT_EQ(replay(run + "--out r").status, 0);
  for (const results::OutputFile& output : results::output_files()) {
    const std::string name{output.name}, file{output.file};
    EXPECT_FALSE(text("r/" + file).empty()) << file;
    const std::string command = fmt::format("{} --outputs {} --out one", run, name);
    ASSERT_EQ(replay(command + " --force").status, 0) << "the file of another output is replaced, before " << file;
    EXPECT_TRUE(fs::exists(folder_ / "one" / file)) << name;
    EXPECT_EQ(std::distance(fs::directory_iterator{folder_ / "one"}, {}), 1) << name;
  }
}

TEST_F(Results, OfAnInterruptedRunAreTheBytesThatItWroteItself) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --until 12s --out r").status, 0);
  EXPECT_EQ(replay("results r --out again").status, 0);
  expect_same_files("r", "again");
}

TEST_F(Results, OfAnInterruptedRunAreMarkedInTheTable) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  std::string json = text("r/run.json");
  const std::string whole = "\"interrupted\": false";
  json.replace(json.find(whole), whole.size(), "\"interrupted\": true");
  write_text(folder_ / "r/run.json", json);
  const std::string out = replay("results r").out;
  EXPECT_NE(out.find("easy (interrupted)"), std::string::npos) << out;
  EXPECT_NE(out.find("easy: interrupted: the figures are of the jobs that had come until then"), std::string::npos);
}

TEST_F(Results, PrintTheTableThatTheRunPrinted) {
  const ShellResult run = replay("simulate --trace t.swf --policy easy --out r");
  ASSERT_EQ(run.status, 0) << run.err;
  const ShellResult again = replay("results r");
  const auto table = [](const ShellResult& result) { return result.out.substr(result.out.find("machine flat:4")); };
  EXPECT_EQ(table(again), table(run)) << again.err;
  EXPECT_EQ(replay("results r --outputs none --json").out,
            replay("simulate --trace t.swf --policy easy --outputs none --json").out);
}

TEST_F(Results, OfAKilledRunAreMadeAndItsEndIsSaidToBeMissing) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  kill_run();
  const ShellResult made = replay("results r");
  EXPECT_EQ(made.status, 0) << made.err;
  for (const char* words : {"jobs.csv (made)", "series.csv (made)", "run.json (replaced)", "command, inputs and notes",
                            "the event log was cut off", "1 of the 5 jobs in the event log has no end"})
    EXPECT_NE(made.err.find(words), std::string::npos) << words << ": " << made.err;
  EXPECT_NE(made.out.find("\neasy "), std::string::npos) << made.out;
  for (const std::string& file : files_remade()) EXPECT_FALSE(text("r/" + file).empty()) << file;
  const auto json = nlohmann::ordered_json::parse(text("r/run.json"));
  EXPECT_TRUE(json["ended"].is_string());
  EXPECT_NE(json["notes"].dump().find("did not write its end"), std::string::npos);
  EXPECT_NE(json["notes"].dump().find("1 of the 5 jobs"), std::string::npos);
  EXPECT_EQ(replay("results r").status, 0) << "a second time all is as it was";
  EXPECT_EQ(static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_ / "r"}, {})),
            results::output_files().size() - 1)
      << "nothing else is left there; no node was closed";
}

TEST_F(Results, WithoutRunJsonAreMadeAndSayWhatIsMissing) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --outputs events --out r").status, 0);
  expect_says("results r", 0,
              {"there is no run.json, so command, inputs and notes are missing", "jobs.csv (made)", "easy"});
  EXPECT_FALSE(fs::exists(folder_ / "r/run.json"));
  expect_says("results r/events.log --out elsewhere", 0, {"elsewhere"});
  EXPECT_EQ(text("elsewhere/jobs.csv"), text("r/jobs.csv"));
}

TEST_F(Results, ThatAreThereAndDifferAreKeptUnlessForced) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  const std::string jobs = text("r/jobs.csv");
  write_text(folder_ / "r/jobs.csv", "of another version\n");
  expect_says("results r", 1, {"jobs.csv (DIFFERS", "series.csv (as it was)"});
  EXPECT_EQ(text("r/jobs.csv"), "of another version\n");
  expect_says("results r --force", 0, {"jobs.csv (replaced)"});
  EXPECT_EQ(text("r/jobs.csv"), jobs);
}

TEST_F(Results, AreMadeThoughMembersOfRunJsonAreOfNoUse) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  auto json = nlohmann::ordered_json::parse(text("r/run.json"));
  json["interrupted"] = "yes";
  json["jobs"] = 1'000'000'000'000'000'000;
  write_text(folder_ / "r/run.json", json.dump());
  expect_says("results r --outputs jobs,metrics", 0, {"jobs.csv (as it was)", "metrics.json (as it was)"});
}

TEST_F(Results, OfWhatIsNoRunAreAnError) {
  expect_says("results nowhere", 1, {"nowhere: expected a run's folder or its events.log"});
  expect_says("results .", 1, {"has no events.log"});
  expect_says("results t.swf", 1, {"#replay-events"});
  expect_says("results t.swf --outputs pictures", 2, {"--outputs"});
}

}  // namespace
}  // namespace replay::test
