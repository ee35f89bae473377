// Tests of `replay export`, with the real program: its files are opened by readers that share no code with it
// (tests/readers), by PajeNG's pj_dump where it is installed, and by Evalys itself where Python has it. Jobs, cores and
// core-seconds come out as in metrics.json, and as the event log has them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/archive_logs.hpp"
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ExportCommand : public Comparing {
 protected:
  json reader(const std::string& program_and_arguments) const {
    const ShellResult result =
        shell(fmt::format("python3 -B " REPLAY_SOURCE_DIR "/tests/readers/{}", program_and_arguments), folder_.path());
    EXPECT_EQ(result.status, 0) << program_and_arguments << ": " << result.out << result.err;
    return result.status == 0 ? json::parse(result.out)
                              : json{{"jobs", -1}, {"cores", -1}, {"held", -1.0}, {"busy", -1.0}};
  }
  void exported(const std::string& run, const std::string& format, const std::string& out) {
    const ShellResult result = replay(fmt::format("export {} --to {} -o {}", run, format, out));
    ASSERT_EQ(result.status, 0) << format << ": " << result.err;
  }
  static void expect_same(const json& found, const json& truth, const std::string& where, const char* jobs = "drawn") {
    EXPECT_EQ(found["jobs"], truth[jobs]) << where;
    EXPECT_NEAR(found["held"].get<double>(), truth["held"].get<double>(), 1e-3) << where;
    EXPECT_NEAR(found["busy"].get<double>(), truth["busy"].get<double>(), 1e-3) << where;
  }

  // The formats that have every change. `run` is a folder in folder_.
  json check_pictures(const std::string& run) {
    const json truth = reader("event_log.py " + run + "/events.log");
    if (const std::string text = text_of(folder_ / run / "metrics.json"); !text.empty()) {
      const json batsim = json::parse(text)["batsim"];
      EXPECT_NEAR(truth["busy"].get<double>(), batsim["time_computing"].get<double>(), 1e-3) << run;
      EXPECT_EQ(truth["cores"].get<double>(), batsim["nb_computing_machines"].get<double>()) << run;
    }
    exported(run, "perfetto", "p.json.gz");
    perfetto_ = reader("chrome_trace.py p.json.gz");
    expect_same(perfetto_, truth, run + " perfetto");
    exported(run, "csv", "s.csv");
    const json stretches = reader("stretches_table.py s.csv");
    expect_same(stretches, truth, run + " csv");
    EXPECT_EQ(perfetto_["cores"], stretches["cores"]) << run;
    exported(run, "paraver", "v.prv");
    paraver_ = reader("paraver_trace.py v.prv");
    expect_same(paraver_, truth, run + " paraver");
    EXPECT_EQ(paraver_["cores"], truth["cores"]) << run;
    exported(run, "paje", "p.trace");
    if (has_pj_dump()) {
      const ShellResult dumped = shell("pj_dump -l 6 p.trace > dump.csv", folder_.path());
      EXPECT_EQ(dumped.status, 0) << run << ": " << dumped.err;
      paje_ = reader("paje_dump.py < dump.csv");
      expect_same(paje_, truth, run + " paje", "jobs");
      EXPECT_EQ(paje_["cores"], truth["cores"]) << run;
    }
    return truth;
  }
  // Those with a line per job. Their core-seconds are right where jobs keep their cores.
  void check_tables(const std::string& run, const json& truth, bool jobs_keep_their_cores) {
    exported(run, "evalys", "e.csv");
    exported(run, "batsim", "b");
    exported(run, "swf", "s.swf");
    for (const char* table : {"evalys e.csv", "batsim b_jobs.csv"}) {
      const json found = reader(fmt::format("jobs_table.py {}", table));
      EXPECT_EQ(found["jobs"], truth["jobs"]) << run << ' ' << table;
      if (jobs_keep_their_cores) expect_same(found, truth, fmt::format("{} {}", run, table), "jobs");
    }
    EXPECT_EQ(json::parse(text_of(folder_ / "b_schedule.json")),
              json::parse(text_of(folder_ / run / "metrics.json"))["batsim"]);
    EXPECT_EQ(text_of(folder_ / "s.swf"), text_of(folder_ / run / "schedule.swf"));
  }
  static bool has_pj_dump() { return shell("pj_dump --version").status == 0; }
  // Says so where PajeNG is missing, after all other checks.
  static void skip_without_pj_dump() {
    if (!has_pj_dump()) GTEST_SKIP() << "Paje was not read: there is no pj_dump (Debian's package pajeng)";
  }

  json perfetto_, paraver_, paje_;  // what the readers found last
};

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
