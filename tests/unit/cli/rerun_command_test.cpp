// Tests of `replay rerun` and of the command lines that it parses.
#include <nlohmann/json.hpp>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

using Rerun = Comparing;

TEST_F(Rerun, ASimulationComesOutTheSameByteForByte) {
  simulate_both();
  expect_says("rerun runs/easy --out again", 0, {"the same, byte for byte"});
  EXPECT_EQ(text_of(folder_ / "again" / "events.log"), text_of(folder_ / "runs" / "easy" / "events.log"));
  EXPECT_EQ(text_of(folder_ / "again" / "jobs.csv"), text_of(folder_ / "runs" / "easy" / "jobs.csv"));
}

TEST_F(Rerun, AllPoliciesOfAFolderAreRepeated) {
  simulate_both();
  expect_says("rerun runs --out again", 0, {"runs/easy again", "runs/fcfs again"});
  EXPECT_EQ(text_of(folder_ / "again" / "fcfs" / "events.log"), text_of(folder_ / "runs" / "fcfs" / "events.log"));
}

TEST_F(Rerun, ParametersSeedAndOddNamesAreKept) {
  write_text(folder_ / "it's {one} file.swf", kFiveJobs);
  const std::string run = "simulate --trace \"it's {one} file.swf\" --policy easy-malleable:max_mpl=3 --seed 7 --out=r";
  ASSERT_EQ(replay(run).status, 0);
  expect_says("rerun r", 0, {"the same, byte for byte"});
  expect_says("rerun r --out r2 --json", 0, {"\"same_bytes\": true"});
}

TEST_F(Rerun, TheRunIsNamedByItsOwnWords) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy,fcfs --machine flat:4 --until=2min --json --out runs").status,
            0);
  const auto json = nlohmann::json::parse(text_of(folder_ / "runs" / "fcfs" / "run.json"));
  EXPECT_EQ(json["run"], (nlohmann::json{"simulate", "--trace", "t.swf", "--policy", "fcfs", "--machine", "flat:4",
                                         "--runtime-model", "utrera", "--until", "2min"}));
}

TEST_F(Rerun, FromAnotherFolderPathsAreFound) {
  simulate_both();
  std::filesystem::create_directory(folder_ / "elsewhere");
  const ShellResult result = replay("rerun ../runs/easy --out again", "elsewhere");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("byte for byte"), std::string::npos) << result.out;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "elsewhere" / "again" / "events.log"));
}

TEST_F(Rerun, AFolderThatWasMovedWithItsTraceIsFound) {
  std::filesystem::create_directory(folder_ / "old");
  write_text(folder_ / "old" / "study.swf", kFiveJobs);
  ASSERT_EQ(replay("simulate --trace study.swf --policy easy --out r", "old").status, 0);
  std::filesystem::rename(folder_ / "old", folder_ / "new");
  expect_says("rerun new/r --out again", 0, {"byte for byte"});
}

TEST_F(Rerun, AnInputThatHasChangedIsNamed) {
  simulate_both();
  std::string changed = kFiveJobs;
  changed.replace(changed.find("5 4 -1"), 6, "5 5 -1");
  write_text(folder_ / "t.swf", changed);
  expect_says("rerun runs/easy --out again", 1, {"t.swf: has changed since the run", "sha256", "--force-inputs"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "again")) << "nothing was begun";
  expect_says("rerun runs/easy --out again --force-inputs", 1,
              {"t.swf: has changed", "the event logs are NOT the same", "job 5 comes at 4 s in A, at 5 s in B"});
}

TEST_F(Rerun, AnInputThatIsGoneOrHasComeIsNamed) {
  simulate_both();
  write_text(folder_ / "t.jobs.csv", "job,flexibility\n1,rigid\n");
  expect_says("rerun runs/easy", 1, {"t.jobs.csv: is beside the trace now"});
  std::filesystem::remove(folder_ / "t.jobs.csv");
  std::filesystem::remove(folder_ / "t.swf");
  expect_says("rerun runs/easy", 1, {"t.swf: is an input of the run, and is not there"});
}

// A file of the same name further up belongs to another run, even with --force-inputs.
TEST_F(Rerun, AFileOfThatNameFurtherUpIsNoInput) {
  std::filesystem::create_directory(folder_ / "deep");
  std::filesystem::rename(folder_ / "t.swf", folder_ / "deep" / "t.swf");
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r", "deep").status, 0);
  std::filesystem::remove(folder_ / "deep" / "t.swf");
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 10 3 -1 -1 3 10 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result = replay("rerun r --out again --force-inputs", "deep");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("deep/t.swf: is an input of the run, and is not there"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("No such file"), std::string::npos) << result.err;
}

TEST_F(Rerun, NeverReplacesARun) {
  simulate_both();
  const std::string before = text_of(folder_ / "runs" / "easy" / "run.json");
  expect_says("rerun runs/easy --out runs/easy", 1, {"runs/easy", "exists already"});
  expect_says("rerun runs/easy --out runs", 1, {"exists already"});
  EXPECT_EQ(text_of(folder_ / "runs" / "easy" / "run.json"), before);
}

TEST_F(Rerun, WhatCannotBeRepeatedSaysWhy) {
  expect_says("rerun nowhere", 1, {"nowhere", "run's folder"});
  expect_says("rerun .", 1, {"no run.json"});
  ASSERT_EQ(
      shell(std::string{REPLAY_PROGRAM} + " simulate --trace - --policy easy --out r <t.swf", folder_.path()).status,
      0);
  expect_says("rerun r", 1, {"standard input"});
  write_text(folder_ / "r" / "run.json", "{\"format\": \"replay-run 1\"}");
  expect_says("rerun r", 1, {"run.json", "'run'"});
  write_text(folder_ / "r" / "run.json", "{");
  expect_says("rerun r", 1, {"run.json", "JSON"});
}

TEST_F(Rerun, AMemberOfRunJsonOfAnotherTypeIsNamed) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  const auto whole = nlohmann::ordered_json::parse(text_of(folder_ / "r/run.json"));
  const auto expect_named = [&](const char* member, const nlohmann::ordered_json& value, const char* place) {
    auto json = whole;
    json[member] = value;
    write_text(folder_ / "r/run.json", json.dump());
    expect_says("rerun r --out again", 1, {"r/run.json: ", place});
  };
  expect_named("run", "simulate", "run: expected a list, found \"simulate\"");
  expect_named("working_folder", 5, "working_folder: expected a folder, found 5");
  expect_named("versions", {{"replay", 3}}, "versions.replay: expected a version, found 3");
  expect_named("interrupted", "yes", "interrupted: expected true or false, found \"yes\"");
}

// Copying such a value, as reading its fields does, takes a stack frame for each bracket.
TEST_F(Rerun, ARunJsonOfManyBracketsIsAnErrorAndNoCrash) {
  simulate_both();
  const auto file = folder_ / "runs" / "easy" / "run.json";
  const std::string good = text_of(file);
  for (const char* field : {"parameters", "inputs"}) {
    auto json = nlohmann::ordered_json::parse(good);
    json[field] = "here";
    std::string text = json.dump();
    text.replace(text.find("\"here\""), 6, std::string(100'000, '[') + std::string(100'000, ']'));
    write_text(file, text);
    expect_says("rerun runs/easy --out again", 1, {"runs/easy/run.json", "at most 64 lists and objects in each other"});
  }
}

TEST_F(Rerun, RunJsonSaysWhereTheCommandWasGiven) {
  simulate_both();
  const auto json = nlohmann::json::parse(text_of(folder_ / "runs" / "easy" / "run.json"));
  EXPECT_EQ(std::filesystem::canonical(json["working_folder"].get<std::string>()),
            std::filesystem::canonical(folder_.path()));
}

}  // namespace
}  // namespace replay::test
