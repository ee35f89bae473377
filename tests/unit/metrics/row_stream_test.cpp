#include "scheduler/metrics/row_stream.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

// Keeps the rows that a stream hands over.
struct Rows final : RowReader {
  std::vector<JobRow> rows;
  std::vector<std::string> texts;
  void row(const JobRow& row, const RowTexts& its) override {
    rows.push_back(row);
    texts.push_back(fmt::format("{}|{}", its.reason, its.rigid_reason));
  }
};

// Expects that the stream's rows equal the table's.
void expect_same(const Rows& rows, const JobTable& kept) {
  ASSERT_EQ(rows.rows.size(), kept.rows().size());
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const JobRow& row = kept.rows()[i];
    ASSERT_TRUE(rows.rows[i] == row) << "job " << number(row.job);
    ASSERT_EQ(rows.texts[i], fmt::format("{}|{}", kept.reason(row.job), kept.rigid_reason(row.job)));
  }
}

TEST(RowStream, HandsOverTheRowsThatATableKeeps) {
  for (const char* policy : {"easy", "fcfs-malleable", "sjf"}) {
    const test::MemoryLog log = test::simulate(policy, test::cores(16), test::random_jobs(7, 3000, 16));
    Rows rows;
    RowStream stream(rows);
    JobTable kept;
    log::Header header;
    header.set("machine", "flat:16");
    std::size_t most = 0;
    history::Follower follower{{&kept, &stream}};
    follower.header(header);
    for (const log::Record& record : log.records()) {
      follower.record(record);
      most = std::max(most, stream.held());
    }
    if (policy == std::string_view{"easy"}) {  // no job waits for ever under it
      EXPECT_LT(most, 2500u) << "forgets them meanwhile";
    }
    stream.hand_over_rest();
    EXPECT_EQ(stream.held(), 0u);
    SCOPED_TRACE(policy);
    expect_same(rows, kept);
  }
}

// A job of days, and thousands of rows of all kinds that have to wait behind it.
TEST(RowStream, RowsThatWaitForLongSayWhatTheySaid) {
  constexpr int kJobs = 50'000;
  std::mt19937 chance{11};
  Rows rows;
  RowStream stream(rows);
  JobTable kept;
  Records records("flat:1000");
  records.submit(0, 1, 4, 900'000).launch(0, 1, 4);
  for (int job = 2; job <= kJobs; ++job) {
    const auto id = JobId{job};
    const int at = 10 * job;
    records.submit(at, job, 4, 5);
    switch (chance() % 8) {
      case 0: records.finish(at + 1, job, {Outcome::kCancelled, 0, Verification::kNone, -1, "taken back"}); break;
      case 1: records.launch(at, job, 2).finish(at + 9, job); break;
      case 2:
        records.launch(at, job, 4).resized(at + 1, job, 2, 2).resized(at + 2, job, 4, 1).finish(at + 6, job);
        break;
      case 3:
        records.launch(at, job, 4)
            .add(at + 1, log::SuspendDone{id})
            .add(at + 3, log::ResumeDone{id})
            .finish(at + 7, job);
        break;
      case 4:
        records.launch(at, job, 4)
            .add(at, log::RanksSeen{id, false, "it has threads"})
            .finish(at + 5, job, {Outcome::kFailed, 3, Verification::kFailed, 0.5, "exit status 3"});
        break;
      case 5:
        records.launch(at, job, 4).finish(at + 5, job, {Outcome::kOverrun, 0, Verification::kNone, -1, ""});
        break;
      default: records.launch(at, job, 4).finish(at + 5, job); break;
    }
  }
  records.feed(kept);
  records.feed(stream);
  EXPECT_TRUE(rows.rows.empty()) << "job 1 runs";
  EXPECT_EQ(stream.held(), std::size_t{kJobs});
  EXPECT_LT(stream.held_whole(), 35'000u)
      << "half of the rows are of the usual kind; the first ones are too few to care";
  stream.hand_over_rest();
  expect_same(rows, kept);
}

TEST(RowStream, HandsOverJobsThatHaveNotEndedAndWhyOthersDid) {
  Rows rows;
  RowStream stream(rows);
  Records("flat:8")
      .submit(0, 1, 1, 1)
      .submit(0, 2, 1, 1)
      .launch(1, 2, 1)
      .add(1, log::RanksSeen{JobId{2}, false, "it has threads"})
      .finish(2, 2, {Outcome::kFailed, 3, Verification::kNone, -1, "exit status 3"})
      .feed(stream);
  EXPECT_TRUE(rows.rows.empty()) << "job 1 waits";
  stream.hand_over_rest();
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].job, JobId{1});
  EXPECT_FALSE(rows.rows[0].has_ended());
  EXPECT_EQ(rows.texts, (std::vector<std::string>{"|", "exit status 3|it has threads"}));
}

TEST(RowStream, ALogThatCannotBeTrueIsRefused) {
  const auto feed = [](const Records& records) {
    Rows rows;
    RowStream stream(rows);
    records.feed(stream);
  };
  EXPECT_THROW(feed(Records("flat:8").launch(0, 1, 1)), InputError);
  EXPECT_THROW(feed(Records("flat:8").submit(0, 1, 1, 1).submit(0, 1, 1, 1)), InputError);
  EXPECT_THROW(feed(Records("flat:8").submit(0, 1, 1, 1).launch(0, 1, 1).finish(1, 1).finish(1, 1)), InputError);
}

}  // namespace
}  // namespace replay::metrics
