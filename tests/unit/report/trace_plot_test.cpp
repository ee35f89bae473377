// Tests of `replay trace info --plot`: the page names its subject and is the same each time; the load that it draws is
// the work of the log.
#include "scheduler/report/trace_plot.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay {
namespace {

TraceInfo sample() {
  return analyse_trace(
      {.file = (std::filesystem::path(REPLAY_SOURCE_DIR) / "traces/samples/kth-easy-1127.swf").string()});
}

TEST(TracePlot, SaysLogJobsAndMachineAndComesOutTheSame) {
  const TraceInfo info = sample();
  const std::string svg = report::draw_trace(info);
  EXPECT_NE(svg.find("kth-easy-1127.swf: 1127 jobs on 100 processors"), std::string::npos);
  EXPECT_EQ(svg, report::draw_trace(sample()));
}

TEST(TracePlot, TheLoadOfAllPeriodsIsTheWorkOfTheLog) {
  const TraceInfo info = sample();
  const double sum = std::accumulate(info.load.offered.begin(), info.load.offered.end(), 0.0);
  EXPECT_NEAR(sum * seconds(info.load.period) * info.machine_size, info.work_s, info.work_s * 1e-9);
  EXPECT_EQ(info.load.labels.size(), info.load.offered.size());
  // The waits are those of EASY on this machine, so the use never exceeds its processors.
  for (const double used : info.load.used) EXPECT_LE(used, 1 + 1e-9);
}

TEST(TracePlot, RefusesOtherEndingsAndFilesThatAreThere) {
  const TemporaryFolder folder;
  const TraceInfo info = sample();
  EXPECT_THROW(report::write_plot(info, (folder / "a.png").string(), false), UsageError);
  report::write_plot(info, (folder / "a.html").string(), false);
  EXPECT_THROW(report::write_plot(info, (folder / "a.html").string(), false), InputError);
  report::write_plot(info, (folder / "a.html").string(), true);
  EXPECT_TRUE(test::text_of(folder / "a.html").starts_with("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace replay
