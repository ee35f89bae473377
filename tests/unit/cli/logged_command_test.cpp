// Commands on a log in SWF: it is a run of its own, under the policy `logged`.
#include <filesystem>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

// Jobs 1 and 2 overlap by 10 s beyond the machine; job 3 is cancelled.
constexpr const char* kLog =
    "; MaxProcs: 4\n"
    "1 0 0 100 3 -1 -1 3 50 -1 1 1 1 1 -1 -1 -1 -1\n"
    "2 10 80 60 3 -1 -1 4 60 -1 1 1 1 1 -1 -1 -1 -1\n"
    "3 20 100 -1 -1 -1 -1 4 60 -1 5 1 1 1 -1 -1 -1 -1\n"
    "4 30 170 10 1 -1 -1 1 10 -1 1 1 1 1 -1 -1 -1 -1\n";
constexpr const char* kOverlap = "more processors in use than the 4 of its machine for 10 s, 6 at the most";

class LoggedCommands : public Comparing {
 protected:
  LoggedCommands() { write_text(folder_ / "log.swf", kLog); }
};

TEST_F(LoggedCommands, SimulateHasTheLogFirstAndChangesAgainstIt) {
  expect_says("simulate --trace log.swf --policy logged,easy --out runs", 0,
              {kOverlap, "% to logged", "machine flat:6 and flat:4"});
  EXPECT_NE(text_of(folder_ / "runs/logged/schedule.swf").find("; MaxProcs: 4\n"), std::string::npos);
  EXPECT_NE(text_of(folder_ / "runs/logged/metrics.json").find("\"stated_cores\": 4"), std::string::npos);
  const std::string events = text_of(folder_ / "runs/logged/events.log");
  EXPECT_NE(events.find("#machine flat:6\n#stated-cores 4\n"), std::string::npos);
  const std::string metrics = text_of(folder_ / "runs/logged/metrics.json");
  expect_says("results runs/logged --out again", 0, {});
  EXPECT_EQ(text_of(folder_ / "again/metrics.json"), metrics) << "from the event log alone";
  expect_says("rerun runs/logged", 0, {"same"});
}

TEST_F(LoggedCommands, ReadersOfRunsReadTheLog) {
  ASSERT_EQ(replay("simulate --trace log.swf --policy logged,easy --out runs").status, 0);
  expect_says("diff log.swf runs/logged", 0, {"log.swf: logged"});
  expect_says("diff log.swf runs/easy", 1, {"log.swf: logged", kOverlap});
  expect_says("why log.swf 4", 0, {"log.swf: logged, sim, machine flat:6", "job 4"});
  expect_says("why log.swf 5", 1, {"replay: log.swf: there is no job 5"});
  expect_says("report log.swf runs/easy -o page.html", 0, {"page.html", kOverlap});
  const std::string page = text_of(folder_ / "page.html");
  EXPECT_NE(page.find("\"folder\":\"log.swf\""), std::string::npos) << "what commands take, not a temporary file";
  EXPECT_NE(page.find(kOverlap), std::string::npos);
  expect_says("plot log.swf --figure utilisation -o u.svg", 0, {"u.svg"});
  EXPECT_NE(text_of(folder_ / "u.svg").find("mean 58.3 %"), std::string::npos) << "490 of 4 x 210 core-seconds";
  expect_says("export log.swf --to swf -o out.swf", 0, {"out.swf"});
  EXPECT_EQ(
      text_of(folder_ / "out.swf").substr(text_of(folder_ / "out.swf").find("\n1 ")),
      text_of(folder_ / "runs/logged/schedule.swf").substr(text_of(folder_ / "runs/logged/schedule.swf").find("\n1 ")));
}

TEST_F(LoggedCommands, TheAuditOfTheRunIsThatOfTheLog) {
  ASSERT_EQ(replay("simulate --trace log.swf --policy logged --out run").status, 0);
  const auto findings = [this](const std::string& of) {
    const std::string out = replay("audit " + of + " --rule easy").out;
    const std::string_view name = "on 4 processors";
    EXPECT_NE(out.find(name), std::string::npos) << out;
    return out.substr(0, out.find("\n\n")) + out.substr(out.find(name));
  };
  EXPECT_EQ(findings("log.swf"), findings("run/schedule.swf"));
  EXPECT_NE(findings("run/schedule.swf").find("too many processors"), std::string::npos);
}

TEST_F(LoggedCommands, CompressedLogsAreReadAndTemporaryFilesGo) {
  ASSERT_EQ(shell("gzip -k log.swf && mkdir tmp", folder_.path()).status, 0);
  const ShellResult made =
      shell("TMPDIR=$PWD/tmp " + std::string{REPLAY_PROGRAM} + " report log.swf.gz", folder_.path());
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "report.html"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

TEST_F(LoggedCommands, WhatIsNoLogWithWaitsIsRefusedByItsName) {
  write_text(folder_ / "no-waits.swf", kFiveJobs);
  for (const char* command :
       {"report no-waits.swf", "why no-waits.swf 1", "simulate --trace no-waits.swf --policy logged",
        "plot no-waits.swf --figure gantt -o a.svg", "export no-waits.swf --to csv"})
    expect_says(command, 1, {"no-waits.swf: no job that ran has a wait (field 3)", "logged"});
  expect_says("diff no-waits.swf no-waits.swf", 2, {"no job that ran has a wait"});
  write_text(folder_ / "dump", "JobID|Submit|Start\n1|2024-01-01T00:00:00|2024-01-01T00:00:00\n");
  expect_says("report dump", 1,
              {"dump: expected a run's folder, its events.log, or a log in SWF", "replay trace convert"});
  expect_says("--trace log.swf --policy easy,logged", 2,
              {"--policy logged: repeats the schedule of the log", "a real run"});
  expect_says("serve --policy logged", 2, {"--policy logged: repeats the schedule of the log", "a service"});
  expect_says("validate --trace log.swf --policy logged --machine emulated:1x1x2 --out v", 2,
              {"--policy logged: repeats the schedule of the log", "a validation"});
  write_text(
      folder_ / "study.toml",
      "name = \"s\"\n[fixed]\ntrace = \"log.swf\"\n[axes]\npolicy = [\"easy\", \"logged\"]\nload = [0.5, 0.7]\n");
  expect_says("sweep study.toml -o s", 2, {"--policy logged: repeats the schedule of the log", "another load"});
}

}  // namespace
}  // namespace replay::test
