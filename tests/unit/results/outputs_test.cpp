// Tests of the files that a run leaves, and of the result table.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/report/result_table.hpp"
#include "scheduler/results/jobs_csv.hpp"
#include "scheduler/results/metrics_json.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_json.hpp"
#include "scheduler/results/schedule_swf.hpp"
#include "scheduler/results/series_csv.hpp"
#include "tests/unit/metrics/records.hpp"
#include "traces/workload_reader.hpp"

namespace replay::results {
namespace {

namespace fs = std::filesystem;
using metrics::Records;
using report::Result;
using report::result_table;
using report::rigid_lines;
using namespace std::chrono_literals;

// A temporary folder, deleted at the end of the test.
class Folder {
 public:
  Folder() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = fs::temp_directory_path() / (std::string("replay-") + test->name() + "-" + std::to_string(::getpid()));
    fs::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::string text(const char* name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  fs::path path_;
};

struct Measured {
  metrics::JobTable jobs;
  metrics::CoreNames cores;
  metrics::ChosenSizes sizes;
  metrics::SharingFacts sharing;
  metrics::Series series;
  metrics::JobSums sums;
  metrics::Summary summary;
  explicit Measured(const Records& records) {
    records.feed(jobs, cores, sizes, sharing, series);
    for (const metrics::JobRow& row : jobs.rows()) sums.add(row);
    summary = metrics::summarise(sums, series);
  }
  void write_jobs_csv(const fs::path& file) const {
    JobsCsv csv(file, jobs.header(), 10s);
    for (const metrics::JobRow& row : jobs.rows())
      csv.put(row, jobs.reason(row.job), cores.used(row.job), {sizes.find(row.job), sharing.find(row.job)});
    csv.close();
  }
  void write_schedule(const fs::path& file, std::size_t expected) const {
    ScheduleSwf swf(file, jobs.header(), series.cores(), expected);
    for (const metrics::JobRow& row : jobs.rows()) swf.put(row);
    swf.close();
  }
  void write_metrics(const fs::path& file) const { write_metrics_json(file, jobs.header(), sums, series, summary); }
};

// A job that is shrunk, one that fails, one that is too wide.
Records three_jobs() {
  return Records("flat:4")
      .header("trace", "/logs/small.swf")
      .header("policy", "fcfs-malleable")
      .header("body", "sim")
      .submit(0, 1, 4, 10)
      .launch(0, 1, 4)
      .submit(2, 2, 2, 5)
      .resized(2, 1, 2, 2)
      .launch(2.5, 2, 2)
      .finish(7.5, 2, {Outcome::kFailed, 3, Verification::kFailed, 0.5, "residual 1e-3, expected \"small\""})
      .resized(7.5, 1, 4, 1)
      .finish(12.75, 1)
      .submit(13, 3, 9, 1)
      .finish(13, 3, metrics::ended(Outcome::kRejected));
}

TEST(JobsCsv, HasBatsimsColumnsFirstAndOursBehind) {
  const Folder folder;
  const Measured run(three_jobs());
  run.write_jobs_csv(folder.path() / "jobs.csv");
  EXPECT_EQ(
      folder.text("jobs.csv"),
      "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
      "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
      "consumed_energy,metadata,outcome,exit_code,verification,reason,expanded_runtime_s,suspended_s,slowdown,"
      "bounded_slowdown,mpl_mean,shrinks,expands,cores_at_start,cores_at_end,flexibility,cpu_use,user,group,queue,"
      "program,given_size,optimal_size,size_modifier,group_s,virtual_turnaround_s,expected_turnaround_s\n"
      "1,small.swf,default,0.000000,4,10.000000,1,COMPLETED_SUCCESSFULLY,0.000000,12.750000,12.750000,0.000000,"
      "12.750000,1.000000,0-3,-1,,completed,0,none,,10.000000,0.000000,1.275000,1.275000,1.431373,1,1,4,4,malleable,"
      ",,,,,,,,,,\n"
      "2,small.swf,default,2.000000,2,5.000000,0,COMPLETED_FAILED,2.500000,5.000000,7.500000,0.500000,5.500000,"
      "1.100000,2-3,-1,,failed,3,failed,\"residual 1e-3, expected \"\"small\"\"\",5.000000,0.000000,1.100000,1.000000,"
      "1.000000,0,0,2,2,malleable,0.500000,,,,,,,,,,\n"
      "3,small.swf,default,13.000000,9,1.000000,0,REJECTED,,,,,,,,-1,,rejected,0,none,,1.000000,,,,,0,0,0,0,malleable,"
      ",,,,,,,,,,\n");
}

TEST(JobsCsv, NamesTheHostsOfAJobWhereTheyAreKnown) {
  const Folder folder;
  Records records("1x1x2+1x1x1+1x1x2");
  records.header("hosts", "node1 node2.lab 10.0.0.3");
  records.submit(0, 1, 3, 5).launch_on(0, 1, {{1, 1}, {3, 1}, {4, 1}}).finish(5, 1);
  records.submit(5, 2, 5, 5).launch_on(5, 2, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}).finish(9, 2);
  records.submit(9, 3, 1, 5);
  Measured(records).write_jobs_csv(folder.path() / "jobs.csv");
  const std::string text = folder.text("jobs.csv");
  EXPECT_NE(text.find(",expected_turnaround_s,hosts\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",node1 10.0.0.3\n2,"), std::string::npos) << text;
  EXPECT_NE(text.find(",node1 node2.lab 10.0.0.3\n3,"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",,\n")) << "job 3 waits: " << text;
}

TEST(JobsCsv, NamesTheSizeThatAPolicyChose) {
  const Folder folder;
  Records records("flat:8");
  for (int job = 1; job <= 3; ++job) records.submit(0, job, 4, 10);
  records
      .add(0,
           log::StartDecided{JobId{1}, {.cores = 2, .mpl = 1, .named = {}, .processes = 2}, {6, 0.625, 0.93, 0.9, 40s}})
      .launch(0, 1, 2)
      .add(0, log::StartDecided{JobId{2}, {4, 1, {}}, {.optimal = 6}})
      .launch(0, 2, 4)
      .add(0, log::StartDecided{JobId{3}, {.cores = 1, .mpl = 1, .named = {}, .processes = 1}})
      .launch(0, 3, 1)
      .finish(30, 1)
      .finish(30, 2)
      .finish(30, 3);
  Measured(records).write_jobs_csv(folder.path() / "jobs.csv");
  const std::string text = folder.text("jobs.csv");
  EXPECT_NE(text.find(",2,2,malleable,,,,,,2,6,0.625000,,,\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",4,4,malleable,,,,,,4,6,,,,\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",1,1,malleable,,,,,,1,,,,,\n"), std::string::npos) << text;
}

TEST(JobsCsv, HasTheTimesOfJobsThatShareNodesAndTakeTurns) {
  const auto at = [](int second) { return Instant{std::chrono::seconds{second}}; };
  const Folder folder;
  Records records("1x2x2");
  for (int job = 1; job <= 2; ++job)
    records.submit(0, job, 2, 100)
        .add(0, ResponseExpected{JobId{job}, 75s})
        .add(0, ClassAssigned{JobId{job}, JobClass::kMedium});
  records.add(0, SliceBegun{JobClass::kMedium, at(10), at(50)});
  for (int job = 1; job <= 2; ++job) records.launch(10, job, 2);
  records.add(10, GroupFormed{JobId{1}, {JobId{2}}, 1, 0.5});
  for (int job = 1; job <= 2; ++job) records.add(50, log::SuspendDone{JobId{job}});
  records.add(50, SliceBegun{JobClass::kLong, at(60), at(100)})
      .add(100, SliceBegun{JobClass::kMedium, at(110), at(150)});
  for (int job = 1; job <= 2; ++job) records.resumed(110, job);
  records.finish(115, 2).add(115, GroupEnded{JobId{1}}).finish(130, 1);
  Measured(records).write_jobs_csv(folder.path() / "jobs.csv");
  const std::string text = folder.text("jobs.csv");
  EXPECT_NE(text.find(",,45.000000,60.000000,75.000000\n2,"), std::string::npos) << text;
  EXPECT_NE(text.find(",,45.000000,45.000000,75.000000\n", text.find("\n2,")), std::string::npos) << text;
}

TEST(ScheduleSwf, HasWaitRunAndStatusFilledIn) {
  const Folder folder;
  const Measured run(three_jobs());
  run.write_schedule(folder.path() / "schedule.swf", 3);
  const std::string text = folder.text("schedule.swf");
  EXPECT_TRUE(text.starts_with("; Version: 2.2\n")) << text;
  EXPECT_NE(text.find("; MaxProcs: 4\n"), std::string::npos);
  EXPECT_TRUE(
      text.ends_with("\n1 0 0 12.75 4 -1 -1 4 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                     "2 2 0.5 5 2 2.5 -1 2 5 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
                     "3 13 -1 -1 -1 -1 -1 9 1 -1 5 -1 -1 -1 -1 -1 -1 -1\n"))
      << text;
}

TEST(SeriesCsv, HasOneLineForEachInstantAtWhichSomethingChanged) {
  const Folder folder;
  const Measured run(three_jobs());
  write_series_csv(folder.path() / "series.csv", run.series);
  EXPECT_EQ(folder.text("series.csv"),
            "time_s,queued_jobs,waiting_processors,running_jobs,suspended_jobs,busy_cores,processes,mpl_ratio\n"
            "0.000000,0,0,1,0,4,4,1.000000\n"
            "2.000000,1,2,1,0,2,4,1.000000\n"
            "2.500000,0,0,2,0,4,6,1.500000\n"
            "7.500000,0,0,1,0,4,4,1.000000\n"
            "12.750000,0,0,0,0,0,0,0.000000\n"
            "13.000000,0,0,0,0,0,0,0.000000\n");
}

TEST(MetricsJson, StatesEachMetricsUnitAndDefinitionAndBatsimsNames) {
  const Folder folder;
  const Measured run(three_jobs());
  run.write_metrics(folder.path() / "metrics.json");
  const auto json = nlohmann::json::parse(folder.text("metrics.json"));
  EXPECT_EQ(json["format"], "replay-metrics 1");
  EXPECT_EQ(json["policy"], "fcfs-malleable");
  EXPECT_EQ(json["options"]["bounded_slowdown_bound_s"], 10);
  EXPECT_EQ(json["metrics"]["mean_wait"]["value"], 0.25);
  EXPECT_EQ(json["metrics"]["mean_wait"]["unit"], "s");
  EXPECT_EQ(json["batsim"]["nb_jobs"], 3);
  EXPECT_EQ(json["batsim"]["nb_jobs_success"], 1);
  EXPECT_EQ(json["batsim"]["max_waiting_time"], 0.5);
}

TEST(MetricsJson, WhatCannotBeHadIsNull) {
  const Folder folder;
  const Measured run(Records("flat:4"));
  run.write_metrics(folder.path() / "metrics.json");
  EXPECT_TRUE(nlohmann::json::parse(folder.text("metrics.json"))["metrics"]["mean_wait"]["value"].is_null());
}

TEST(RunJson, SaysWhatTheRunWas) {
  RunInfo info;
  info.command = "replay simulate --trace a.swf";
  info.parameters = {{"expand", "queue-empty"}};
  info.inputs = {{"a.swf", "00", 5}};
  info.notes = {"not \xff UTF-8"};
  const Folder folder;
  write_json(folder.path() / "run.json", to_json(info));
  const auto json = nlohmann::json::parse(folder.text("run.json"));
  EXPECT_EQ(json["parameters"]["expand"], "queue-empty");
  EXPECT_EQ(json["inputs"][0]["bytes"], 5);
  EXPECT_TRUE(json["ended"].is_null());
  EXPECT_TRUE(json["load_of_others"]["before"].is_null());
}

TEST(InputFile, HasTheHashThatSha256sumPrints) {
  const Folder folder;
  const auto hash_of = [&folder](const std::string& text) {
    std::ofstream(folder.path() / "f", std::ios::binary) << text;
    return input_file(folder.path() / "f").sha256;
  };
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_THROW((void)input_file(folder.path() / "none"), InputError);
}

TEST(ScheduleSwf, SaysHowManyJobsCameThoughMoreWereExpected) {
  const Folder folder;
  const Measured run(three_jobs());
  const fs::path file = folder.path() / "schedule.swf";
  run.write_schedule(file, 3);
  const std::string as_expected = folder.text("schedule.swf");
  run.write_schedule(file, 12'000);
  const std::string text = folder.text("schedule.swf");
  EXPECT_NE(text.find("; MaxJobs: 3    \n; MaxRecords: 3    \n"), std::string::npos) << text;
  EXPECT_EQ(text.size(), as_expected.size() + 8);
  EXPECT_EQ(read_workload(file.string()).header.max_records(), 3);
}

TEST(Outputs, ListsAreChecked) {
  EXPECT_EQ(parse_outputs("jobs,swf"), (std::set<std::string>{"jobs", "swf"}));
  EXPECT_EQ(parse_outputs("all"), output_names());
  EXPECT_TRUE(parse_outputs("none").empty());
  EXPECT_THROW((void)parse_outputs("jobs,"), UsageError);
  EXPECT_THROW((void)parse_outputs("job"), UsageError);
}

TEST(Outputs, AFullDiskIsNoticedAndTheFileNamed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const Measured run(three_jobs());
  const auto expect_full = [](auto&& write) {
    try {
      write();
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("/dev/full: ")) << error.what();
      EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
    }
  };
  expect_full([&] { run.write_jobs_csv("/dev/full"); });
  expect_full([&] { run.write_schedule("/dev/full", 3); });
  expect_full([&] { run.write_metrics("/dev/full"); });
  expect_full([&] { write_series_csv("/dev/full", run.series); });
}

TEST(ResultTable, OnePolicyHasOneLine) {
  const Result result{"easy", Measured(three_jobs()).summary};
  EXPECT_EQ(
      result_table({&result, 1}),
      "policy  wait s  resp. s  slowdown  bsld 10s  frag. %  util. %    MPL  span s  shrinks  expands  jobs  failed\n"
      "easy      0.25     9.12     1.188     1.137     1.92    96.15  1.173    13.0        1        1     2       1\n");
}

TEST(ResultTable, FurtherPoliciesAreComparedToTheFirst) {
  const Records slow = Records("flat:4").submit(0, 1, 4, 10).launch(10, 1, 4).finish(20, 1);
  const Records fast = Records("flat:4").submit(0, 1, 4, 10).launch(5, 1, 4).finish(15, 1);
  const std::vector<Result> results = {{"fcfs", Measured(slow).summary}, {"easy", Measured(fast).summary}};
  const std::string text = result_table(results);
  EXPECT_NE(text.find("\n\n% to fcfs "), std::string::npos) << text;
  EXPECT_NE(text.find("\neasy        -50.0    -25.0     -25.0     -25.0    -33.3    +33.3  +33.3   -25.0"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(to_json(results).dump());
  EXPECT_EQ(json[0]["policy"], "fcfs");
  EXPECT_FALSE(json[0].contains("difference_percent"));
  EXPECT_EQ(json[1]["metrics"]["mean_wait"], 5);
  EXPECT_EQ(json[1]["difference_percent"]["mean_wait"], -50);
  EXPECT_TRUE(json[1]["difference_percent"]["shrinks"].is_null());
}

TEST(ResultTable, WhatCannotBeHadIsADash) {
  const Result result{"easy", Measured(Records("flat:4")).summary};
  EXPECT_NE(result_table({&result, 1}).find("easy         - "), std::string::npos);
}

TEST(ResultTable, NamesWhyJobsRanAsRigidTheCommonestReasonFirst) {
  EXPECT_EQ(rigid_lines("easy", {}), "");
  EXPECT_EQ(rigid_lines("easy", {{"a.out is statically linked", 1}, {"vmlib is not available", 12}}),
            "easy: 12 jobs ran as rigid: vmlib is not available\n"
            "easy: 1 job ran as rigid: a.out is statically linked\n");
  std::map<std::string, std::size_t> many;
  for (char c = 'a'; c <= 'l'; ++c) many[std::string(1, c)] = 1;
  EXPECT_NE(rigid_lines("easy", many).find("easy: others ran as rigid for 2 more reasons"), std::string::npos);
}

}  // namespace
}  // namespace replay::results
