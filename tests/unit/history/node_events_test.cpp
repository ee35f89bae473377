// What each reader of event logs makes of one small log with node events: a job that waits again and runs elsewhere, and one
// that is lost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/compare/measured_work.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/resizes.hpp"
#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/run_reader.hpp"
#include "scheduler/results/result_files.hpp"
#include "scheduler/service/board.hpp"
#include "scheduler/study/g_lomarc_ts/node_use.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/report/terminal/runs.hpp"
#include "tests/unit/results/export/export_fixture.hpp"

namespace replay {
namespace {

using metrics::Records;
using nlohmann::json;

// Two nodes of two cores.
//   1 s  job 1 starts on node 0
//   2 s  job 2 starts on node 1; the two are a group
//   3 s  job 1 is shrunk to core 0
//   5 s  node 0 goes down: job 1 waits again
//   6 s  node 1 goes down, too, until 7 s: job 2 is lost
//   7 s  node 1 is up: job 1 starts there
//   9 s  node 0 is up
//  17 s  job 1 ends
Records node_log() {
  Records run("2x1x2");
  run.header("policy", "easy").header("trace", "t.swf").header("body", "sim");
  run.submit(0, 1, 2, 10).launch_on(1, 1, {{0, 1}, {1, 1}}).submit(2, 2, 2, 10).launch_on(2, 2, {{2, 1}, {3, 1}});
  run.add(2, GroupFormed{JobId{1}, {JobId{2}}, 1, 0.5});
  run.resized_on(3, 1, {{0, 2}}, 2);
  run.node(5, 0, NodeState::kDown, "disk").requeued(5, 1, "n0: disk").add(5, GroupEnded{JobId{1}});
  run.node(6, 1, NodeState::kDown, "", Instant{from_seconds(7)}).finish(6, 2, metrics::ended(Outcome::kLost));
  run.node(7, 1, NodeState::kUp).launch_on(7, 1, {{2, 1}, {3, 1}}).node(9, 0, NodeState::kUp).finish(17, 1);
  return run;
}

Duration s(double time) { return from_seconds(time); }

void expect_row_of_last_run(const metrics::JobRow& row) {
  EXPECT_EQ(row.wait(), s(7));
  EXPECT_EQ(row.execution(), s(10));
  EXPECT_EQ(row.first_cores, CoreCount{2});
  EXPECT_EQ(row.shrinks, 0);
  EXPECT_EQ(row.mean_mpl(), 1);
  EXPECT_EQ(row.requeues, 1);
  EXPECT_EQ(row.lost_core_seconds, 2 * 2 + 2 * 1);
}

TEST(LogWithNodes, ARowIsOfTheLastRunAndCountsTheOthersAsLost) {
  metrics::JobTable table;
  node_log().feed(table);
  expect_row_of_last_run(*table.find(JobId{1}));
  EXPECT_EQ(table.find(JobId{2})->outcome, Outcome::kLost);
  EXPECT_EQ(table.find(JobId{2})->lost_core_seconds, 2 * 4);
}

TEST(LogWithNodes, ARowThatIsHandedOverHasWhatWasLost) {
  struct Rows final : metrics::RowReader {
    void row(const metrics::JobRow& row, const metrics::RowTexts& /*texts*/) override { rows.push_back(row); }
    std::vector<metrics::JobRow> rows;
  } rows;
  metrics::RowStream stream{rows};
  node_log().feed(stream);
  stream.hand_over_rest();
  expect_row_of_last_run(rows.rows.front());
}

TEST(LogWithNodes, FiguresSayWhatWasLostAndWhatWasThere) {
  metrics::JobTable table;
  metrics::Series series;
  node_log().feed(table, series);
  const metrics::Summary summary = summarise(table, series);
  // Busy: 1 s with 2 cores, 1 s with 4, 2 s with 3, 1 s with 2, 10 s with 2. Closed: node 0 for 4 s, node 1 for 1 s. Free
  // while a job waits: four cores in the first second, none from 5 to 7 s, when the idle ones are closed.
  for (const auto& [name, value] : std::map<std::string, double>{{"jobs_lost", 1},
                                                                 {"requeues", 1},
                                                                 {"lost_work", 6 + 8},
                                                                 {"closed_core_time", 2 * 4 + 2 * 1},
                                                                 {"utilisation", 34. / (4 * 17)},
                                                                 {"present_utilisation", 34. / (4 * 17 - 10)},
                                                                 {"fragmentation", 4. / (4 * 17)}})
    EXPECT_DOUBLE_EQ(summary.value(name), value) << name;
}

TEST(LogWithNodes, FiguresOfNodesAreThereOnlyIfTheLogTellsOfNodes) {
  metrics::JobTable table;
  metrics::Series series;
  Records("2x1x2").submit(0, 1, 2, 9).launch_on(0, 1, {{0, 1}, {1, 1}}).finish(9, 1).feed(table, series);
  EXPECT_EQ(summarise(table, series).find("jobs_lost"), nullptr);
}

TEST(LogWithNodes, FiguresBeginWithTheFirstSubmission) {
  Records run("2x1x2");
  run.node(1, 0, NodeState::kDown, "disk").submit(11, 1, 2, 10).launch_on(11, 1, {{2, 1}, {3, 1}}).finish(21, 1);
  metrics::Series series;
  run.feed(series);
  EXPECT_EQ(series.begin(), Instant{s(11)});
  EXPECT_EQ(series.total().closed_cores, metrics::Wide{2} * s(10).count()) << "of the node that was closed before";
}

TEST(LogWithNodes, CoresAreThoseOfTheLastRun) {
  metrics::CoreNames names;
  node_log().feed(names);
  EXPECT_EQ(std::vector(names.used(JobId{1}).begin(), names.used(JobId{1}).end()),
            (metrics::CoreRanges{{CoreId{2}, CoreId{3}}}));
}

TEST(LogWithNodes, ARequeuedJobGivesItsNumbersOfAPoolBack) {
  metrics::CoreNames names;
  Records("flat:4").submit(0, 1, 2, 9).launch(0, 1, 2).requeued(1, 1).submit(2, 2, 4, 9).launch(2, 2, 4).feed(names);
  EXPECT_EQ(std::vector(names.held(JobId{2}).begin(), names.held(JobId{2}).end()),
            (metrics::CoreRanges{{CoreId{0}, CoreId{3}}}));
}

TEST(LogWithNodes, TimeInGroupsIsOfTheLastRun) {
  metrics::SharingFacts facts;
  node_log().feed(facts);
  EXPECT_EQ(facts.find(JobId{1})->in_groups, s(0));
  EXPECT_EQ(facts.find(JobId{2})->in_groups, s(3));
}

TEST(LogWithNodes, AResizeOfTheLostRunIsNotOpenInTheNext) {
  metrics::Resizes resizes;
  Records("2x1x2")
      .submit(0, 1, 2, 9)
      .launch_on(0, 1, {{0, 1}, {1, 1}})
      .add(1, log::ResizeDecided{JobId{1}, {CoreCount{1}, 2, test::core_loads({{0, 2}})}})
      .requeued(1, 1)
      .launch_on(2, 1, {{2, 1}, {3, 1}})
      .resized_on(3, 1, {{2, 2}}, 2)
      .feed(resizes);
  ASSERT_EQ(resizes.all().size(), 2U);
  EXPECT_EQ(resizes.all()[0].at, kNever);
  EXPECT_EQ(resizes.all()[1].at, Instant{s(3)});
}

TEST(LogWithNodes, BothRunsOfAJobAreStretches) {
  struct Lines final : metrics::StretchReader {
    void stretch(const metrics::Stretch& one) override {
      text += fmt::format("{}: {}-{} on {}, launched {}; ", number(one.job), to_text(one.from), to_text(one.to),
                          one.cores.front().first, to_text(one.state->launched));
    }
    std::string text;
  } lines;
  metrics::Stretches stretches{lines};
  node_log().feed(stretches);
  EXPECT_EQ(lines.text,
            "1: 1-3 on 0, launched 1; 1: 3-5 on 0, launched 1; 2: 2-6 on 2, launched 2; 1: 7-17 on 2, launched 7; ");
}

TEST(LogWithNodes, MeasuredWorkIsThatOfTheLastRun) {
  compare::MeasuredWork work{[](JobId, const Allocation&) { return 1.0; }};
  node_log().feed(work);
  EXPECT_EQ(work.find(JobId{1})->work, s(10));
  EXPECT_FALSE(work.find(JobId{2})->work);
}

TEST(LogWithNodes, ANodeIsUsedWhileAJobIsOnIt) {
  study::NodeUseRecord use{2};
  node_log().feed(use);
  EXPECT_EQ(use.whole().nodes, (s(1) + 2 * s(3) + s(1) + s(10)).count());
}

TEST(LogWithNodes, TheBoardOfAServiceHasARequeuedJobWait) {
  service::Board board;
  Records run("2x1x2");
  run.submit(0, 1, 2, 9).launch_on(0, 1, {{0, 1}, {1, 1}}).submit(0, 2, 2, 9).launch_on(0, 2, {{2, 1}, {3, 1}});
  run.requeued(1, 1).feed(board);
  EXPECT_EQ(board.running(), 1U);
  EXPECT_EQ(board.waiting(), 1U);
  EXPECT_EQ(board.find(JobId{1})->state, service::JobState::kWaiting);
  EXPECT_FALSE(board.find(JobId{1})->launched);
}

TEST(LogWithNodes, TheLiveViewHasARequeuedJobAtItsOldPlaceAndTheNodesThatAreClosed) {
  Records run("2x1x2");
  run.header("hosts", "fir oak");
  run.submit(0, 1, 2, 9).launch_on(0, 1, {{0, 1}, {1, 1}}).submit(1, 2, 4, 9);
  run.node(5, 0, NodeState::kDown, "disk", Instant{s(9)}).requeued(5, 1, "fir: disk");
  const report::WatchedRun watched = report::watched(run);
  ASSERT_EQ(watched.waiting().size(), 2U);
  EXPECT_EQ(watched.waiting().begin()->second, JobId{1});
  EXPECT_TRUE(watched.launched().empty());
  EXPECT_EQ(watched.cores()[0].jobs, 0);
  EXPECT_TRUE(watched.closed().contains(NodeId{0}));
  EXPECT_EQ(watched.events()[1].text, "[     5.0 s] fir is down until 9 s: disk");
  EXPECT_EQ(watched.events()[2].text, "[     5.0 s] job 1 waits again: fir: disk");
  run.node(6, 0, NodeState::kUp).launch_on(7, 1, {{0, 1}, {1, 1}});
  EXPECT_EQ(report::watched(run).find(JobId{1})->symbol(), 'A');
  EXPECT_TRUE(report::watched(run).closed().empty());
  EXPECT_EQ(report::watched(run).waiting().begin()->second, JobId{2});
}

TEST(LogWithNodes, LostJobsAreNoFailedOnes) {
  const report::WatchedRun watched = report::watched(node_log());
  EXPECT_EQ(watched.lost(), 1U);
  EXPECT_EQ(watched.failed(), 0U);
  EXPECT_NE(report::picture(node_log(), report::screen(100, 24)).find("1 lost"), std::string::npos);
}

TEST(LogWithNodes, ANodeThatGoesDownOftenIsNamed) {
  Records run("2x1x2");
  run.header("hosts", "fir oak").submit(0, 1, 1, 9).node(1, 0, NodeState::kDown).node(2, 0, NodeState::kUp);
  run.node(3, 1, NodeState::kDown).node(4, 1, NodeState::kUp);
  EXPECT_EQ(report::watched(run).often_down(), std::nullopt);
  run.node(5, 1, NodeState::kDown).node(6, 1, NodeState::kUp).node(7, 1, NodeState::kDown);
  EXPECT_EQ(report::watched(run).often_down(), (std::pair<std::string, int>{"oak", 3}));
  EXPECT_NE(report::picture(run, report::screen(100, 24)).find("oak down 3 times"), std::string::npos);
}

TEST(JobsOfAService, ThatAreHeldBackAreNamedWithTheReason) {
  const auto job_that_waits = [](int id, std::string reason) {
    service::JobStatus job;
    job.id = JobId{id};
    job.reason = std::move(reason);
    return job;
  };
  const auto last_lines = [](const std::vector<service::JobStatus>& jobs) {
    const std::string text = cli::jobs_table(jobs, {});
    std::size_t at = 0;
    for (std::size_t line = 0; line <= jobs.size(); ++line) at = text.find('\n', at) + 1;
    return text.substr(at);
  };
  const auto wide = job_that_waits(1, "needs 6 cores, 4 are left"), small = job_that_waits(2, "");
  EXPECT_EQ(last_lines({wide, small, job_that_waits(3, wide.reason)}), "jobs 1, 3: needs 6 cores, 4 are left\n");
  EXPECT_EQ(last_lines({small}), "");
  EXPECT_EQ(last_lines({job_that_waits(4, "the disk is full"), job_that_waits(5, "the disk is full")}),
            "jobs 4, 5: the disk is full\n");
}

TEST(LogWithNodes, ThePageCountsShrunkTimeOfTheLastRun) {
  report::RunReader reader;
  node_log().feed(reader);
  reader.finish();
  EXPECT_EQ(reader.facts()[0].shrunk_time, 0);
  EXPECT_EQ(reader.stretches().size(), 4U);
}

TEST(LogWithNodes, TheMapOfCoresMarksIdleOnesOfClosedNodes) {
  Records run("2x1x2");
  run.submit(0, 1, 1, 9).launch_on(0, 1, {{1, 1}}).node(1, 0, NodeState::kDrained);
  const std::string picture = report::picture(run, report::screen(80, 24));
  EXPECT_NE(picture.find("0 x  A   1 .  ."), std::string::npos) << picture;
  EXPECT_NE(picture.find("1 node closed"), std::string::npos) << picture;
}

class LogWithNodesExport : public results::Export {};

TEST_F(LogWithNodesExport, ThePageHasTheTimesInWhichNodesWereClosed) {
  const report::RunData page = report::read_run(log_of(node_log()).file());
  ASSERT_EQ(page.closed.size(), 2U);
  const auto& [from, to, first, last, text] = page.closed[0];
  EXPECT_EQ(fmt::format("{}-{} on {}-{}: {}", from, to, first, last, text), "5-9 on 0-1: node 0 down: disk");
  EXPECT_EQ(page.closed[1].to, 7);
  EXPECT_EQ(page.series.free_while_queued.at(0), 4) << "job 1 waits, all are free";
  EXPECT_EQ(report::read_run(log_of(results::shrunk_run()).file()).closed.size(), 0U);
}

TEST_F(LogWithNodesExport, PerfettoShowsNodesAndTheWaitOfEachRun) {
  const json trace = json::parse(made("perfetto", node_log()));
  std::string instants, waits;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "i") instants += event["name"].get<std::string>() + "; ";
    if (event["ph"] == "X" && event["name"] == "job 1") waits += event["args"]["wait_s"].dump() + "; ";
  }
  EXPECT_EQ(
      instants,
      "job 1 shrunk; node 0 down: disk; job 1 waits again; node 1 down until 7 s; job 2 lost; node 1 up; node 0 up; ");
  EXPECT_EQ(waits, "1; 1; 7; ");
}

TEST_F(LogWithNodesExport, PajeDefinesTheValuesOfNodesWhenThereAreSome) {
  const std::string text = made("paje", node_log());
  EXPECT_NE(text.find("10 5 E t node \"node 0\" \"down: disk\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("10 5 E t requeued \"job 1\" \"n0: disk\"\n"), std::string::npos) << text;
  EXPECT_LT(text.find("\n4 node E "), text.find("\n10 5 E t node"));
  EXPECT_EQ(made("paje", results::shrunk_run()).find("\n4 node E "), std::string::npos);
}

TEST_F(LogWithNodesExport, ParaverShowsEachWait) {
  const std::string text = made("paraver", node_log());
  EXPECT_NE(text.find("\n1:0:1:1:1:0:1000000:2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1:0:1:1:1:5000000:7000000:2\n"), std::string::npos) << text;
}

TEST(LogWithNodes, ARunLeavesThemAsAFileForSimulations) {
  const TemporaryFolder folder;
  results::ResultFiles files{folder.path(), {"nodes"}};
  node_log().feed(files);
  results::PolicyRun run = files.finish();
  files.write(run);
  EXPECT_EQ(run.unwritten, std::vector<std::string>{});
  EXPECT_EQ(test::text_of(folder / "nodes.csv"),
            "time,nodes,state,until,reason\n5,n0,down,,disk\n6,n1,down,7,\n7,n1,up,,\n9,n0,up,,\n");
}

TEST(LogWithNodes, ARunWithoutThemLeavesNoFile) {
  const TemporaryFolder folder;
  results::ResultFiles files{folder.path(), {"nodes"}};
  results::shrunk_run().feed(files);
  results::PolicyRun run = files.finish();
  files.write(run);
  EXPECT_FALSE(std::filesystem::exists(folder / "nodes.csv"));
}

}  // namespace
}  // namespace replay
