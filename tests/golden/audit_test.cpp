// The audit against schedules of others: the four archive logs whose waits another simulator made under EASY have no
// finding under the rule, 392,228 jobs in all, and would have some if the rule were read otherwise. And our own
// schedules of real logs.

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "scheduler/cli/schedule_file.hpp"
#include "tests/unit/audit/schedules.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> archive_log(const std::string& name) {
  const char* given = std::getenv("REPLAY_PWA_DIR");
  const fs::path folder = given != nullptr ? fs::path{given} : fs::path{REPLAY_SOURCE_DIR} / "../shared/traces/pwa";
  const fs::path file = folder / name;
  return fs::exists(file) ? std::optional{file.string()} : std::nullopt;
}

struct Reference {
  const char* name;
  std::size_t jobs;
};

void PrintTo(const Reference& log, std::ostream* out) { *out << log.name; }

class AuditedReference : public testing::TestWithParam<Reference> {};

TEST_P(AuditedReference, FollowsEasyByEventAndNoOtherRule) {
  const auto path = archive_log(std::string{GetParam().name} + "-EASY-reference.swf.gz");
  if (!path) GTEST_SKIP() << "the log of " << GetParam().name << " is not there; REPLAY_PWA_DIR says where to look";
  const cli::ScheduleFile file = cli::read_schedule(*path);
  ASSERT_TRUE(file.machine_size);
  const audit::Report report = audit::audit(file.schedule, rule("easy", *file.machine_size));
  EXPECT_EQ(report.jobs, GetParam().jobs);
  EXPECT_EQ(report.total(), 0u) << lines(report, file.schedule).substr(0, 2000);
  for (const char* other : {"easy:pass=instant", "fcfs"})
    EXPECT_GT(audit::audit(file.schedule, rule(other, *file.machine_size)).total(), 0u) << other;
  EXPECT_GT(audit::audit(file.schedule, rule("easy", *file.machine_size - 1)).total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(ArchiveLogs, AuditedReference,
                         testing::Values(Reference{"KTH-SP2", 28481}, Reference{"SDSC-SP2", 54006},
                                         Reference{"CTC-SP2", 77199}, Reference{"SDSC-BLUE", 232542}),
                         [](const testing::TestParamInfo<Reference>& log) {
                           std::string name = log.param.name;
                           std::erase(name, '-');
                           return name;
                         });

class AuditedLog : public testing::TestWithParam<const char*> {};

TEST_P(AuditedLog, UnderOurPoliciesFollowsTheirRules) {
  const auto path = archive_log(GetParam());
  if (!path) GTEST_SKIP() << GetParam() << " is not there; REPLAY_PWA_DIR says where to look";
  const LoadedWorkload loaded = read_workload(*path);
  for (const char* policy :
       {"fcfs", "easy", "easy:pass=instant", "conservative", "conservative:compress=start-order"}) {
    const audit::Schedule schedule =
        schedule_of(simulate(policy, cores(loaded.machine_size), loaded.workload.jobs, "rigid"));
    const audit::Report report = audit::audit(schedule, rule(policy, loaded.machine_size));
    EXPECT_EQ(report.jobs, loaded.workload.jobs.size());
    EXPECT_EQ(report.total(), 0u) << policy << "\n" << lines(report, schedule).substr(0, 2000);
    if (policy == std::string_view{"easy"} && std::string_view{GetParam()}.starts_with("KTH")) {
      EXPECT_GT(audit::audit(schedule, rule("conservative", loaded.machine_size)).total(), 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ArchiveLogs, AuditedLog,
                         testing::Values("KTH-SP2-1996-2.swf.gz", "SDSC-SP2-1998-first4961.swf.gz",
                                         "NASA-iPSC-1993-3.1-cln.swf.gz", "lublin_256.swf.gz"),
                         [](const testing::TestParamInfo<const char*>& log) {
                           std::string name = log.param;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace replay::test
