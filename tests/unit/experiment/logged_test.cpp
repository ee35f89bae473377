// A log's own schedule as a run: under the policy `logged` every job starts when and as wide as the log says, on a machine
// that is large enough for it, and figures are shares of the machine that the log states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "tests/support/archive_logs.hpp"
#include "traces/swf_reader.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;

experiment::RunSpec spec_of(const std::string& trace, std::vector<std::string> policies = {"logged"}) {
  experiment::RunSpec spec;
  spec.world = experiment::World::kSimulated;
  spec.trace = trace;
  spec.policies = std::move(policies);
  spec.outputs = "none";
  return spec;
}

class LoggedSchedule : public testing::Test {
 protected:
  std::string log_of(const std::string& lines) {
    std::string path = (folder_ / "log.swf").string();
    std::ofstream(path) << "; MaxProcs: 4\n" << lines;
    return path;
  }
  TemporaryFolder folder_;
};

// Two jobs overlap by 10 s on more processors than there are, a third is cancelled after 100 s.
constexpr const char* kBeyond =
    "1 0 0 100 3 -1 -1 3 50 -1 1 1 1 1 -1 -1 -1 -1\n"
    "2 10 80 60 3 -1 -1 4 60 -1 1 1 1 1 -1 -1 -1 -1\n"
    "3 20 100 -1 -1 -1 -1 4 60 -1 5 1 1 1 -1 -1 -1 -1\n";

TEST_F(LoggedSchedule, HasAMachineOfTheLogsPeakAndFiguresOfTheStatedOne) {
  const experiment::Prepared run = experiment::prepare(spec_of(log_of(kBeyond), {"logged", "easy"}));
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_EQ(
      run.notes[0],
      "logged: the log has more processors in use than the 4 of its machine for 10 s, 6 at the most: it runs on so "
      "many, and its figures are shares of 4");
  const results::PolicyRun logged = experiment::simulate_policy(run, 0, {}, "replay", {});
  EXPECT_EQ(logged.machine, "flat:6");
  EXPECT_DOUBLE_EQ(logged.summary.value("utilisation"), (3 * 100 + 3 * 60) / (4.0 * 150));
  EXPECT_DOUBLE_EQ(logged.summary.value("mean_wait"), 40);
  EXPECT_EQ(logged.summary.value("jobs_completed"), 2) << "also the one that ran beyond its request";
  EXPECT_EQ(logged.summary.value("jobs_cancelled"), 1);
  const results::PolicyRun easy = experiment::simulate_policy(run, 1, {}, "replay", {});
  EXPECT_EQ(easy.machine, "flat:4");
  EXPECT_EQ(easy.summary.value("jobs"), 3) << "cancelled jobs are there under every policy";
}

TEST_F(LoggedSchedule, IsWhatTheLogHasWhateverTheRunChanges) {
  experiment::RunSpec spec = spec_of(log_of(kBeyond));
  spec.machine = "2x1x1";
  spec.scale_from = 0;
  spec.runtime_model = "pairs";
  spec.errors = {.curve_error = 1, .slowdown_error = 1};
  spec.cleaning = {{"size", "requested"}, {"cancelled", "skip"}};
  const experiment::Prepared run = experiment::prepare(spec);
  const results::PolicyRun logged = experiment::simulate_policy(run, 0, {}, "replay", {});
  EXPECT_EQ(logged.machine, "flat:6");
  EXPECT_DOUBLE_EQ(logged.summary.value("makespan"), 150);
  EXPECT_EQ(logged.summary.value("jobs"), 2);
}

std::string why_refused(const experiment::RunSpec& spec, const std::optional<experiment::RealCores>& cores = {}) {
  try {
    (void)experiment::prepare(spec, cores);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST_F(LoggedSchedule, NeedsALogWithWaitsAndNoRealRun) {
  const std::string without = log_of("1 0 -1 100 3 -1 -1 3 50 -1 1 1 1 1 -1 -1 -1 -1\n");
  EXPECT_NE(why_refused(spec_of(without)).find("no job that ran has a wait (field 3)"), std::string::npos);
  const experiment::RealCores cores{.machine = Machine::pool(4), .kind = experiment::JobsCores::Kind::kVirtual};
  EXPECT_NE(
      why_refused(spec_of(log_of(kBeyond), {"easy", "logged"}), cores).find("--policy logged: repeats the schedule"),
      std::string::npos);
}

TEST_F(LoggedSchedule, SaysHowManyJobsHaveNoWait) {
  const experiment::Prepared run = experiment::prepare(
      spec_of(log_of("1 0 -1 9 3 -1 -1 3 50 -1 1 1 1 1 -1 -1 -1 -1\n2 0 0 9 3 -1 -1 3 50 -1 1 1 1 1 -1 -1 -1 -1\n")));
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_EQ(run.notes[0],
            "logged: 1 job has a run time in the log and no wait, so when it started is not known: left out");
  EXPECT_EQ(experiment::simulate_policy(run, 0, {}, "replay", {}).summary.value("jobs"), 1);
}

// ---- whole logs ----

struct Peak {
  const char* log;
  CoreCount most;   // 0: not more than it states
  int seconds = 0;  // in which more are in use than it states
};

class LoggedLog : public testing::TestWithParam<Peak> {
 protected:
  [[nodiscard]] static std::string path() {
    const std::string name = GetParam().log;
    if (name.find('/') == std::string::npos) return archive_log(name);
    return (std::filesystem::path{REPLAY_SOURCE_DIR} / name).string();
  }
};

// What field 3 of the log says, read apart from the reader of workloads.
std::map<JobId, SwfRecord> records_of(const std::string& path) {
  std::map<JobId, SwfRecord> records;
  SwfReader reader{open_source(path)};
  for (SwfRecord record; reader.next(record);) records.emplace(JobId{record.job}, record);
  return records;
}

// Compares with the log each job that has started, and counts them.
class AsInTheLog final : public history::Observer {
 public:
  explicit AsInTheLog(std::map<JobId, SwfRecord> log) : log_(std::move(log)) {}
  void on_end(Instant at, const history::JobState& job, const JobEnd& /*end*/) override {
    if (job.launched == kNever) return;
    ++ran;
    const SwfRecord& is = log_.at(job.id);
    const CoreCount cores = is.allocated > 0 ? is.allocated : is.requested;
    const bool same = job.launched.time_since_epoch() == is.submit + is.wait && job.held.cores == cores &&
                      at.time_since_epoch() == is.submit + is.wait + is.run;
    if (!same) ++others;
  }
  std::size_t ran = 0, others = 0;

 private:
  std::map<JobId, SwfRecord> log_;
};

TEST_P(LoggedLog, HasEachJobStartAndEndAsTheLogSays) {
  SKIP_WITHOUT(path());
  const experiment::Prepared run = experiment::prepare(spec_of(path()));
  EXPECT_EQ(run.logged.stated.has_value(), GetParam().most > 0);
  EXPECT_EQ(run.logged.machine.size(), GetParam().most > 0 ? GetParam().most : run.loaded.machine_size);
  const std::string seconds = fmt::format(" {} s, {} at the most", GetParam().seconds, GetParam().most);
  EXPECT_EQ(std::ranges::any_of(run.notes, [&](const auto& note) { return note.find(seconds) != note.npos; }),
            GetParam().most > 0);
  AsInTheLog seen{records_of(path())};
  const NamedPolicy logged = make_policy("logged");
  const auto model = run.model_named(run.runtime_model_of(run.policies[0]));
  const Machine& machine = run.machine_of(run.policies[0]);
  results::Recorder recorder{{}, experiment::figures_only(machine, "logged", "isolated")};
  experiment::SimBody body{machine, run.workload_of(run.policies[0]), run.simulation_options_of(run.policies[0])};
  const results::PolicyRun done = experiment::run(body, *logged.policy, *model, recorder, {.observers = {&seen}});
  EXPECT_EQ(done.fault, "");
  EXPECT_EQ(seen.others, 0u) << "of " << seen.ran;
  std::size_t wanted = 0;
  for (const TracedJob& traced : run.loaded.workload.jobs) wanted += traced.cancelled_after ? 0u : 1u;
  EXPECT_EQ(seen.ran, wanted - run.loaded.without_wait);
}

INSTANTIATE_TEST_SUITE_P(Logs, LoggedLog,
                         testing::Values(Peak{"traces/samples/kth-easy-149.swf", 0},
                                         Peak{"traces/samples/kth-easy-1127.swf", 0},
                                         Peak{"KTH-SP2-1996-2.1-cln", 104, 20'546},
                                         Peak{"SDSC-SP2-1998-4.2-cln", 202, 858'644},
                                         Peak{"SDSC-BLUE-2000-4.2-cln", 2944, 1'010'531},
                                         Peak{"CEA-Curie-2011-2.1-cln", 165'693}),  // by jobs of no time
                         [](const testing::TestParamInfo<Peak>& log) {
                           std::string name = log.param.log;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

}  // namespace
}  // namespace replay::test
