#include "scheduler/log/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/log/log_file.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::log {
namespace {

using namespace std::chrono_literals;
using test::core_loads;

std::string error_of_line(std::string_view line) {
  return error_of([line] { (void)parse_line(line, "events.log", 7); });
}

// Every record type, with every field once at its usual value and once not.
std::vector<Record> one_of_each() {
  Submitted full;
  full.job.id = JobId{3};
  full.job.submitted = at(11s);
  full.job.processes = 4;
  full.job.estimate = 60s;
  full.job.flexibility = Flexibility::kMoldable;
  full.job.declared = {0.1, 1.0 / 3};
  full.job.user = 5;
  full.job.group = 6;
  full.job.queue = 0;
  full.truth.runtime = 50'000'001us;
  full.truth.behaviour = {0.30000000000000004, 5e-324};
  full.truth.cut_at_request = true;
  full.truth.executable = 9;
  Submitted plain;
  plain.job.id = JobId{-4};
  plain.job.submitted = at(12500ms);
  plain.job.estimate = 1us;
  plain.truth.behaviour = plain.job.declared;
  const Allocation pool{4, 1, {}};
  const Allocation named{4, 2, core_loads({{0, 2}, {1, 2}, {2, 1}, {7, 1}})};
  const JobEnd bad{Outcome::kFailed, -11, Verification::kFailed, 0.75,
                   "rank 3: \"killed\"\n\\ \t\x01 gr\xc3\xbc\xc3\x9f"};
  const Instant t = at(12500ms);
  return {{t, full},
          {t, plain},
          {t, StartDecided{JobId{3}, pool}},
          {t, StartDecided{JobId{3}, pool, {.optimal = 6}}},
          {t, StartDecided{JobId{3}, pool, {6, 0.625, 0.93, 0.9, 2400s}}},
          {t, Launched{JobId{3}, named}},
          {t, RanksSeen{JobId{3}, true, ""}},
          {t, RanksSeen{JobId{3}, false, "static program"}},
          {t, ResizeDecided{JobId{3}, named}},
          {t, ResizeDone{JobId{3}, named}},
          {t, SuspendDecided{JobId{3}}},
          {t, SuspendDone{JobId{3}}},
          {t, ResumeDecided{JobId{3}}},
          {t, ResumeDone{JobId{3}}},
          {t, KillDecided{JobId{3}, KillReason::kInterrupted}},
          {t, Extended{JobId{3}, 66s}},
          {t, Finished{JobId{3}, bad}},
          {t, Finished{JobId{4}, {}}},
          {t, Failed{JobId{3}, "resize", "agent lost"}},
          {t, Note{""}},
          {t, NodeChange{NodeId{2}, NodeState::kReserved, at(72500ms), "the roof", "maint"}},
          {t, NodeChange{NodeId{0}, NodeState::kUp, kNever, "", ""}},
          {t, Requeued{JobId{3}, "node 2 went down"}},
          {t, GroupFormed{JobId{3}, {JobId{5}, JobId{-4}}, 2, 2.5}},
          {t, GroupEnded{JobId{3}}},
          {t, MatchRefused{JobId{3}, {JobId{5}}, 0.75, JobId{4}, 20s, 19s}},
          {t, ResponseExpected{JobId{3}, 1us}},
          {t, ClassAssigned{JobId{3}, JobClass::kMedium}},
          {t, SliceBegun{JobClass::kLong, at(72500ms), at(3600s)}}};
}

TEST(EventLogText, EachRecordTypeHasItsDocumentedLine) {
  std::string lines;
  for (const Record& record : one_of_each()) lines += to_line(record) + '\n';
  EXPECT_EQ(lines,
            "12.5 submit job=3 submitted=11 processes=4 estimate=60 runtime=50.000001 flexibility=moldable cpu_use=0.1 "
            "overhead=0.3333333333333333 true_cpu_use=0.30000000000000004 true_overhead=5e-324 user=5 group=6 queue=0 "
            "executable=9 cut_at_request=yes\n"
            "12.5 submit job=-4 processes=1 estimate=0.000001 runtime=0 flexibility=malleable\n"
            "12.5 start job=3 cores=4 mpl=1\n"
            "12.5 start job=3 cores=4 mpl=1 optimal=6\n"
            "12.5 start job=3 cores=4 mpl=1 optimal=6 modifier=0.625 load=0.93 ideal=0.9 horizon=2400\n"
            "12.5 launch job=3 cores=4 mpl=2 on=0-1:2,2:1,7:1\n"
            "12.5 ranks job=3 malleable=yes\n"
            "12.5 ranks job=3 malleable=no reason=\"static program\"\n"
            "12.5 resize job=3 cores=4 mpl=2 on=0-1:2,2:1,7:1\n"
            "12.5 resized job=3 cores=4 mpl=2 on=0-1:2,2:1,7:1\n"
            "12.5 suspend job=3\n"
            "12.5 suspended job=3\n"
            "12.5 resume job=3\n"
            "12.5 resumed job=3\n"
            "12.5 kill job=3 reason=interrupted\n"
            "12.5 extend job=3 estimate=66\n"
            "12.5 finish job=3 outcome=failed exit_code=-11 verification=failed cpu_use=0.75 "
            "reason=\"rank 3: \\\"killed\\\"\\n\\\\ \\t\\x01 gr\xc3\xbc\xc3\x9f\"\n"
            "12.5 finish job=4 outcome=completed\n"
            "12.5 failed job=3 action=\"resize\" reason=\"agent lost\"\n"
            "12.5 note text=\"\"\n"
            "12.5 node node=2 state=reserved until=72.5 reason=\"the roof\" reservation=\"maint\"\n"
            "12.5 node node=0 state=up\n"
            "12.5 requeue job=3 reason=\"node 2 went down\"\n"
            "12.5 group primary=3 matched=5,-4 way=2 gain=2.5\n"
            "12.5 ungroup primary=3\n"
            "12.5 refused primary=3 matched=5 gain=0.75 delayed=4 response=20 limit=19\n"
            "12.5 expected job=3 response=0.000001\n"
            "12.5 class job=3 class=medium\n"
            "12.5 slice class=long begins=72.5 ends=3600\n");
}

TEST(EventLogText, EachRecordReadsBackAsItWas) {
  std::set<std::string_view> unseen(kWords.begin(), kWords.end());
  for (const Record& record : one_of_each()) {
    unseen.erase(word_of(record.what));
    const std::string line = to_line(record);
    const Record read = parse_line(line, "events.log", 1);
    EXPECT_EQ(read.at, record.at) << line;
    EXPECT_EQ(word_of(read.what), word_of(record.what)) << line;
    EXPECT_EQ(to_line(read), line);
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(unseen, ", ")), "") << "records without an example";
  const auto all = one_of_each();
  const auto [job, truth] = std::get<Submitted>(parse_line(to_line(all[0]), "f", 1).what);
  const auto& [job_before, truth_before] = std::get<Submitted>(all[0].what);
  EXPECT_EQ(job.submitted, job_before.submitted);
  EXPECT_EQ(job.declared, job_before.declared);
  EXPECT_EQ(truth.behaviour, truth_before.behaviour);
  const auto start = std::get<StartDecided>(parse_line(to_line(all[4]), "f", 1).what);
  EXPECT_EQ(start.choice, std::get<StartDecided>(all[4].what).choice);
  const auto launched = std::get<Launched>(parse_line(to_line(all[5]), "f", 1).what);
  EXPECT_EQ(launched.allocation, std::get<Launched>(all[5].what).allocation);
  const auto end = std::get<Finished>(parse_line(to_line(all[16]), "f", 1).what).end;
  EXPECT_EQ(end.reason, std::get<Finished>(all[16].what).end.reason);
}

TEST(EventLogText, WhatAJobDeclaresAndTheSizeOfItsStartReadBack) {
  for (const std::string_view line :
       {"1 submit job=1 processes=4 estimate=9 runtime=8 flexibility=moldable user_priority=0.5 "
        "political_priority=-inf "
        "least=2 most=8 sizes=2|4|8 speedup=linear same_cpu=1.5 same_node=2 pair_key=18446744073709551615 "
        "speedup_power=0.5 slowdown_power=2",
        "1 submit job=1 processes=4 estimate=9 runtime=8 flexibility=rigid political_priority=1 pair_key=0",
        "1 start job=1 cores=2 mpl=2 on=0-1:2 shareable=yes processes=4 optimal=6 modifier=0.5 load=0 ideal=0 "
        "horizon=1"})
    EXPECT_EQ(to_line(parse_line(line, "events.log", 7)), line);
}

TEST(EventLogText, EveryWordOfAnEnumerationIsRead) {
  const auto expect_words = [](std::string_view record, std::string_view field, std::vector<std::string_view> words) {
    for (const std::string_view word : words) {
      const std::string line = fmt::format("1 {} {}={}", record, field, word);
      EXPECT_EQ(to_line(parse_line(line, "events.log", 7)), line);
    }
    EXPECT_EQ(error_of_line(fmt::format("1 {} {}=?", record, field)),
              fmt::format("events.log:7: field '{}': expected one of {}, found '?'", field, fmt::join(words, ", ")));
    EXPECT_EQ(error_of_line(fmt::format("1 {}", record)),
              fmt::format("events.log:7: field '{}': expected one of {}, found no such field", field,
                          fmt::join(words, ", ")));
  };
  expect_words("submit job=1 processes=1 estimate=1 runtime=1", "flexibility", {"rigid", "moldable", "malleable"});
  expect_words("kill job=1", "reason", {"policy", "overrun", "cancelled", "interrupted", "stuck"});
  expect_words("finish job=1", "outcome",
               {"completed", "failed", "overrun", "killed", "cancelled", "rejected", "lost"});
  expect_words("class job=1", "class", {"short", "medium", "long"});
}

TEST(EventLogText, AnOptionalFieldIsReadAsStrictlyAsOthers) {
  const auto error_with = [](std::string_view record, std::string_view field) {
    return error_of_line(fmt::format("1 {} {}", record, field)).substr(std::string_view{"events.log:7: "}.size());
  };
  const std::string_view submit = "submit job=1 processes=1 estimate=1 runtime=1 flexibility=rigid";
  const std::string_view start = "start job=1 cores=2 mpl=1";
  EXPECT_EQ(error_with(submit, "submitted=x"), "field 'submitted': expected seconds, found 'x'");
  EXPECT_EQ(error_with(submit, "cpu_use=x"), "field 'cpu_use': expected a number, found 'x'");
  EXPECT_EQ(error_with(submit, "cpu_use=-inf"), "field 'cpu_use': expected a number, found '-inf'");
  EXPECT_EQ(error_with(submit, "speedup_power=1e300"), "field 'speedup_power': expected a number, found '1e300'");
  EXPECT_EQ(error_with(submit, "user=1.5"), "field 'user': expected a whole number, found '1.5'");
  EXPECT_EQ(error_with(submit, "cut_at_request=1"), "field 'cut_at_request': expected yes or no, found '1'");
  EXPECT_EQ(error_with(submit, "political_priority=inf"),
            "field 'political_priority': expected a number or -inf, found 'inf'");
  EXPECT_EQ(error_with(submit, "least=0"), "field 'least': expected a count of processes, 1 or more, found '0'");
  EXPECT_EQ(error_with(submit, "sizes=4|2"), "field 'sizes': expected ascending counts such as 4|8|16, found '4|2'");
  EXPECT_EQ(error_with(submit, "speedup=fast"), "field 'speedup': expected a speedup curve, found 'fast'");
  EXPECT_EQ(error_with(start, "on=0-5:1"),
            "field 'on': expected CORE:PROCESSES or FIRST-LAST:PROCESSES, joined by commas, 2 cores in all, found "
            "'0-5:1'");
  EXPECT_EQ(error_with(start, "processes=0"), "field 'processes': expected a count of processes, 1 or more, found '0'");
  EXPECT_EQ(error_with("finish job=1 outcome=failed", "verification=x"),
            "field 'verification': expected one of none, passed, failed, found 'x'");
  EXPECT_EQ(error_with("finish job=1 outcome=failed", "reason=x"),
            "field 'reason': expected a string in quotes, with \\\" \\\\ \\n \\t \\xHH as escapes, found 'x'");
}

TEST(EventLogText, CoresInRankOrderKeepThatOrder) {
  const Record record{at(0s), Launched{JobId{1}, {4, 1, core_loads({{3, 1}, {2, 1}, {0, 1}, {1, 1}})}}};
  EXPECT_EQ(to_line(record), "0 launch job=1 cores=4 mpl=1 on=3:1,2:1,0-1:1");
  EXPECT_EQ(std::get<Launched>(parse_line(to_line(record), "f", 1).what).allocation,
            std::get<Launched>(record.what).allocation);
}

TEST(EventLogText, AllocationsThatOthersMayShareSaySo) {
  const Allocation shared{2, 2, core_loads({{4, 2}, {5, 1}}), true};
  EXPECT_EQ(to_line({at(1s), Launched{JobId{1}, shared}}), "1 launch job=1 cores=2 mpl=2 on=4:2,5:1 shareable=yes");
  for (const Record& record :
       {Record{at(1s), StartDecided{JobId{1}, shared}}, Record{at(1s), ResizeDone{JobId{1}, shared}}})
    EXPECT_EQ(to_line(parse_line(to_line(record), "events.log", 7)), to_line(record));
  const auto read = [](std::string_view line) {
    return std::get<Launched>(parse_line(line, "events.log", 7).what).allocation;
  };
  EXPECT_TRUE(read("1 launch job=1 cores=2 mpl=2 on=4:2,5:1 shareable=yes") == shared);
  EXPECT_FALSE(read("1 launch job=1 cores=2 mpl=2 on=4:2,5:1 shareable=no").shareable);
  EXPECT_FALSE(read("1 launch job=1 cores=2 mpl=2 on=4:2,5:1").shareable) << "as logs had it before";
}

TEST(EventLogText, OnlyCoresWithNamesAreShareable) {
  EXPECT_EQ(error_of_line("1 launch job=1 cores=2 mpl=1 shareable=yes"),
            "events.log:7: field 'shareable': expected no, where cores have no names, found 'yes'");
}

TEST(EventLogText, ALoadWithoutItsAimOrItsTimeIsAnError) {
  EXPECT_EQ(error_of_line("1 start job=1 cores=2 mpl=1 optimal=4 modifier=0.5 load=0.9 horizon=10"),
            "events.log:7: field 'ideal': expected a load, found no such field");
  EXPECT_EQ(error_of_line("1 start job=1 cores=2 mpl=1 load=0.9 ideal=0.9"),
            "events.log:7: field 'horizon': expected seconds, 0 or more, found no such field");
}

TEST(EventLogText, TimesKeepTheirMicroseconds) {
  for (const Duration time :
       {0us, 1us, 999'999us, 1'000'000us, 10'500'000us, -1us, -2'250'000us, Duration{9'000'000'000'000'000'000}}) {
    const std::string line = to_line({at(time), Note{"x"}});
    EXPECT_EQ(line, to_text(time) + " note text=\"x\"");
    EXPECT_EQ(parse_line(line, "f", 1).at, at(time));
  }
}

TEST(EventLogText, FieldsMayComeInAnyOrder) {
  EXPECT_EQ(to_line(parse_line("1 extend estimate=5 job=2", "f", 1)), "1 extend job=2 estimate=5");
}

TEST(EventLogText, AnErrorNamesFileLineFieldAndWhatWasExpectedAndFound) {
  EXPECT_EQ(error_of_line("12.5 submit job=3 processes=two estimate=1 runtime=1 flexibility=rigid"),
            "events.log:7: field 'processes': expected a count of processes, 1 or more, found 'two'");
  EXPECT_EQ(error_of_line("soon finish job=3"), "events.log:7: field 1 (time): expected seconds, found 'soon'");
  EXPECT_TRUE(has(error_of_line("1 begin job=3"), "field 2 (kind): expected one of submit, start, "));
  EXPECT_TRUE(has(error_of_line("1 begin job=3"), "found 'begin'"));
  EXPECT_EQ(error_of_line("1 suspend"), "events.log:7: field 'job': expected a job number, found no such field");
  EXPECT_EQ(error_of_line("1 finish job=3 outcome=fine"),
            "events.log:7: field 'outcome': expected one of completed, failed, overrun, killed, cancelled, rejected, "
            "lost, found 'fine'");
}

TEST(EventLogText, SlowdownsAreInTheRangeOfThoseInSideFiles) {
  const std::string job = "1 submit job=3 processes=1 estimate=1 runtime=1 flexibility=rigid ";
  for (const char* field : {"same_cpu", "same_node"}) {
    for (const char* wrong : {"1e-308", "0.0009", "0", "-1", "1000001", "1e308", "inf", "nan", "x"})
      EXPECT_EQ(
          error_of_line(fmt::format("{}{}={}", job, field, wrong)),
          fmt::format("events.log:7: field '{}': expected a slowdown of 0.001 to 1000000, found '{}'", field, wrong));
    for (const char* right : {"0.001", "1.5", "1000000"})
      EXPECT_EQ(error_of_line(fmt::format("{}{}={}", job, field, right)), "no error") << right;
  }
}

TEST(EventLogText, AFieldThatIsNotKnownIsAnErrorAndNotAGuess) {
  EXPECT_EQ(error_of_line("1 suspend job=3 colour=red"),
            "events.log:7: field 'colour': not known here, or there twice");
  EXPECT_EQ(error_of_line("1 suspend job=3 job=3"), "events.log:7: field 'job': not known here, or there twice");
}

TEST(EventLogText, NonsenseIsRefused) {
  for (const std::string_view line : {"",
                                      " ",
                                      "1",
                                      "1 ",
                                      "1 suspend  job=3",
                                      "1 suspend job=3 ",
                                      "1 suspend job",
                                      "1 suspend =3",
                                      "1 suspend job=3.5",
                                      "1 start job=3 cores=-1 mpl=1",
                                      "1 start job=3 cores=1 mpl=0",
                                      "1 start job=3 cores=2 mpl=1 on=0:1",
                                      "1 start job=3 cores=2 mpl=1 on=0-5:1",
                                      "1 start job=3 cores=2 mpl=1 on=1-0:1",
                                      "1 start job=3 cores=1 mpl=1 on=",
                                      "1 start job=3 cores=1 mpl=1 on=0:0",
                                      "1 start job=3 cores=1 mpl=1 on=0:1,",
                                      "1 start job=3 cores=2000000000 mpl=1",
                                      "1 note text=x",
                                      "1 note text=\"x",
                                      "1 note text=\"x\\q\"",
                                      "1 note text=\"\\x0\"",
                                      "1 note text=\"a\"b",
                                      "1 finish job=1 outcome=completed cpu_use=nan",
                                      "1 finish job=1 outcome=completed cpu_use=1x",
                                      "1 extend job=1 estimate=-1",
                                      "1 submit job=1 processes=0 estimate=1 runtime=1 flexibility=rigid"})
    EXPECT_NE(error_of_line(line), "no error") << line;
}

TEST(EventLogText, AFileReadsBackAsItWasWritten) {
  const TemporaryFile file;
  Header header;
  header.set("machine", "flat:8");
  header.set("policy", "easy");
  header.set("empty", "");
  header.set("trace", "two\nlines \\ and  blanks ");
  {
    TextWriter writer(file.path());
    writer.header(header);
    for (const Record& record : one_of_each()) writer.record(record);
    writer.close();
  }
  EXPECT_TRUE(file.text().starts_with(
      "#replay-events 1\n#machine flat:8\n#policy easy\n#empty\n#trace two\\nlines \\\\ and  blanks \n12.5 submit "));
  Collected read;
  EXPECT_TRUE(read_text(file.path(), read));
  ASSERT_EQ(read.headers.size(), 1u);
  EXPECT_EQ(read.headers[0].entries, header.entries);
  std::vector<std::string> written;
  for (const Record& record : one_of_each()) written.push_back(to_line(record));
  EXPECT_EQ(read.lines, written);
}

}  // namespace
}  // namespace replay::log
