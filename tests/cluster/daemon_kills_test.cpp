// kill -9 of the daemon of a run with --keep-jobs at random instants, while it plays its turn log back too, and `replay
// --resume`: the event log up to each kill is kept byte for byte, no job is ended by it and each runs once, the turn log played
// back from the start gives the whole event log, and nothing is left. `./dev kills N SEED` kills N times, by default a few.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/hosts_fixture.hpp"
#include "tests/support/random.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

constexpr int kFewKills = 12;
constexpr std::chrono::seconds kLongestRun{120};
constexpr std::chrono::seconds kNothingLeftWithin{5};
constexpr std::chrono::seconds kLease{30};

const std::array<std::string, 8> kPolicies = {
    "fcfs-malleable", "easy", "conservative", "scojo-p",
    "slack",          "dynp", "scojo-pect",   "exec:" REPLAY_EXAMPLE_POLICY_DIR "/fcfs_program"};

constexpr const char* kJob = R"sh(#!/bin/sh
# job.sh ID SECONDS
cd "$(dirname "$0")" || exit 9
[ "${{PMI_RANK:-0}}" = 0 ] && echo "$1 start" >>starts
"{}" --runtime "$2"
status=$?
[ "${{PMI_RANK:-0}}" = 0 ] && echo "$1 end" >>starts
exit $status
)sh";

class DaemonKills : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    if (IsSkipped()) return;
    lease_ = fmt::format("{}s", kLease.count());
    write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x4\n127.0.0.2 emulated=1x4\n");
    write_text(folder_ / "job.sh", fmt::format(kJob, REPLAY_PHASES));
    fs::permissions(folder_ / "job.sh", fs::perms::owner_all);
  }
  void round(std::uint64_t seed);

  int kills_ = 0, kills_in_playback_ = 0, new_beginnings_ = 0, turns_ = 0;

 private:
  [[nodiscard]] fs::path in_run(const char* name) const { return folder_ / "r" / name; }
  [[nodiscard]] std::string starts() const { return text_of(folder_ / "starts"); }
  void draw_trace(Random& random);
  void begin(const std::string& policy, bool is_on_hosts);
  void resume() {
    daemon_ = daemon({"--resume", (folder_ / "r").string(), "--plain"}, fmt::format("out-{}", daemons_++));
  }
  void wait_for_playback() const;
  void kill_at_random(Random& random);
  void expect_the_end();
  void expect_that_the_turns_give_the_log();

  std::vector<std::string> command_;
  std::unique_ptr<Background> daemon_;
  int daemons_ = 0;
  int jobs_ = 0;
  std::string known_;  // of the event log, at the last kill
};

void DaemonKills::draw_trace(Random& random) {
  jobs_ = static_cast<int>(random.between(12, 20));
  std::string trace = "; MaxProcs: 8\n";
  double submitted = 0;
  for (int job = 1; job <= jobs_; ++job) {
    submitted += 0.1 * static_cast<double>(random.below(4));
    const double runtime = 0.1 * static_cast<double>(random.between(5, 30));
    const auto processes = random.between(1, 4);
    trace += fmt::format("{} {:.1f} -1 {:.1f} {} {:.1f} -1 {} 60 -1 1 1 1 -1 -1 -1 -1 -1\n", job, submitted, runtime,
                         processes, runtime, processes);
  }
  write_text(folder_ / "t.swf", trace);
}

void DaemonKills::begin(const std::string& policy, bool is_on_hosts) {
  shape_ = is_on_hosts ? "2x1x4" : "2x2x2";
  command_ = on_hosts("t.swf", policy);
  if (!is_on_hosts)
    command_ = {
        "--trace", (folder_ / "t.swf").string(), "--policy", policy, "--machine", "emulated:2x2x2", "--lease", lease_,
        "--out",   (folder_ / "r").string(),     "--force",  "--yes"};
  command_.insert(command_.end(),
                  {"--keep-jobs", "--plain", "--program", (folder_ / "job.sh").string() + " {id} {runtime}"});
  daemon_ = daemon(command_, fmt::format("out-{}", daemons_++));
}

// While the new event log is made and the old one is aside; or when that is over, or has not come.
void DaemonKills::wait_for_playback() const {
  const auto limit = std::chrono::steady_clock::now() + kLongestRun;
  while (!fs::exists(in_run("events.log.before")) && daemon_->is_running() &&
         std::chrono::steady_clock::now() < limit &&
         events().find("the run goes on", known_.size()) == std::string::npos)
    std::this_thread::yield();
}

// A run of which nothing is on disk has started no job, and begins anew.
void DaemonKills::kill_at_random(Random& random) {
  const bool is_early = random.one_in(3);
  if (is_early && !known_.empty()) wait_for_playback();
  std::this_thread::sleep_for(
      std::chrono::microseconds{random.below(is_early ? (known_.empty() ? 120'000 : 3'000) : 3'000'000)});
  if (!daemon_->is_running()) return;
  daemon_->send(SIGKILL);
  ASSERT_EQ(daemon_->wait(), 128 + SIGKILL) << daemon_->out();
  ++kills_;
  if (!fs::exists(in_run("run.json")) || text_of(in_run("turns.log")).empty()) {
    EXPECT_EQ(known_, "");
    EXPECT_EQ(starts(), "");
    ++new_beginnings_;
    daemon_ = daemon(command_, fmt::format("out-{}", daemons_++));
    return;
  }
  const bool is_playback = fs::exists(in_run("events.log.before"));
  kills_in_playback_ += is_playback ? 1 : 0;
  const std::string log = is_playback ? text_of(in_run("events.log.before")) : events();
  ASSERT_TRUE(log.starts_with(known_)) << "known before:\n" << known_ << "\nkept:\n" << log;
  known_ = log;
  resume();
}

void DaemonKills::expect_the_end() {
  ASSERT_TRUE(comes_true([this] { return !daemon_->is_running(); }, kLongestRun)) << daemon_->out();
  const std::string said = daemon_->out();
  ASSERT_EQ(daemon_->wait(), 0) << said << events();
  EXPECT_TRUE(events().starts_with(known_)) << "known before:\n" << known_ << "\nkept:\n" << events();
  expect_all_verified(jobs_);
  std::string lines = "\n" + starts();
  for (int job = 1; job <= jobs_; ++job)
    for (const char* what : {"start", "end"}) {
      const std::string line = fmt::format("\n{} {}\n", job, what);
      const std::size_t at = lines.find(line);
      EXPECT_NE(at, std::string::npos) << "job " << job << " has no " << what;
      EXPECT_EQ(lines.find(line, at + 1), std::string::npos) << "job " << job << " has run twice:" << lines;
    }
  const auto left = [this] { return processes_marked(folder_.path().string()); };
  EXPECT_TRUE(comes_true([&] { return left().empty(); },
                         new_beginnings_ > 0 ? kLease + kNothingLeftWithin : kNothingLeftWithin))
      << left();
  resume();
  ASSERT_TRUE(comes_true([this] { return !daemon_->is_running(); }, kLongestRun));
  EXPECT_NE(daemon_->out().find("is over"), std::string::npos) << daemon_->out();
  EXPECT_EQ(daemon_->wait(), 1);
}

// As if the last daemon had been killed after its last turn: the next one has no event log, and makes the same one.
void DaemonKills::expect_that_the_turns_give_the_log() {
  const std::string log = events();
  fs::copy(folder_ / "r", folder_ / "whole", fs::copy_options::recursive);  // the run stays in its folder
  for (const auto& entry : fs::directory_iterator(folder_ / "whole"))
    if (entry.path().filename() != "turns.log") fs::remove_all(folder_ / "r" / entry.path().filename());
  auto about = nlohmann::ordered_json::parse(text_of(folder_ / "whole/run.json"));
  about["ended"] = nullptr;
  write_text(in_run("run.json"), about.dump());
  resume();
  ASSERT_TRUE(comes_true([this] { return !daemon_->is_running(); }, kLongestRun));
  const std::string said = daemon_->out();
  EXPECT_EQ(daemon_->wait(), 0) << said;
  const std::string again = events();
  ASSERT_TRUE(again.starts_with(log)) << "was:\n" << log << "\nis:\n" << again << said;
  const std::string more = again.substr(log.size());
  EXPECT_EQ(std::count(more.begin(), more.end(), '\n'), 1) << more;
  EXPECT_NE(more.find(" note text=\"the run goes on"), std::string::npos) << more;
}

void DaemonKills::round(std::uint64_t seed) {
  Random random{seed};
  for (const char* name : {"r", "whole", "starts"}) fs::remove_all(folder_ / name);
  known_.clear();
  new_beginnings_ = 0;
  draw_trace(random);
  begin(kPolicies[seed % kPolicies.size()], random.one_in(4));
  for (auto kills = random.between(1, 3); kills > 0 && !HasFailure(); --kills) kill_at_random(random);
  if (!HasFailure()) expect_the_end();
  if (!HasFailure()) expect_that_the_turns_give_the_log();
}

TEST_F(DaemonKills, LeaveLogAndJobsAsTheyAre) {
  const auto kills = static_cast<int>(number_from("REPLAY_KILLS", kFewKills));
  const std::uint64_t first = number_from("REPLAY_KILLS_SEED", 1);
  std::uint64_t seed = first;
  for (; kills_ < kills && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("REPLAY_KILLS=1 REPLAY_KILLS_SEED={}", seed));
    round(seed);
  }
  fmt::print("{} kills, {} of them while turns were played back, in {} runs from seed {}\n", kills_, kills_in_playback_,
             seed - first, first);
}

}  // namespace
}  // namespace replay::test
