// Fixture for tests of `replay export`: its files are opened by readers that share no code with it (tests/readers), and by PajeNG's
// pj_dump where it is installed. Jobs, cores and core-seconds come out as in metrics.json, and as the event log has them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {

class ExportCommand : public Comparing {
 protected:
  using json = nlohmann::json;

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

}  // namespace replay::test
