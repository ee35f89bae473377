// Tests of `replay trace declare`: files, pipes, wrong input, and the logs of the archive where they are available.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/trace_stream.hpp"

namespace replay::test {
namespace {

const std::string kReplay = REPLAY_PROGRAM;
constexpr const char* kKth = REPLAY_SOURCE_DIR "/traces/samples/kth-easy-1127.swf";
constexpr const char* kEverything =
    " --seed 7 --speedup downey --constraint survey --moldable 0.6 --malleable short=0,long=0.4 --estimates "
    "tsafrir:parameters=kth --cpu-util logged-else:uniform:0.2:1 --ov uniform --contention table4 --size-rule "
    "glomarc:cores=4 --priority every=5,user=1,political=1";

class TraceDeclare : public testing::Test {
 protected:
  ShellResult run(const std::string& command) { return shell(command, folder_.path()); }
  ShellResult declare(const std::string& arguments) { return run(kReplay + " trace declare " + arguments); }
  std::vector<TraceEntry> entries(const std::string& name) {
    TraceReader reader((folder_ / name).string(), {.swf = {.strict = true}});
    std::vector<TraceEntry> list;
    for (TraceEntry entry; reader.next(entry);) list.push_back(entry);
    return list;
  }
  void expect_complaint(const std::string& arguments, int status, std::initializer_list<const char*> words) {
    const ShellResult result = declare(arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.err;
    for (const char* word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << arguments << ": " << result.err;
  }
  TemporaryFolder folder_;
};

TEST_F(TraceDeclare, TheNoteOfMalleableAloneIsACommand) {
  ASSERT_EQ(declare("--malleable 0.3 " + std::string{kKth} + " -o a.swf").status, 0);
  const std::string text = text_of(folder_ / "a.swf"), mark = "; Note: made by: replay trace declare ";
  const std::size_t from = text.find(mark) + mark.size();
  const ShellResult again = declare(text.substr(from, text.find('\n', from) - from) + " " + kKth + " -o b.swf");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(text_of(folder_ / "b.swf"), text);
  EXPECT_EQ(text_of(folder_ / "b.jobs.csv"), text_of(folder_ / "a.jobs.csv"));
}

TEST_F(TraceDeclare, TheSameInputOptionsAndSeedGiveTheSameBytes) {
  for (const char* name : {"a", "b"}) {
    const ShellResult result = declare(std::string(kKth) + kEverything + " -o " + name + ".swf");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(result.out.empty());
    EXPECT_NE(result.err.find("declared for 1127 jobs"), std::string::npos) << result.err;
  }
  EXPECT_FALSE(text_of(folder_ / "a.jobs.csv").empty());
  EXPECT_EQ(text_of(folder_ / "a.swf"), text_of(folder_ / "b.swf"));
  EXPECT_EQ(text_of(folder_ / "a.jobs.csv"), text_of(folder_ / "b.jobs.csv"));
  for (const TraceEntry& entry : entries("a.swf")) {
    EXPECT_GE(entry.record.requested_time, entry.record.run);
    EXPECT_TRUE(entry.traits.speedup && entry.traits.pair_key && entry.traits.cpu_use);
  }
}

TEST_F(TraceDeclare, APipeGivesWhatAFileGives) {
  const std::string options = " --estimates tsafrir --contention table4";
  EXPECT_EQ(declare(std::string(kKth) + options + " -o file.swf").status, 0);
  const ShellResult piped = run("gzip -c " + std::string(kKth) + " | " + kReplay + " trace declare - " + options +
                                " --jobs-to pipe.jobs.csv > pipe.swf");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(text_of(folder_ / "pipe.swf"), text_of(folder_ / "file.swf"));
  EXPECT_EQ(text_of(folder_ / "pipe.jobs.csv"), text_of(folder_ / "file.jobs.csv"));
}

TEST_F(TraceDeclare, ACalibrationGivesItsBenchmarksTheirCurves) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n; Program: 0 ep --class S\n; Program: 1 phases\n"
             "1 0 -1 10 2 -1 -1 2 100 -1 1 1 1 0 1 -1 -1 -1\n"
             "2 1 -1 10 2 -1 -1 2 100 -1 1 1 1 1 1 -1 -1 -1\n"
             "1 2 -1 10 2 -1 -1 2 100 -1 1 1 1 0 1 -1 -1 -1\n");
  Profile profile;
  ProfileEntry ep;
  ep.benchmark = "ep";
  ep.problem_class = "S";
  ep.processes = 2;
  ep.command = "ep --class S";
  ep.runtime_s = {.value = 0.5, .spread = 0.01, .runs = 3};
  profile.entries = {ep};
  profile.machine.cores = 8;
  write_profile(profile, (folder_ / "none.json").string());
  const ShellResult none = declare("t.swf --profile none.json -o out.swf");
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("none.json: expected the speedup of a program of the trace, found none"), std::string::npos)
      << none.err;

  profile.speedups = {{"ep", "S", {{1, 1}, {2, 1.9}}, SpeedupCurve{DowneySpeedup{3, 0.5}}, 0.01}};
  write_profile(profile, (folder_ / "p.json").string());
  const ShellResult result = declare("t.swf --profile p.json -o out.swf");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("1 job with a curve of p.json"), std::string::npos) << result.err;
  const auto declared = entries("out.swf");
  ASSERT_EQ(declared.size(), 3U);
  EXPECT_EQ(declared[0].traits.speedup, SpeedupCurve{(DowneySpeedup{3, 0.5})});
  EXPECT_EQ(declared[0].traits.flexibility, Flexibility::kMoldable);
  EXPECT_EQ(declared[0].traits.least, 1);
  EXPECT_EQ(declared[0].traits.most, 5) << "2A - 1 is the largest useful size";
  EXPECT_TRUE(declared[1].traits.empty()) << "phases has no curve of its own";
  const ShellResult malleable = declare("t.swf --profile p.json --malleable 1 -o malleable.swf");
  EXPECT_EQ(malleable.status, 0) << malleable.err;
  EXPECT_EQ(entries("malleable.swf")[0].traits.flexibility, Flexibility::kMalleable);
}

TEST_F(TraceDeclare, OneAfterAnotherGivesWhatOneGives) {
  EXPECT_EQ(declare(std::string(kKth) + " --ov uniform -o a.swf").status, 0);
  EXPECT_EQ(declare("a.swf --estimates factor:2 -o b.swf").status, 0);
  EXPECT_EQ(declare("b.swf --cpu-util constant:0.5 -o c.swf").status, 0);
  EXPECT_EQ(declare(std::string(kKth) + " --ov uniform --estimates factor:2 --cpu-util constant:0.5 -o d.swf").status,
            0);
  EXPECT_EQ(text_of(folder_ / "c.jobs.csv"), text_of(folder_ / "d.jobs.csv"));
  const auto one_by_one = entries("c.swf"), at_once = entries("d.swf");
  ASSERT_EQ(one_by_one.size(), at_once.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) EXPECT_EQ(one_by_one[i].record, at_once[i].record);
  const std::string header = text_of(folder_ / "c.swf");
  const std::size_t first = header.find("made by: replay trace declare --seed 1 --ov uniform:0:1");
  const std::size_t second = header.find("made by: replay trace declare --seed 1 --estimates factor:2");
  EXPECT_LT(first, second) << "each step is noted, oldest first";
  EXPECT_NE(second, std::string::npos);
  EXPECT_NE(header.find("Acknowledge: Lars Malinowsky"), std::string::npos);
}

TEST_F(TraceDeclare, CuttingAndDeclaringCommute) {
  const std::string options = " --speedup downey --cpu-util uniform --contention table4";
  run("awk '/^;/ || (NR % 3)' " + std::string(kKth) + " > some.swf");
  EXPECT_EQ(declare("some.swf" + options + " -o late.swf").status, 0);
  EXPECT_EQ(declare(std::string(kKth) + options + " -o all.swf").status, 0);
  std::map<std::int64_t, JobTraits> all;
  for (const TraceEntry& entry : entries("all.swf")) all[entry.record.job] = entry.traits;
  const auto some = entries("late.swf");
  EXPECT_GT(some.size(), 700U);
  for (const TraceEntry& entry : some) EXPECT_EQ(entry.traits, all.at(entry.record.job)) << entry.record.job;
}

TEST_F(TraceDeclare, SaysWhatItDidWithBrokenLinesAndOtherRecords) {
  write_text(folder_ / "t.swf",
             job_line(1) + "2 nonsense\n" + "; a comment in between\n" + job_line(3, {{4, "-1"}}) + job_line(4));
  const ShellResult result = declare("t.swf --ov uniform -o u.swf");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("declared for 2 jobs; 1 record"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("skipped 1 broken line:\nt.swf:2:"), std::string::npos) << result.err;
  EXPECT_NE(text_of(folder_ / "u.swf").find("; a comment in between\n3 "), std::string::npos);
  expect_complaint("t.swf --ov uniform --strict -o v.swf", 1, {"t.swf:2:"});
  expect_complaint("t.swf --estimates tsafrir --strict -o v.swf", 1, {"t.swf:2:"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "v.swf"));
}

TEST_F(TraceDeclare, WrongInputIsNamed) {
  write_text(folder_ / "t.swf", job_line(1));
  run("gzip -c " + std::string(kKth) + " | head -c 5000 > cut.swf.gz");
  expect_complaint("t.swf", 2, {"nothing to declare", "--help"});
  expect_complaint("missing.swf --ov uniform", 1, {"missing.swf", "No such file"});
  expect_complaint("missing.swf --estimates tsafrir", 1, {"missing.swf", "No such file"});
  expect_complaint(". --ov uniform", 1, {"directory"});
  expect_complaint("cut.swf.gz --estimates perfect -o x.swf", 1, {"cut.swf.gz"});
  expect_complaint("cut.swf.gz --estimates tsafrir -o x.swf", 1, {"cut.swf.gz"});
  expect_complaint("t.swf --speedup downey -o x.swf", 2, {"MaxProcs", "--machine-size"});
  expect_complaint("t.swf --machine-size 8 --size-rule glomarc:cores=4 -o x.swf", 1, {"job 1", "--contention table4"});
  expect_complaint("t.swf --ov uniform", 2, {"--jobs-to"});
  expect_complaint("t.swf --ov uniform --seed x", 2, {"--seed"});
  expect_complaint("t.swf --estimates tsafrir:parameters=lanl -o x.swf", 2, {"lanl", "pooled, sdsc, ctc, kth, blue"});
  expect_complaint("t.swf --ov uniform -o t.swf", 1, {"t.swf", "--force"});
  expect_complaint("t.swf --ov uniform --jobs-from missing.csv -o x.swf", 1, {"missing.csv"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.swf"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.jobs.csv"));
}

TEST_F(TraceDeclare, DuplicateJobNumbersMakeASideFileThatCanBeRead) {
  write_text(folder_ / "t.swf", job_line(1) + job_line(1) + job_line(2));
  EXPECT_EQ(declare("t.swf --ov uniform -o u.swf").status, 0);
  const auto list = entries("u.swf");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_FALSE(list[0].traits.empty());
  EXPECT_TRUE(list[1].traits.empty());
}

TEST_F(TraceDeclare, EveryLogOfTheArchiveTwice) {
  SKIP_WITHOUT(archive_folder());
  for (const auto& log : std::filesystem::directory_iterator(archive_folder())) {
    if (log.path().extension() != ".gz") continue;
    for (const char* name : {"a", "b"}) {
      const ShellResult result =
          declare(log.path().string() + kEverything + " --machine-size 1024 --force -o " + name + ".swf");
      ASSERT_EQ(result.status, 0) << log.path() << result.err;
    }
    EXPECT_EQ(run("cmp a.swf b.swf && cmp a.jobs.csv b.jobs.csv").status, 0) << log.path();
    TraceReader reader((folder_ / "a.swf").string(), {.swf = {.strict = true}});
    std::uint64_t with_traits = 0;
    for (TraceEntry entry; reader.next(entry);) with_traits += entry.traits.empty() ? 0U : 1U;
    EXPECT_GT(with_traits, 0U) << log.path();
    EXPECT_EQ(reader.unknown_jobs().count, 0U) << log.path();
  }
}

}  // namespace
}  // namespace replay::test
