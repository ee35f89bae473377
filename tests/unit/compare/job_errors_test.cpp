#include "scheduler/compare/job_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using metrics::JobTable;
using metrics::Records;

JobTable table_of(const Records& records) {
  JobTable table;
  records.feed(table);
  return table;
}

// Simulated: waits 0, 10, 4; run times 10, 10, 6. Real: waits 0, 12, 1; run times 12, 8, 6.
TEST(JobErrors, AreOfEachJobAndDoNotCancel) {
  const JobTable simulated = table_of(Records("flat:9")
                                          .submit(0, 1, 1, 10)
                                          .submit(0, 2, 1, 10)
                                          .submit(0, 3, 1, 6)
                                          .launch(0, 1, 1)
                                          .launch(4, 3, 1)
                                          .launch(10, 2, 1)
                                          .finish(10, 1)
                                          .finish(10, 3)
                                          .finish(20, 2));
  const JobTable real = table_of(Records("flat:9")
                                     .submit(0, 1, 1, 10)
                                     .submit(0, 2, 1, 10)
                                     .submit(0, 3, 1, 6)
                                     .launch(0, 1, 1)
                                     .launch(1, 3, 1)
                                     .finish(7, 3)
                                     .launch(12, 2, 1)
                                     .finish(12, 1)
                                     .finish(20, 2));
  const JobErrors errors = job_errors(simulated, real);
  EXPECT_EQ(errors.jobs, 3u);
  EXPECT_EQ(errors.one_only, 0u);
  EXPECT_NEAR(errors.wait.mean, (0.0 - 2 + 3) / 3, 1e-12);
  EXPECT_DOUBLE_EQ(errors.wait.p50, 2);  // of 0, 2, 3
  EXPECT_NEAR(errors.wait.p90, 2.8, 1e-12);
  EXPECT_NEAR(errors.wait.p95, 2.9, 1e-12);
  EXPECT_DOUBLE_EQ(errors.wait.max, 3);
  EXPECT_NEAR(errors.execution.mean, 0, 1e-12);  // -2, +2, 0
  EXPECT_DOUBLE_EQ(errors.execution.max, 2);
  EXPECT_DOUBLE_EQ(errors.response.max, 3);  // -2, 0, +3
  EXPECT_NEAR(errors.relative_execution.mean, (-2.0 / 12 + 2.0 / 8 + 0) / 3, 1e-12);
}

TEST(JobErrors, CountWhatRanInOneOnly) {
  const JobTable simulated = table_of(Records("flat:9")
                                          .submit(0, 1, 1, 5)
                                          .submit(0, 2, 1, 5)
                                          .launch(0, 1, 1)
                                          .launch(0, 2, 1)
                                          .finish(5, 1)
                                          .finish(5, 2));
  const JobTable real = table_of(Records("flat:9")
                                     .submit(0, 1, 1, 5)
                                     .submit(0, 3, 1, 5)
                                     .launch(0, 1, 1)
                                     .launch(0, 3, 1)
                                     .finish(5, 1)
                                     .finish(5, 3));
  const JobErrors errors = job_errors(simulated, real);
  EXPECT_EQ(errors.jobs, 1u);
  EXPECT_EQ(errors.one_only, 2u);  // 2 and 3
  EXPECT_DOUBLE_EQ(errors.response.max, 0);
}

TEST(JobErrors, OfNothingAreNone) {
  const JobErrors errors = job_errors({}, {});
  EXPECT_EQ(errors.jobs, 0u);
  EXPECT_TRUE(std::isnan(errors.wait.p50));
}

}  // namespace
}  // namespace replay::compare
