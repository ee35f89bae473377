// Every job's wait under EASY, compared with foreign schedules: four archive logs with waits under EASY backfilling, as
// simulated by pyss, in field 3 (392,228 jobs), where the logs are available, and two extracts of the KTH log in this
// repository. No wait may differ by a microsecond.

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

#include "scheduler/policy/registry.hpp"
#include "scheduler/sim/simulator.hpp"
#include "tests/support/archive_logs.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

// Computes each job's wait from the records of its run.
class Waits final : public log::Sink {
 public:
  void header(const log::Header&) override {}
  void record(const log::Record& record) override {
    if (const auto* submit = std::get_if<log::Submitted>(&record.what)) submitted_[submit->job.id] = record.at;
    if (const auto* launch = std::get_if<log::Launched>(&record.what))
      waits[launch->job] = record.at - submitted_.at(launch->job);
  }
  std::unordered_map<JobId, Duration> waits;

 private:
  std::unordered_map<JobId, Instant> submitted_;
};

void expect_golden_waits(const std::string& file, std::size_t jobs) {
  const LoadedWorkload loaded = read_workload(file);
  ASSERT_EQ(loaded.workload.jobs.size(), jobs);
  const NamedPolicy easy = make_policy("easy");
  Waits waits;
  simulate(Machine::pool(loaded.machine_size), loaded.workload, *easy.policy, *make_runtime_model("rigid"), waits);

  SwfReader golden{file};
  SwfRecord record;
  std::size_t different = 0;
  std::size_t seen = 0;
  while (golden.next(record)) {
    ++seen;
    const auto found = waits.waits.find(static_cast<JobId>(record.job));
    ASSERT_NE(found, waits.waits.end()) << "job " << record.job << " never started";
    if (found->second == record.wait) continue;
    if (++different <= 3)
      ADD_FAILURE() << "job " << record.job << " waits " << to_text(found->second) << " s, golden "
                    << to_text(record.wait) << " s";
  }
  EXPECT_EQ(seen, jobs);
  EXPECT_EQ(different, 0u) << "of " << jobs << " waits differ";
}

class EasyReference : public testing::TestWithParam<test::EasyReferenceLog> {};

TEST_P(EasyReference, EveryWaitIsTheGoldenOne) {
  SKIP_WITHOUT(GetParam().path());
  expect_golden_waits(GetParam().path(), GetParam().jobs);
}

INSTANTIATE_TEST_SUITE_P(ArchiveLogs, EasyReference, testing::ValuesIn(test::kEasyReferenceLogs), test::name_of_log);

TEST(EasyReferenceExtract, EveryWaitOfTheFirst1127JobsOfKthIsTheGoldenOne) {
  expect_golden_waits(REPLAY_SOURCE_DIR "/traces/samples/kth-easy-1127.swf", 1127);
}

TEST(EasyReferenceExtract, EveryWaitOfTheFirst149JobsOfKthIsTheGoldenOne) {
  expect_golden_waits(REPLAY_SOURCE_DIR "/traces/samples/kth-easy-149.swf", 149);
}

}  // namespace
}  // namespace replay
