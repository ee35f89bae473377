// The audit of foreign schedules: the four archive logs with waits that another simulator computed under EASY have no
// finding under the rule, 392,228 jobs in all, and would have some if the rule were read otherwise. Also the audit of
// our own schedules of real logs.

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>

#include "scheduler/audit/schedule_file.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/unit/audit/schedules.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

class AuditedReference : public testing::TestWithParam<EasyReferenceLog> {};

TEST_P(AuditedReference, FollowsEasyByEventAndNoOtherRule) {
  const std::string path = GetParam().path();
  SKIP_WITHOUT(path);
  const audit::ScheduleFile file = audit::read_schedule(path);
  ASSERT_TRUE(file.machine_size);
  const audit::Report report = audit::audit(file.schedule, rule("easy", *file.machine_size));
  EXPECT_EQ(report.jobs, GetParam().jobs);
  EXPECT_EQ(report.total(), 0u) << lines(report, file.schedule).substr(0, 2000);
  for (const char* other : {"easy:pass=instant", "fcfs"})
    EXPECT_GT(audit::audit(file.schedule, rule(other, *file.machine_size)).total(), 0u) << other;
  EXPECT_GT(audit::audit(file.schedule, rule("easy", *file.machine_size - 1)).total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(ArchiveLogs, AuditedReference, testing::ValuesIn(kEasyReferenceLogs), name_of_log);

class AuditedLog : public testing::TestWithParam<const char*> {};

TEST_P(AuditedLog, UnderOurPoliciesFollowsTheirRules) {
  const auto path = archive_log(GetParam());
  SKIP_WITHOUT(path);
  const LoadedWorkload loaded = read_workload(path);
  const std::vector<TracedJob> jobs(loaded.workload.jobs.begin(), loaded.workload.jobs.end());
  for (const char* policy : {"fcfs", "easy", "easy:pass=instant", "conservative", "conservative:compress=start-order",
                             "conservative:compress-at=every-end"}) {
    const audit::Schedule schedule = schedule_of(simulate(policy, cores(loaded.machine_size), jobs, "rigid"));
    const audit::Report report = audit::audit(schedule, rule(policy, loaded.machine_size));
    EXPECT_EQ(report.jobs, loaded.workload.jobs.size());
    EXPECT_EQ(report.total(), 0u) << policy << "\n" << lines(report, schedule).substr(0, 2000);
    if (policy == std::string_view{"easy"} && std::string_view{GetParam()}.starts_with("KTH")) {
      EXPECT_GT(audit::audit(schedule, rule("conservative", loaded.machine_size)).total(), 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ArchiveLogs, AuditedLog,
                         testing::Values("KTH-SP2-1996-2", "SDSC-SP2-1998-first4961", "NASA-iPSC-1993-3.1-cln",
                                         "lublin_256"),
                         [](const testing::TestParamInfo<const char*>& log) {
                           std::string name = log.param;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace replay::test
