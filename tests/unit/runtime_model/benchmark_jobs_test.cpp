// Tests of the jobs that a profile makes of a trace, and of the message when it lacks one.
#include "scheduler/runtime_model/benchmark_jobs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;

Profile measured_times() {
  Profile profile;
  ProfileEntry cg;
  cg.benchmark = "cg";
  cg.problem_class = "W";
  cg.command = "cg --class W";
  cg.processes = 2;
  cg.runtime_s = {0.5, 0, 3};
  cg.cpu_use = Figure{0.8, 0, 3};
  cg.slowdown_mpl_2 = Figure{1.7, 0, 3};
  profile.entries = {cg};
  profile.launch = {{1, {0.1, 0, 3}}, {2, {0.2, 0, 3}}};
  profile.end = {{1, {0.03, 0, 3}}, {2, {0.05, 0, 3}}};
  return profile;
}

Workload job(std::int32_t program, Duration runtime = 10s, Duration estimate = 20s, ProcessCount processes = 2) {
  TracedJob traced;
  traced.job.id = JobId{7};
  traced.job.processes = processes;
  traced.job.estimate = estimate;
  traced.truth.runtime = runtime;
  traced.truth.executable = program;
  traced.truth.cut_at_request = true;
  traced.truth.behaviour.cpu_use = 0.4;
  traced.job.declared = traced.truth.behaviour;
  return {{traced}};
}

BenchmarkSetting setting() {
  BenchmarkSetting made;
  made.programs = {{3, "cg  --class W"},
                   {4, "phases --runtime {runtime}"},
                   {5, "./own {runtime}"},
                   {6, "./own"},
                   {8, "mg --class A"}};
  made.profile_name = "mine.json";
  return made;
}

std::string message(Workload workload, const Profile& profile = measured_times()) {
  try {
    (void)set_benchmarks(workload, profile, setting());
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(BenchmarkJobs, RunAsLongAsMeasuredWithLaunchAndEnd) {
  Workload workload = job(3);
  const Profile profile = measured_times();
  const BenchmarkJobs result = set_benchmarks(workload, profile, setting());
  const TracedJob& traced = workload.jobs[0];
  EXPECT_EQ(result.benchmarks, 1U);
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(traced.truth.runtime, 750ms);
  EXPECT_EQ(traced.truth.behaviour.application, 0);
  EXPECT_EQ(traced.truth.behaviour.cpu_use, 0.8);
  EXPECT_EQ(traced.job.declared, traced.truth.behaviour);
  EXPECT_EQ(traced.job.estimate, 20s) << "as traced";
  EXPECT_FALSE(traced.truth.cut_at_request);
}

TEST(BenchmarkJobs, AnEstimateThatIsTheRunTimeFollowsIt) {
  Workload workload = job(3, 10s, 10s);
  (void)set_benchmarks(workload, measured_times(), setting());
  EXPECT_EQ(workload.jobs[0].job.estimate, 750ms);
}

TEST(BenchmarkJobs, OthersKeepTheirRunTimeAndPayLaunchAndEndOnRealCores) {
  for (const std::int32_t program : {-1, 4, 5}) {
    Workload workload = job(program);
    EXPECT_EQ(set_benchmarks(workload, measured_times(), setting()).benchmarks, 0U);
    EXPECT_EQ(workload.jobs[0].truth.runtime, 10'250ms) << program;
    EXPECT_EQ(workload.jobs[0].truth.behaviour.application, -1);
    EXPECT_EQ(workload.jobs[0].truth.behaviour.cpu_use, 0.4);
  }
  Workload workload = job(-1);
  BenchmarkSetting emulated = setting();
  emulated.adds_overheads = false;
  (void)set_benchmarks(workload, measured_times(), emulated);
  EXPECT_EQ(workload.jobs[0].truth.runtime, 10s) << "phases takes them off its own work there";
}

TEST(BenchmarkJobs, OfMoreCoresThanANodeHasLastAsLongAsOnTheFewestNodes) {
  Profile profile = measured_times();
  profile.entries[0].nodes = 2;
  CostsOnNodes& two = profile.over_nodes.emplace_back();
  two.launch = {{2, {0.4, 0, 3}}};
  two.end = {{2, {0.1, 0, 3}}};
  Workload workload = job(3);
  (void)set_benchmarks(workload, profile, setting());
  EXPECT_EQ(workload.jobs[0].truth.runtime, 1s) << "0.5 s, and launch and end over two nodes";
  workload = job(-1);
  (void)set_benchmarks(workload, profile, setting());
  EXPECT_EQ(workload.jobs[0].truth.runtime, 10'250ms) << "not known where it will be: the model adds the rest";
}

TEST(BenchmarkJobs, LastInTraceTimeWhateverTheTimeScale) {
  Workload workload = job(3);
  BenchmarkSetting real = setting();
  real.adds_overheads = false;
  real.time_scale = 0.01;
  (void)set_benchmarks(workload, measured_times(), real);
  EXPECT_EQ(workload.jobs[0].truth.runtime, 75s);
}

TEST(BenchmarkJobs, WhatWasNotMeasuredNamesTheCommandThatMeasuresIt) {
  EXPECT_EQ(
      message(job(3, 10s, 20s, 4)),
      "mine.json: job 7 runs 'cg  --class W' with 4 processes, which was not measured: `replay calibrate --benchmarks "
      "cg --classes W --processes 4 -o mine.json` adds it");
  EXPECT_EQ(
      message(job(8)),
      "mine.json: job 7 runs 'mg --class A' with 2 processes, which was not measured: `replay calibrate --benchmarks "
      "mg --classes A --processes 2 -o mine.json` adds it");
  EXPECT_EQ(
      message(job(6)),
      "mine.json: job 7 runs './own' with 2 processes, and the profile knows only cg --class W; `replay trace match` "
      "gives jobs programs that it knows, --runtime-model isolated needs none");
}

TEST(BenchmarkJobs, SaysWhichFiguresFormulasStandFor) {
  Profile profile = measured_times();
  profile.entries[0].slowdown_mpl_2.reset();
  profile.launch.clear();
  Workload workload = job(3);
  const auto notes = set_benchmarks(workload, profile, setting()).notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("says nothing of launch and end"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("two ranks on a core for cg --class W at 2 processes"), std::string::npos) << notes[1];
  EXPECT_NE(notes[1].find("replay calibrate --benchmarks cg --classes W --processes 2 -o mine.json"), std::string::npos)
      << notes[1];
}

}  // namespace
}  // namespace replay
