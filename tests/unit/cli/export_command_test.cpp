// Tests of `replay export`, with the real program: of simulated runs, and by Evalys itself where Python has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/archive_logs.hpp"
#include "tests/unit/cli/export_command_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST_F(ExportCommand, FilesOfARunWithShrinkingHaveItsJobsCoresAndCoreSeconds) {
  ASSERT_EQ(
      replay("simulate --trace " REPLAY_SOURCE_DIR "/traces/synth.swf --policy fcfs-malleable --machine 1x1x2 --out r")
          .status,
      0);
  const json truth = check_pictures("r");
  EXPECT_EQ(truth["jobs"], 18);
  EXPECT_EQ(truth["cores"], 2);
  const json metrics = json::parse(text_of(folder_ / "r/metrics.json"))["metrics"];
  EXPECT_GT(metrics["shrinks"]["value"], 0);
  EXPECT_EQ(perfetto_["instants"]["shrunk"], metrics["shrinks"]["value"]);
  EXPECT_EQ(perfetto_["instants"]["expanded"], metrics["expands"]["value"]);
  EXPECT_EQ(perfetto_["counters"].size(), 6u);
  EXPECT_EQ(paraver_["applications"], 18);
  if (has_pj_dump()) {
    EXPECT_EQ(paje_["events"]["shrunk"], metrics["shrinks"]["value"]);
    EXPECT_EQ(paje_["variables"].size(), 6u);
  }
  check_tables("r", truth, false);
  skip_without_pj_dump();
}

TEST_F(ExportCommand, FilesOfAMonthOfKthHaveItsJobsCoresAndCoreSeconds) {
  SKIP_WITHOUT(archive_log("KTH-SP2-1996-2"));
  ASSERT_EQ(
      replay(fmt::format("trace cut {} --month 1996-10 --rebase -o kth.swf", archive_log("KTH-SP2-1996-2"))).status, 0);
  ASSERT_EQ(replay("simulate --trace kth.swf --policy easy --machine flat:100 --out r").status, 0);
  const json truth = check_pictures("r");
  EXPECT_GT(truth["jobs"], 2000);
  EXPECT_EQ(truth["cores"], 100);
  EXPECT_EQ(paraver_["applications"], 1) << "there are too many for an application each";
  check_tables("r", truth, true);
  skip_without_pj_dump();
}

TEST_F(ExportCommand, FilesOfAThousandJobsInGroupsAndSlicesHaveTheirJobsCoresAndCoreSeconds) {
  ASSERT_EQ(replay("generate lublin --jobs 1000 --machine-size 32 --seed 7 --load 0.8 -o w.swf").status, 0);
  ASSERT_EQ(replay("trace declare w.swf --contention table4 --size-rule glomarc:cores=4 -o w1.swf").status, 0);
  const ShellResult run = replay(
      "simulate --trace w1.swf --machine emulated:8x2x2 --scale-sizes auto --runtime-model isolated+pairs --policy "
      "'scojo-pect:inner={g-lomarc-ts}' --out r");
  ASSERT_EQ(run.status, 0) << run.err;
  const json truth = check_pictures("r");
  EXPECT_EQ(truth["jobs"], 1000);
  EXPECT_EQ(truth["cores"], 32);
  EXPECT_GT(perfetto_["suspended"], 0);
  EXPECT_GT(perfetto_["groups"], 0);
  EXPECT_GT(perfetto_["slices"], 0);
  EXPECT_EQ(paraver_["applications"], 1000);
  check_tables("r", truth, false);
  skip_without_pj_dump();
}

TEST_F(ExportCommand, FilesOfJobsThatShareCoresHaveBothJobs) {
  fs::create_directory(folder_ / "r");
  write_text(folder_ / "r/events.log",
             "#replay-events 1\n#body sim\n#machine 2x1x2\n#policy own\n#trace t.swf\n"
             "5 submit job=1 processes=2 estimate=9 runtime=9 flexibility=malleable\n"
             "5 submit job=2 processes=2 estimate=9 runtime=9 flexibility=malleable\n"
             "5 launch job=1 cores=2 mpl=1 on=0-1:1 shareable=yes\n"
             "6 launch job=2 cores=2 mpl=1 on=1-2:1 shareable=yes\n"
             "7 note text=\"a \\\"note\\\", it's \\x1b[31mred\"\n"
             "7 note text=\"\"\n"
             "8.25 suspended job=1\n"
             "9 resumed job=1\n"
             "10 resized job=2 cores=1 mpl=2 on=1:2 shareable=yes\n"
             "12 finish job=1 outcome=completed\n"
             "14 finish job=2 outcome=completed\n");
  const json truth = check_pictures("r");
  EXPECT_EQ(truth["held"], 2 * 6.25 + 2 * 4 + 4);
  EXPECT_EQ(truth["busy"], 6.25 + 9 + 4);
  EXPECT_EQ(perfetto_["suspended"], 1);
  skip_without_pj_dump();
}

TEST_F(ExportCommand, EvalysItselfLoadsItsFile) {
  const char* const named = std::getenv("REPLAY_EVALYS_PYTHON");
  const std::string python = named == nullptr ? "python3" : named;
  if (shell(python + " -c 'import evalys.jobset'").status != 0)
    GTEST_SKIP() << python << " has no package evalys: name one that has in REPLAY_EVALYS_PYTHON";
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  exported("r", "evalys", "e.csv");
  exported("r", "batsim", "b");
  const ShellResult loaded =
      shell(python +
                " -c \"from evalys.jobset import JobSet\nfor f in 'e.csv', 'b_jobs.csv':\n  j = JobSet.from_csv(f)\n"
                "  print(len(j.df), j.MaxProcs, (j.df.proc_alloc * j.df.execution_time).sum(), j.queue.load.max())\"",
            folder_.path());
  EXPECT_EQ(loaded.out, "5 4 87.0 7\n5 4 87.0 7\n") << loaded.err;
}

TEST_F(ExportCommand, GnuplotDrawsItsScript) {
  if (shell("gnuplot --version").status != 0) GTEST_SKIP() << "there is no gnuplot (Debian's package gnuplot-nox)";
  ASSERT_EQ(replay("simulate --trace t.swf --policy fcfs-malleable --out r").status, 0);
  ASSERT_EQ(replay("export r --to gnuplot -o g").status, 0);
  const ShellResult drawn = shell("gnuplot g.gp", folder_.path());
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_EQ(drawn.err, "");
  EXPECT_NE(text_of(folder_ / "g.svg").find("</svg>"), std::string::npos);
}

TEST_F(ExportCommand, SeveralRunsGoIntoAFolderUnderTheirNames) {
  simulate_both();
  const ShellResult made = replay("export runs --to paraver -o out");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "out/easy.prv\nout/easy.pcf\nout/easy.row\nout/fcfs.prv\nout/fcfs.pcf\nout/fcfs.row\n");
  EXPECT_EQ(reader("paraver_trace.py out/fcfs.prv")["jobs"], 5);
  EXPECT_EQ(replay("export runs/easy --to swf").out, "easy.swf\n") << "the working folder";
}

TEST_F(ExportCommand, WritesAFormatOfOneFileToStandardOutput) {
  simulate_both();
  const ShellResult made = replay("export runs/easy --to csv -o -");
  EXPECT_EQ(made.status, 0);
  ASSERT_EQ(replay("export runs/easy --to csv -o s.csv").status, 0);
  EXPECT_EQ(made.out, text_of(folder_ / "s.csv"));
}

TEST_F(ExportCommand, SaysWhatIsWrong) {
  simulate_both();
  expect_says("export runs/easy", 2, {"expected --to and one of perfetto, paje"});
  expect_says("export --to paje", 2, {"expected a run"});
  expect_says("export runs/easy --to tableau", 2, {"expected one of perfetto, paje", "'tableau'"});
  expect_says("export nothing --to paje", 1, {"nothing: expected a run's folder"});
  expect_says("export runs --to paje -o -", 2, {"-o -: expected one run"});
  expect_says("export runs/easy --to paraver -o -", 2, {"-o -: expected one run"});
  expect_says("export runs/easy --to swf -o no/such/folder/x.swf", 1, {"no/such/folder/x.swf: cannot be created"});
  expect_says("export runs/easy runs/fcfs --to swf -o t.swf", 1, {"-o t.swf: cannot be made"});
  write_text(folder_ / "events.log", "#replay-events 1\n#machine flat:4\n0 submit job=1 processes=x\n");
  expect_says("export events.log --to paje", 1, {"events.log:3:", "processes"});
  write_text(folder_ / "events.log", "hello\n");
  expect_says("export events.log --to paje", 1, {"events.log:1:"});
  write_text(folder_ / "events.log", "#replay-events 1\n#body sim\n");
  for (const char* format : {"perfetto", "paje", "paraver", "evalys", "batsim", "swf", "csv", "gnuplot"})
    expect_says(fmt::format("export events.log --to {}", format), 1, {"events.log: ", "machine"});
}

TEST_F(ExportCommand, DoesNotReplaceTheLogThatItReads) {
  ASSERT_EQ(replay("simulate --trace " REPLAY_SOURCE_DIR
                   "/traces/synth.swf --policy easy --machine 1x1x2 --outputs events --out r")
                .status,
            0);
  const std::string log = text_of(folder_ / "r/events.log");
  const ShellResult result = replay("export r --to csv -o r/../r/events.log");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("events.log: is an event log that is read, expected another file"), std::string::npos)
      << result.err;
  EXPECT_EQ(text_of(folder_ / "r/events.log"), log);
  EXPECT_EQ(replay("plot r --figure queue -o r/events.svg").status, 0) << "it still is a log";
}

TEST_F(ExportCommand, OfALogThatWasCutOffHasWhatThereIsAndSaysSo) {
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out r").status, 0);
  const std::string log = text_of(folder_ / "r/events.log");
  write_text(folder_ / "r/events.log", log.substr(0, log.rfind(" outcome=")));
  expect_says("export r --to paje -o cut.trace", 0, {"the log was cut off", "cut.trace"});
  expect_says("export r --to perfetto -o cut.json", 0, {"the log was cut off"});
  EXPECT_EQ(reader("chrome_trace.py cut.json")["jobs"], 5);
}

TEST_F(ExportCommand, ListsTheFormats) {
  const ShellResult list = replay("export --list");
  EXPECT_EQ(list.status, 0);
  for (const char* words : {"perfetto\n", "files: NAME.prv, NAME.pcf, NAME.row", "opened by: ", "holds: ", "loses: "})
    EXPECT_NE(list.out.find(words), std::string::npos) << words;
}

}  // namespace
}  // namespace replay::test
