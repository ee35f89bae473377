// Tests of the exports with pictures of cores over time: Perfetto, Paje, Paraver, the table of stretches, gnuplot.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/results/export/paraver.hpp"
#include "tests/unit/results/export/export_fixture.hpp"

namespace replay::results {
namespace {

using nlohmann::json;

constexpr const char* kWild = "a \"quoted\" 'name'\n\x1b[31m</script>\xff,;\\ %";

metrics::Records wild_run() {
  metrics::Records run("1x2");
  run.header("policy", kWild).header("trace", kWild);
  run.submit(0, 1, 1, 5).launch_on(0, 1, {{0, 1}});
  run.add(1, log::Note{kWild}).add(1, log::Failed{JobId{1}, "resize", kWild});
  JobEnd end = metrics::ended(Outcome::kFailed);
  end.reason = kWild;
  return run.finish(2, 1, end);
}

// ---- Perfetto ----

std::vector<json> events_of(const std::string& text, const char* phase) {
  std::vector<json> found;
  const json trace = json::parse(text);
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == phase) found.push_back(event);
  return found;
}

TEST_F(Export, PerfettoShowsAShrunkJobAsSlicesOfTheCoresThatItHad) {
  const auto slices = events_of(made("perfetto", shrunk_run()), "X");
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0]["name"], "job 1");
  EXPECT_EQ(slices[0]["args"]["width"], 4);
  EXPECT_EQ(slices[0]["dur"], 3'000'000);
  EXPECT_EQ(slices[1]["name"], "job 2");
  EXPECT_EQ(slices[1]["args"]["first_core"], 2);
  EXPECT_EQ(slices[1]["args"]["wait_s"], 1);
  EXPECT_EQ(slices[2]["cat"], "job,shrunk");
  EXPECT_EQ(slices[2]["args"]["mpl"], 2);
  EXPECT_EQ(slices[2]["args"]["processes"], 4);
  EXPECT_EQ(slices[3]["ts"], 8'000'000);
}

TEST_F(Export, PerfettoGivesTheSecondJobOnACoreARowOfItsOwnAndASuspendedOneToo) {
  metrics::Records run = shared_run();
  const std::string text = made("perfetto", run);
  std::set<std::pair<int, std::int64_t>> rows;
  bool has_suspended = false;
  for (const json& slice : events_of(text, "X")) {
    rows.emplace(slice["pid"], slice["tid"]);
    has_suspended =
        has_suspended || (slice["cat"] == "suspended" && slice["ts"] == 4'000'000 && slice["dur"] == 2'000'000);
  }
  EXPECT_EQ(rows.size(), 4u) << "cores 0, 1 and 2, and that of suspended jobs: " << text;
  EXPECT_TRUE(has_suspended);
  EXPECT_EQ(events_of(text, "i").size(), 2u) << "suspended, resumed";
}

TEST_F(Export, PerfettoCutsAJobAtTheBordersOfNodes) {
  metrics::Records run("2x1x2");
  const auto slices =
      events_of(made("perfetto", run.submit(0, 1, 3, 5).launch_on(0, 1, {{1, 1}, {2, 1}, {3, 1}}).finish(5, 1)), "X");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0]["pid"], 1);
  EXPECT_EQ(slices[0]["args"]["width"], 1);
  EXPECT_EQ(slices[1]["pid"], 2);
  EXPECT_EQ(slices[1]["args"]["width"], 2);
  EXPECT_EQ(slices[1]["args"]["cores"], 3);
}

TEST_F(Export, PerfettoHasGroupsAndSlicesAsRowsOfTheirOwn) {
  metrics::Records run("1x4");
  run.submit(0, 1, 1, 9).add(0, ClassAssigned{JobId{1}, JobClass::kMedium});
  run.add(1, SliceBegun{JobClass::kMedium, Instant{from_seconds(1)}, Instant{from_seconds(7)}})
      .launch_shared(1, 1, {{0, 1}});
  run.add(2, GroupFormed{JobId{1}, {JobId{2}, JobId{3}}, 1, 0.5}).add(6, GroupEnded{JobId{1}}).finish(8, 1);
  std::string found;
  for (const json& slice : events_of(made("perfetto", run), "X"))
    found += fmt::format("{} {} {}; ", slice["cat"].get<std::string>(), slice["name"].get<std::string>(),
                         slice["dur"].get<int>() / 1'000'000);
  EXPECT_EQ(found, "slice medium 6; group jobs 1+2+3 4; job job 1 7; ");
}

TEST_F(Export, PerfettoTextsAreValidJsonWhateverTheyHold) {
  const std::string text = made("perfetto", wild_run());
  const auto instants = events_of(text, "i");
  ASSERT_EQ(instants.size(), 3u);
  EXPECT_EQ(instants[0]["name"], "a \"quoted\" 'name' </script>\xEF\xBF\xBD,;\\ %") << "note";
  EXPECT_EQ(json::parse(text)["otherData"]["policy"], instants[0]["name"]);
}

TEST_F(Export, PerfettoOfARunThatWasCutShowsItsJobsUpToTheLastRecord) {
  metrics::Records run("flat:4");
  run.submit(0, 1, 2, 9).launch(0, 1, 2).submit(3, 2, 4, 5);
  const auto slices = events_of(made("perfetto", run), "X");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0]["dur"], 3'000'000);
}

// ---- Paje ----

TEST_F(Export, AMachineOfMoreThanAMillionCoresIsRefusedByFormatsWithARowForEach) {
  metrics::Records run("flat:100000000");
  run.submit(0, 1, 2, 9).launch(0, 1, 2).finish(3, 1);
  for (const char* format : {"paje", "perfetto", "paraver"})
    EXPECT_THROW((void)made(format, run), InputError) << format;
  EXPECT_FALSE(made("csv", run).empty());
}

TEST_F(Export, PajePushesAndPopsTheJobOnEachCoreThatItHas) {
  const std::string text = made("paje", shrunk_run());
  EXPECT_EQ(count_of(text, "\n7 "), 4 + 2 + 2 + 4);
  EXPECT_EQ(count_of(text, "\n8 "), 4 + 2 + 2 + 4);
  EXPECT_NE(text.find("\n7 3 S0 c0 j1s0 2 4 2\n"), std::string::npos) << text;
  EXPECT_EQ(count_of(text, " S0 \"job 1\""), 1) << "a value is defined once";
  EXPECT_NE(text.find("\n10 3 E t shrunk \"job 1\" \"4 -> 2 cores\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n9 2 VQ t 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n10 0 E t note \"run\" \"trace: small.swf\"\n"), std::string::npos) << text;
}

TEST_F(Export, PajeHasASecondStateTypeForTheSecondJobOnACore) {
  const std::string text = made("paje", shared_run());
  EXPECT_NE(text.find("\n1 S1 C \"Job 2 on the core\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n7 1 S1 c1 j2s1 1 1 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n8 8 S1 c1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n10 4 E t suspended \"job 3\" \"-\"\n"), std::string::npos) << text;
}

TEST_F(Export, PajeTextsStayInTheirQuotesAndOnTheirLine) {
  const std::string text = made("paje", wild_run());
  EXPECT_NE(text.find("\n10 1 E t note \"run\" \"a 'quoted' 'name' </script>\xEF\xBF\xBD,;\\ %\"\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

// ---- Paraver ----

TEST_F(Export, ParaverMakesAnApplicationOfEachJobWithATaskPerNodeAndAThreadPerCore) {
  const std::string text = made("paraver", shared_run());
  EXPECT_EQ(line_of(text, "#"), "#Paraver (01/01/1970 at 00:00):9000000:2(2,2):3:1(2:1):1(1:1):1(2:2)");
  EXPECT_NE(text.find("\n1:0:2:1:1:0:1000000:2\n"), std::string::npos) << "job 2 waits: " << text;
  EXPECT_NE(text.find("\n1:2:2:1:1:1000000:8000000:5\n"), std::string::npos) << "on core 1, which it shares: " << text;
  EXPECT_NE(text.find("\n1:0:3:1:1:4000000:6000000:4\n"), std::string::npos) << "job 3 is suspended: " << text;
  EXPECT_NE(text.find("\n2:3:3:1:1:1000000:9000001:3:9000002:1\n"), std::string::npos) << text;
  EXPECT_TRUE(remarks_.empty());
  EXPECT_NE(test::text_of(files_[2]).find("LEVEL THREAD SIZE 5\njob 1 on node 0, core 1 of 2\n"), std::string::npos)
      << test::text_of(files_[2]);
}

TEST_F(Export, ParaverShowsTooManyJobsInOneApplicationOfTheMachine) {
  const RunLog run = log_of(shared_run());
  files_ = {folder_ / "x.prv", folder_ / "x.pcf", folder_ / "x.row"};
  remarks_ = export_paraver(run, files_, {.applications = 2, .threads = 100});
  const std::string text = test::text_of(files_[0]);
  EXPECT_EQ(line_of(text, "#"), "#Paraver (01/01/1970 at 00:00):9000000:2(2,2):1:2(4:1,4:2)")
      << "two seats on each core";
  EXPECT_NE(text.find("\n1:2:1:1:4:1000000:8000000:5\n"), std::string::npos) << "job 2, the second on core 1: " << text;
  EXPECT_NE(text.find("\n2:2:1:1:4:1000000:9000001:2:9000002:1\n"), std::string::npos) << text;
  ASSERT_EQ(remarks_.size(), 1u);
  EXPECT_NE(remarks_[0].find("too many"), std::string::npos);
  EXPECT_FALSE(export_paraver(run, files_, {.applications = 3, .threads = 4}).empty()) << "or with too many threads";
  EXPECT_TRUE(export_paraver(run, files_, {.applications = 3, .threads = 5}).empty());
}

TEST_F(Export, ParaverGivesEachNodeItsOwnCores) {
  metrics::Records run("1x1x3+1x1x1");
  run.submit(0, 1, 2, 5).launch_on(0, 1, {{2, 1}, {3, 1}}).finish(5, 1);
  EXPECT_EQ(line_of(made("paraver", run), "#"), "#Paraver (01/01/1970 at 00:00):5000000:2(3,1):1:2(1:1,1:2)");
  files_ = {folder_ / "x.prv", folder_ / "x.pcf", folder_ / "x.row"};
  (void)export_paraver(log_of(run), files_, {.applications = 0, .threads = 100});
  const std::string text = test::text_of(files_[0]);
  EXPECT_EQ(line_of(text, "#"), "#Paraver (01/01/1970 at 00:00):5000000:2(3,1):1:2(3:1,1:2)");
  EXPECT_EQ(line_of(text, "1:3:"), "1:3:1:1:3:0:5000000:1") << "the third core of node 0";
  EXPECT_EQ(line_of(text, "1:4:"), "1:4:1:2:1:0:5000000:1") << "the only one of node 1";
}

TEST_F(Export, PicturesNameNodesByTheirHosts) {
  metrics::Records run("2x1x1");
  run.header("hosts", "left right").submit(0, 1, 2, 5).launch_on(0, 1, {{0, 1}, {1, 1}}).finish(5, 1);
  EXPECT_NE(made("paje", run).find(" n1 N t \"right\"\n"), std::string::npos) << test::text_of(files_[0]);
  EXPECT_NE(made("perfetto", run).find("{\"name\":\"right\"}"), std::string::npos) << test::text_of(files_[0]);
  (void)made("paraver", run);
  EXPECT_NE(test::text_of(files_[2]).find("LEVEL NODE SIZE 2\nleft\nright\n"), std::string::npos)
      << test::text_of(files_[2]);
}

TEST_F(Export, ParaverTimesCountFromTheFirstRecord) {
  metrics::Records run("flat:2");
  const std::string text = made("paraver", run.submit(100, 7, 2, 5).launch(100, 7, 2).finish(105.5, 7));
  EXPECT_NE(text.find(":5500000:1(2):1:1(2:1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1:1:1:1:1:0:5500000:1\n"), std::string::npos) << text;
}

// ---- tables ----

TEST_F(Export, CsvHasALineForEachStretch) {
  EXPECT_EQ(made("csv", shrunk_run()),
            "job,from_s,to_s,state,cores,core_list,node_list,processes,mpl,shareable,class,user,group,queue,requested,"
            "submitted_s\n"
            "1,0.000000,3.000000,runs,4,0-3,0,4,1,0,,,,,4,0.000000\n"
            "2,3.000000,8.000000,runs,2,2-3,0,2,1,0,,,,,2,2.000000\n"
            "1,3.000000,8.000000,runs,2,0-1,0,4,2,0,,,,,4,0.000000\n"
            "1,8.000000,13.000000,runs,4,0-3,0,4,1,0,,,,,4,0.000000\n");
}

// The first block of code of a page.
std::string first_block(const std::string& page) {
  const std::string text = test::text_of(REPLAY_SOURCE_DIR "/docs/formats/" + page);
  const std::size_t begin = text.find("```\n") + 4;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_F(Export, CsvOfTheRealRunOfEventsMdIsThatOfItsPage) {
  test::write_text(folder_ / "events.log", first_block("events.md"));
  for (const ExportFormat& format : export_formats()) {
    const std::filesystem::path log = folder_ / "events.log";
    const auto planned = plan_exports(std::span{&log, 1}, format, folder_.path() / std::string{format.name});
    EXPECT_TRUE(format.write(RunLog{log}, planned.front().files).empty()) << format.name;
  }
  EXPECT_EQ(test::text_of(folder_ / "csv"), first_block("stretches-csv.md"));
}

TEST_F(Export, CsvNamesTheNodesAndTheCoresThatASuspendedJobHad) {
  const std::string text = made("csv", shared_run());
  EXPECT_NE(text.find("\n3,4.000000,6.000000,suspended,2,2-3,1,2,1,0,"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1,0.000000,5.000000,runs,2,0-1,0,2,1,1,"), std::string::npos) << text;
}

TEST_F(Export, GnuplotHasARectangleForEachRangeOfCoresAndEscapesItsTitle) {
  const std::string script = made("gnuplot", wild_run());
  EXPECT_NE(script.find(", a \"quoted\" ''name'' </script>"), std::string::npos) << script;
  EXPECT_NE(script.find("set output 'x.svg'"), std::string::npos) << script;
  EXPECT_EQ(test::text_of(files_[1]),
            "# x_mid_s y_mid half_width_s half_height job state(0 runs, 1 shrunk, 2 suspended) mpl\n"
            "1 0.5 1 0.5 1 0 1\n");
}

TEST_F(Export, OfARunWithoutJobsAreWholeFiles) {
  for (const char* format : {"perfetto", "paje", "paraver", "batsim", "swf", "csv", "gnuplot"})
    EXPECT_FALSE(made(format, metrics::Records{"2x2"}).empty()) << format;
}

}  // namespace
}  // namespace replay::results
