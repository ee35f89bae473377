// kill -9 of `replay serve --keep-jobs` at random instants, also while a request is on its way, and SIGTERM: the next service
// goes on with the jobs, or adopts them under another policy. Each acknowledged job has one end, which is its own, none runs twice, and what the journal says is
// what the programs have done. `./dev kills N SEED` kills N times, by default a few, and measures how soon 100,000 queued jobs
// are back.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/service/journal.hpp"
#include "scheduler/service/service_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/first_core.hpp"
#include "tests/support/random.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/service_logs.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFewServiceKills = 8;
constexpr int kJobsOfAService = 40;
constexpr std::uint64_t kFewQueuedJobs = 2000;
constexpr std::chrono::seconds kLongestAnswer{60};

constexpr const char* kUsersJob = R"sh(#!/bin/sh
# job.sh TAG SECONDS
cd "$(dirname "$0")" || exit 9
if [ "${PMI_RANK:-0}" = 0 ]; then
  exec 9>>"lock.$1"
  flock -n 9 || echo "$1 beside itself" >>log
  echo "$1 start" >>log
fi
"$PHASES" --runtime "$2" || exit
[ "${PMI_RANK:-0}" != 0 ] || echo "$1 end" >>log
)sh";

struct Accepted {
  int tag = 0;
  bool is_cancelled = false;
};

double cpu_seconds(pid_t pid) {
  std::string stat = text_of(fmt::format("/proc/{}/stat", pid));
  std::istringstream fields{stat.substr(stat.rfind(')') + 1)};
  const std::vector<std::string> field{std::istream_iterator<std::string>{fields}, {}};
  constexpr std::size_t kUser = 11, kSystem = 12;
  return (std::stod(field.at(kUser)) + std::stod(field.at(kSystem))) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class ServiceKills : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  }
  void round(std::uint64_t seed);
  void start();
  json ask(const json& request);
  /// With SIGKILL or SIGTERM. Expects what was in the event logs to be in them still.
  void stop(int signal);
  [[nodiscard]] fs::path home() const { return work_ / "s"; }
  /// Of the period that was begun last.
  [[nodiscard]] fs::path run_folder() {
    return ask({{"request", "service"}}).at("service").at("run_folder").get<std::string>();
  }
  void expect_nothing_left() const {
    const auto left = [this] { return processes_marked(folder_.path().string()); };
    EXPECT_TRUE(comes_true([&] { return left().empty(); }, std::chrono::seconds{5})) << left();
  }

  TemporaryFolder folder_;
  fs::path work_;
  std::string machine_ = "emulated:2x2x2", policy_ = "easy", lease_ = "30s";
  std::unique_ptr<Background> service_;
  int kills_ = 0, stops_ = 0;

 private:
  json submission(Random& random);
  void submit(Random& random);
  void cancel_one(Random& random);
  void kill_service(Random& random);
  void check_logs();
  void check_ends();

  int starts_ = 0;
  int tags_ = 0;
  std::map<int, Accepted> accepted_;         // by number
  std::map<std::string, std::string> logs_;  // of each period, as it was at the last look
};

void ServiceKills::start() {
  const std::string name = fmt::format("service-{}", starts_++);
  service_ = std::make_unique<Background>(
      REPLAY_PROGRAM,
      std::vector<std::string>{"serve", "--service", home().string(), "--machine", machine_, "--policy", policy_,
                               "--keep-jobs", "--lease", lease_, "--plain"},
      work_ / (name + ".out"), work_ / (name + ".err"));
}

// An object without "ok": no answer has come, which is a failure.
json ServiceKills::ask(const json& request) {
  json answer = answer_of(*service_, home() / "socket", request, kLongestAnswer);
  EXPECT_TRUE(answer.contains("ok")) << request.dump() << service_->out() << service_->err();
  return answer;
}

json ServiceKills::submission(Random& random) {
  const int tag = ++tags_;
  return {{"request", "submit"},
          {"job",
           {{"processes", random.between(1, 4)},
            {"time_limit_s", 120},
            {"command",
             {(work_ / "job.sh").string(), std::to_string(tag),
              fmt::format("{:.1f}", 0.1 * static_cast<double>(random.between(3, 25)))}},
            {"directory", work_.string()},
            {"environment",
             {fmt::format("PATH={}", std::getenv("PATH")), fmt::format("PHASES={}", REPLAY_PHASES),
              fmt::format("REPLAY_TEST_MARK={}", folder_.path().string())}},
            {"requeue", random.one_in(3)}}}};
}

void ServiceKills::submit(Random& random) {
  const json answer = ask(submission(random));
  ASSERT_TRUE(answer.value("ok", false)) << answer.dump();
  accepted_[answer.at("submitted").get<int>()] = {tags_, false};
}

void ServiceKills::cancel_one(Random& random) {
  if (accepted_.empty()) return;
  auto job = std::next(accepted_.begin(), static_cast<std::ptrdiff_t>(random.below(accepted_.size())));
  const json answer = ask({{"request", "cancel"}, {"job", job->first}});
  job->second.is_cancelled |= answer.value("ok", false);
}

// Of a request that was not answered it is not known whether it has been carried out.
void ServiceKills::kill_service(Random& random) {
  if (random.one_in(5)) return stop(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds{random.below(random.one_in(3) ? 100 : 800)});
  std::unique_ptr<ServiceClient> client;
  if (random.one_in(3) && fs::exists(home() / "socket")) {
    client = std::make_unique<ServiceClient>(home() / "socket", true);
    (void)client->send(submission(random).dump() + "\n");
    std::this_thread::sleep_for(std::chrono::milliseconds{random.below(20)});
  }
  stop(SIGKILL);
  if (client == nullptr || client->lines() == 0) return;
  if (const json answer = json::parse(client->last_line()); answer.value("ok", false))
    accepted_[answer.at("submitted").get<int>()] = {tags_, false};
}

void ServiceKills::stop(int signal) {
  ASSERT_TRUE(service_->is_running()) << service_->out() << service_->err();
  service_->send(signal);
  ASSERT_TRUE(comes_true([this] { return !service_->is_running(); }, kLongestAnswer))
      << service_->out() << service_->err();
  const std::string said = service_->out() + service_->err();
  const int status = service_->wait();
  EXPECT_TRUE(signal == SIGKILL ? status == 128 + SIGKILL : status == 0 || status == 128 + SIGTERM) << status << said;
  ++(signal == SIGKILL ? kills_ : stops_);
  check_logs();
}

// One that is aside is played back, and the new one is compared with it.
void ServiceKills::check_logs() {
  if (!fs::exists(home() / "runs")) return;
  for (const auto& run : fs::directory_iterator(home() / "runs")) {
    const fs::path before = run.path() / "events.log.before";
    const std::string log = text_of(fs::exists(before) ? before : run.path() / "events.log");
    std::string& known = logs_[run.path().string()];
    EXPECT_TRUE(log.starts_with(known)) << run.path() << "\nknown before:\n" << known << "\nkept:\n" << log;
    known = log;
  }
}

// The journal, the event logs and the programs themselves say the same.
void ServiceKills::check_ends() {
  const ShellResult listed = shell(fmt::format("{} jobs --all --json --service {}", REPLAY_PROGRAM, home().string()));
  ASSERT_EQ(listed.status, 0) << listed.err;
  std::map<int, json> told;
  for (const json& job : json::parse(listed.out)) told[job.at("id").get<int>()] = job;
  auto [completed, ends] = ends_in_logs(home() / "runs");
  const std::string log = "\n" + text_of(work_ / "log");
  EXPECT_EQ(log.find("beside itself"), std::string::npos) << log;
  const auto count = [&log](int tag, const char* what) {
    const std::string line = fmt::format("\n{} {}\n", tag, what);
    int found = 0;
    for (std::size_t at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) ++found;
    return found;
  };
  for (int tag = 1; tag <= tags_; ++tag) EXPECT_LE(count(tag, "start"), 1) << "tag " << tag << " ran twice: " << log;
  for (const auto& [number, job] : accepted_) {
    SCOPED_TRACE(fmt::format("job {}, tag {}", number, job.tag));
    ASSERT_TRUE(told.contains(number)) << "is lost";
    const json& now = told[number];
    const std::string outcome = now.value("outcome", "");
    EXPECT_EQ(now.at("state"), "ended") << now.dump();
    EXPECT_TRUE(outcome == "completed" || (job.is_cancelled && outcome == "cancelled")) << now.dump();
    EXPECT_EQ(completed[number], outcome == "completed") << now.dump();
    EXPECT_EQ(ends[number], outcome == "completed") << now.dump();
    EXPECT_EQ(count(job.tag, "end"), outcome == "completed") << now.dump();
    EXPECT_TRUE(now.contains("started") || count(job.tag, "start") == 0) << now.dump();
  }
}

// Of scojo-pect a class of jobs waits for its slice, longer than this does.
std::string any_policy(Random& random) {
  return random.one_of<const char*>({"easy", "fcfs-malleable", "conservative", "slack"});
}

void ServiceKills::round(std::uint64_t seed) {
  Random random{seed};
  work_ = folder_ / fmt::format("round-{}", seed);
  fs::create_directory(work_);
  write_text(work_ / "job.sh", kUsersJob);
  fs::permissions(work_ / "job.sh", fs::perms::owner_all);
  tags_ = 0;
  accepted_.clear();
  logs_.clear();
  policy_ = any_policy(random);
  start();
  while (tags_ < kJobsOfAService && !HasFailure()) {
    for (auto more = random.between(1, 8); more > 0 && !HasFailure(); --more) submit(random);
    if (random.one_in(2)) cancel_one(random);
    if (HasFailure()) return;
    kill_service(random);
    if (random.one_in(3)) policy_ = any_policy(random);  // which adopts the jobs
    start();
  }
  const auto are_over = [this] {
    const json answer = ask({{"request", "jobs"}});
    return HasFailure() || (answer.value("ok", false) && answer.at("jobs").empty());
  };
  EXPECT_TRUE(comes_true(are_over, kLongestAnswer)) << ask({{"request", "jobs"}}).dump();
  if (HasFailure()) return;
  check_ends();
  stop(SIGKILL);  // all of its turns are played back once more
  start();
  EXPECT_EQ(ask({{"request", "service"}}).value("ok", false), true);
  check_ends();
  EXPECT_NE(service_->out().find("the jobs of the last service go on"), std::string::npos) << service_->out();
  stop(SIGTERM);
  service_.reset();
  expect_nothing_left();
}

TEST_F(ServiceKills, LeaveItsJobsAsTheyAre) {
  const auto kills = static_cast<int>(number_from("REPLAY_KILLS", kFewServiceKills));
  const std::uint64_t first = number_from("REPLAY_KILLS_SEED", 1);
  std::uint64_t seed = first;
  for (; kills_ < kills && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("REPLAY_KILLS=1 REPLAY_KILLS_SEED={}", seed));
    round(seed);
  }
  fmt::print("{} kills and {} SIGTERM in {} services with {} jobs from seed {}\n", kills_, stops_, seed - first,
             kJobsOfAService, first);
}

// Its event log has been put aside, and a new one is not there yet.
TEST_F(ServiceKills, AsItBeganToGoOnLeavesItsJobs) {
  work_ = folder_ / "again";
  machine_ = "local:" + first_core();
  fs::create_directory(work_);
  start();
  const std::string command =
      fmt::format("cd {}; echo started >>log; until [ -e go ]; do sleep 0.05; done", work_.string());
  const json answer = ask({{"request", "submit"},
                           {"job",
                            {{"processes", 1},
                             {"command", {"/bin/sh", "-c", command}},
                             {"directory", work_.string()},
                             {"environment", {fmt::format("PATH={}", std::getenv("PATH"))}}}}});
  ASSERT_TRUE(answer.value("ok", false)) << answer.dump();
  const auto is_started = [this] { return text_of(work_ / "log") == "started\n"; };
  EXPECT_TRUE(comes_true(is_started, kLongestAnswer));
  const fs::path run = run_folder();
  stop(SIGKILL);
  fs::rename(run / "events.log", run / "events.log.before");
  start();
  EXPECT_EQ(run_folder(), run) << service_->out();
  write_text(work_ / "go", "");
  json job;
  EXPECT_TRUE(comes_true(
      [&] {
        job = ask({{"request", "job"}, {"job", 1}})["job"];
        return HasFailure() || job["state"] == "ended";
      },
      kLongestAnswer));
  EXPECT_EQ(job.value("outcome", ""), "completed") << job.dump();
  EXPECT_TRUE(is_started()) << text_of(work_ / "log");
  stop(SIGTERM);
  service_.reset();
  expect_nothing_left();
}

TEST_F(ServiceKills, BeforeItBeganLeaveNothingThatKeepsTheNextOneFromIt) {
  work_ = folder_ / "first";
  lease_ = "2s";
  fs::create_directory(work_);
  start();
  const fs::path run = run_folder();
  stop(SIGKILL);
  fs::remove(run / "run.json");
  start();
  EXPECT_NE(run_folder(), run);
  stop(SIGTERM);
  service_.reset();
  expect_nothing_left();
}

TEST_F(ServiceKills, QueuedJobsAreBack) {
  const std::uint64_t jobs = number_from("REPLAY_QUEUED_JOBS", kFewQueuedJobs);
  work_ = folder_ / "queue";
  machine_ = "local:" + first_core();
  fs::create_directories(home());
  fs::permissions(home(), fs::perms::owner_all);
  {
    const service::ServiceFolder folder{home().string()};
    service::Journal journal{folder.journal(),
                             std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now())};
    service::NewJob job;
    job.user = ::geteuid();
    job.group = ::getegid();
    job.request.command = {"/bin/sh", "-c", "echo started >>" + (work_ / "log").string() + "; exec sleep 600"};
    job.request.directory = work_.string();
    job.request.environment = {fmt::format("PATH={}", std::getenv("PATH"))};
    job.request.time_limit = std::chrono::hours{1};
    (void)journal.submit(std::vector<service::NewJob>(jobs, job));
  }
  const auto all_are_there = [&] {
    const json answer = ask({{"request", "service"}});
    if (!answer.value("ok", false)) return HasFailure();
    const json& status = answer.at("service");
    return status.at("running") == 1 && status.at("waiting") == jobs - 1;
  };
  const auto is_started = [this] { return text_of(work_ / "log") == "started\n"; };
  start();
  EXPECT_TRUE(comes_true([&] { return HasFailure() || (all_are_there() && is_started()); }, kLongestAnswer));
  stop(SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  start();
  EXPECT_TRUE(comes_true(all_are_there, kLongestAnswer)) << service_->out() << service_->err();
  fmt::print("{} queued jobs are back after {:.2f} s, for {:.2f} s of which the service computed\n", jobs,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
             cpu_seconds(service_->pid()));
  EXPECT_TRUE(is_started()) << text_of(work_ / "log");
  service_->send(SIGINT);  // ends the jobs, too
  EXPECT_TRUE(comes_true([this] { return !service_->is_running(); }, kLongestAnswer));
  service_.reset();
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
