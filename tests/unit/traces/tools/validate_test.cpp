#include "traces/tools/validate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using test::job_line;
using test::memory_source;

const std::string kHeader =
    "; Version: 2.2\n; Computer: toy\n; MaxJobs: 2\n; MaxRecords: 2\n; UnixStartTime: 843480031\n"
    "; TimeZoneString: Europe/Stockholm\n; StartTime: Mon Sep 23 14:00:31 CEST 1996\n; MaxProcs: 8\n";

Validation validate(const std::string& text, bool schedule = false) {
  TraceReader reader(memory_source(text, "log.swf"));
  return validate_trace(reader, {.schedule = schedule});
}

TEST(Validate, ARightLogHasNothingToSayAbout) {
  const Validation validation = validate(kHeader + job_line(1) + job_line(2));
  EXPECT_TRUE(validation.is_right());
  EXPECT_TRUE(validation.violations.empty()) << validation.violations.front().text;
  EXPECT_EQ(validation.records, 2U);
}

struct Case {
  const char* rule;
  Severity severity;
  std::string second;  // the record below job 1
};

TEST(Validate, EachRuleOfARecordIsFoundInItsLine) {
  const Case cases[] = {
      {"broken-line", Severity::kError, "1 2 3\n"},
      {"broken-line", Severity::kError, job_line(2, {{5, "four"}})},
      {"number-missing", Severity::kError, job_line(2, {{1, "0"}})},
      {"duplicate-number", Severity::kError, job_line(1)},
      {"number-gap", Severity::kWarning, job_line(3)},
      {"submit-missing", Severity::kError, job_line(2, {{2, "-1"}})},
      {"out-of-order", Severity::kError, job_line(2, {{2, "9"}})},
      {"negative-value", Severity::kError, job_line(2, {{3, "-2"}})},
      {"negative-value", Severity::kError, job_line(2, {{7, "-0.5"}})},
      {"status-unknown", Severity::kError, job_line(2, {{11, "6"}})},
      {"zero-number", Severity::kWarning, job_line(2, {{12, "0"}})},
      {"oversize", Severity::kError, job_line(2, {{5, "9"}})},
      {"oversize-request", Severity::kWarning, job_line(2, {{8, "9"}})},
      {"size-missing", Severity::kWarning, job_line(2, {{5, "-1"}, {8, "0"}})},
      {"size-fields-differ", Severity::kWarning, job_line(2, {{5, "2"}})},
      {"runtime-missing", Severity::kWarning, job_line(2, {{4, "-1"}})},
      {"cancelled-never-ran", Severity::kWarning, job_line(2, {{4, "-1"}, {11, "5"}})},
      {"request-missing", Severity::kWarning, job_line(2, {{9, "-1"}})},
      {"over-request", Severity::kWarning, job_line(2, {{4, "201"}})},
      {"cpu-use-clamped", Severity::kWarning, job_line(2, {{6, "101"}})},
      {"preceding-missing", Severity::kError, job_line(2, {{17, "3"}})},
      {"preceding-missing", Severity::kError, job_line(2, {{17, "2"}})},
      {"think-time", Severity::kWarning, job_line(2, {{18, "5"}})},
      {"partial-execution", Severity::kError, job_line(2, {{11, "3"}})},
  };
  for (const Case& c : cases) {
    const Validation validation = validate(kHeader + job_line(1) + c.second);
    const Violation* found = validation.find(c.rule);
    ASSERT_NE(found, nullptr) << c.rule << ": " << c.second;
    EXPECT_EQ(found->severity, c.severity) << c.rule;
    EXPECT_EQ(found->count, 1U) << c.rule;
    EXPECT_EQ(found->lines, (std::vector<std::size_t>{10})) << c.rule;
    EXPECT_EQ(validation.is_right(), c.severity == Severity::kWarning) << c.rule;
  }
}

TEST(Validate, FieldsBehindTheEighteenAreWrong) {
  std::string line = job_line(2);
  line.pop_back();
  const Validation validation = validate(kHeader + job_line(1) + line + " 15230\n");
  ASSERT_NE(validation.find("extra-fields"), nullptr);
  EXPECT_EQ(validation.find("extra-fields")->lines, (std::vector<std::size_t>{10}));
  EXPECT_FALSE(validation.is_right());
}

TEST(Validate, NumbersThatDescendAreOddButNotWrong) {
  const Validation validation = validate(kHeader + job_line(2, {{2, "5"}}) + job_line(1));
  EXPECT_NE(validation.find("number-order"), nullptr);
  EXPECT_TRUE(validation.is_right());
}

TEST(Validate, HeaderRules) {
  const std::string jobs = job_line(1) + job_line(2);
  const auto finds = [&](const std::string& header, const char* rule) {
    return validate(header + jobs).find(rule) != nullptr;
  };
  EXPECT_TRUE(finds("; Version: 2.2\n", "machine-size"));
  EXPECT_TRUE(finds("; MaxNodes: 8\n", "machine-size"));
  EXPECT_TRUE(finds("; MaxProcs: 8\n", "header-label-missing"));
  EXPECT_TRUE(finds(kHeader + "; MaxProcs: 9\n", "header-label-repeated"));
  EXPECT_TRUE(finds(kHeader + "; MaxProcessors: 9\n", "header-label-unknown"));
  EXPECT_TRUE(finds("; MaxProcs: many\n", "header-value"));
  EXPECT_TRUE(finds("; Preemption: maybe\n", "header-value"));
  EXPECT_TRUE(finds("; MaxRecords: 3\n", "max-records"));
  EXPECT_TRUE(finds("; MaxJobs: 3\n", "max-jobs"));
  EXPECT_TRUE(finds("; UnixStartTime: 5\n; TimeZoneString: Europe/Nowhere\n", "time-zone"));
  EXPECT_TRUE(finds("; StartTime: soon\n", "start-time"));
  EXPECT_TRUE(
      finds("; UnixStartTime: 843480032\n; TimeZoneString: Europe/Stockholm\n"
            "; StartTime: Mon Sep 23 14:00:31 CEST 1996\n",
            "start-time"))
      << "a second apart";
}

TEST(Validate, ExecutionsInPartsHaveToAddUp) {
  const std::string summary = job_line(1, {{4, "30"}});
  const auto burst = [](const char* submit, const char* run, const char* status) {
    return job_line(1, {{2, submit}, {4, run}, {11, status}});
  };
  const auto is_right = [&](const std::string& bursts) {
    return validate(summary + bursts + job_line(2)).find("partial-execution") == nullptr;
  };
  EXPECT_TRUE(is_right(burst("10", "10", "2") + burst("-1", "20", "3")));
  EXPECT_FALSE(is_right(burst("10", "10", "2") + burst("-1", "19", "3"))) << "29 s are not 30 s";
  EXPECT_FALSE(is_right(burst("10", "10", "2") + burst("-1", "20", "4"))) << "completed as a whole, failed at last";
  EXPECT_FALSE(is_right(burst("10", "10", "2") + burst("-1", "20", "2"))) << "it goes on, but does not";
  EXPECT_FALSE(is_right(burst("10", "10", "3") + burst("-1", "20", "3"))) << "after the last one";
  EXPECT_FALSE(is_right(burst("-1", "10", "2") + burst("-1", "20", "3"))) << "the first one has a submit time";
}

TEST(Validate, TheLoggedScheduleIsLookedAtOnRequest) {
  const std::string log = kHeader + job_line(1, {{5, "8"}, {3, "0"}}) + job_line(2, {{3, "0"}});
  EXPECT_EQ(validate(log).find("schedule"), nullptr);
  const Validation validation = validate(log, true);
  EXPECT_EQ(validation.logged_peak, 12);
  EXPECT_NE(validation.find("schedule"), nullptr);
  EXPECT_TRUE(validation.is_right()) << "logs are like that";
}

TEST(Validate, ErrorsStandBeforeWarningsWithTheirFirstFiveLines) {
  std::string log = kHeader;
  for (int i = 1; i <= 8; ++i) log += job_line(i, {{9, "-1"}, {11, "7"}});
  const Validation validation = validate(log);
  EXPECT_EQ(validation.violations.front().rule, "status-unknown");
  EXPECT_EQ(validation.find("request-missing")->count, 8U);
  EXPECT_EQ(validation.find("request-missing")->lines, (std::vector<std::size_t>{9, 10, 11, 12, 13}));
  EXPECT_EQ(validation.count(Severity::kError), 8U);
}

}  // namespace
}  // namespace replay
