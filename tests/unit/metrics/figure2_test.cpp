// The example of the FCFS-malleable paper, Figure 2: ten CPUs, six jobs at time 0, three policies. The schedules are
// given here, and their figures must be the paper's (its 0 % fragmentation for FCFS-malleable is a misprint: between 4
// and 5 four CPUs are free while J6 waits).
#include <gtest/gtest.h>

#include <array>

#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/summary.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

constexpr std::array kSizes = {8, 5, 1, 8, 4, 10};
constexpr std::array kRunTimes = {2, 1, 1, 2, 2, 1};

Records six_jobs() {
  Records records("flat:10");
  for (int job = 1; job <= 6; ++job)
    records.submit(0, job, kSizes[static_cast<std::size_t>(job - 1)], kRunTimes[static_cast<std::size_t>(job - 1)]);
  return records;
}

struct Measured {
  JobTable table;
  Series series;
  Summary summary;
  explicit Measured(const Records& records) {
    records.feed(table, series);
    summary = summarise(table, series);
  }
};

TEST(Figure2, FcfsAverages) {
  const Measured fcfs(six_jobs()
                          .launch(0, 1, 8)
                          .finish(2, 1)
                          .launch(2, 2, 5)
                          .launch(2, 3, 1)
                          .finish(3, 2)
                          .finish(3, 3)
                          .launch(3, 4, 8)
                          .finish(5, 4)
                          .launch(5, 5, 4)
                          .finish(7, 5)
                          .launch(7, 6, 10)
                          .finish(8, 6));
  EXPECT_DOUBLE_EQ(fcfs.summary.value("mean_response"), 28.0 / 6);
  EXPECT_DOUBLE_EQ(fcfs.summary.value("mean_slowdown"), 21.0 / 6);
  EXPECT_DOUBLE_EQ(fcfs.summary.value("fragmentation"), 24.0 / 80);
  EXPECT_DOUBLE_EQ(fcfs.summary.value("makespan"), 8);
  EXPECT_DOUBLE_EQ(fcfs.summary.value("utilisation"), 56.0 / 80);
}

TEST(Figure2, EasyAverages) {
  const Measured easy(six_jobs()
                          .launch(0, 1, 8)
                          .launch(0, 3, 1)
                          .finish(1, 3)
                          .finish(2, 1)
                          .launch(2, 2, 5)
                          .finish(3, 2)
                          .launch(3, 4, 8)
                          .finish(5, 4)
                          .launch(5, 5, 4)
                          .finish(7, 5)
                          .launch(7, 6, 10)
                          .finish(8, 6));
  EXPECT_DOUBLE_EQ(easy.summary.value("mean_response"), 26.0 / 6);
  EXPECT_DOUBLE_EQ(easy.summary.value("mean_slowdown"), 19.0 / 6);
  EXPECT_DOUBLE_EQ(easy.summary.value("fragmentation"), 24.0 / 80);
}

TEST(Figure2, FcfsMalleableAverages) {
  const Measured malleable(six_jobs()
                               .launch(0, 1, 4, 2)
                               .launch(0, 2, 5)
                               .launch(0, 3, 1)
                               .finish(1, 2)
                               .finish(1, 3)
                               .launch(1, 4, 4, 2)
                               .launch(1, 5, 2, 2)
                               .finish(4, 1)
                               .finish(5, 4)
                               .finish(5, 5)
                               .launch(5, 6, 10)
                               .finish(6, 6));
  EXPECT_DOUBLE_EQ(malleable.summary.value("mean_response"), 22.0 / 6);
  EXPECT_DOUBLE_EQ(malleable.summary.value("mean_slowdown"), 15.0 / 6);
  EXPECT_DOUBLE_EQ(malleable.summary.value("fragmentation"), 4.0 / 60);
  EXPECT_DOUBLE_EQ(malleable.summary.value("mean_mpl"), (14 + 3 * 20 + 12 + 10) / 60.0);
  EXPECT_DOUBLE_EQ(malleable.summary.value("mean_job_mpl"), (2 + 1 + 1 + 2 + 2 + 1) / 6.0);
}

}  // namespace
}  // namespace replay::metrics
