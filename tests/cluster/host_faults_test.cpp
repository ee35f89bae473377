// Random faults on real runs of 60 jobs over four hosts (tests/support/host-cluster), whose agents, proxies, ranks, mpiexec and
// daemon are killed, or stopped and continued, whose links are cut, slow, and mended, and which crash and come back. In each
// round every job has one end, none runs twice without being asked or beside itself, no core is used twice, and nothing is left
// 5 s after the end. `./dev faults ROUNDS SEED` runs many rounds, by default one. Each round plays inside of hosts of its own.

#include "tests/support/host_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/background.hpp"
#include "tests/support/random.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kJobs = 60, kHosts = 4;
constexpr const char* kTold = "round";  // the file that says how a round went
constexpr const char* kMachine = "4x2x2";
constexpr std::chrono::seconds kLongestRun{240}, kGoneWithin{5};

// Each rank holds a lock, so a second start beside the remains of the first one is noticed on whatever host that is.
constexpr const char* kJob = R"sh(#!/bin/sh
# job.sh FOLDER ID SECONDS
exec 9>>"$1/lock.$2.${PMI_RANK:-0}"
flock -n 9 || echo "job $2: rank ${PMI_RANK:-0} is beside itself on $(hostname)" >>"$1/overlaps"
[ "${PMI_RANK:-0}" != 0 ] || echo "$2 start" >>"$1/ranks"
PHASES --runtime "$3" || exit
[ "${PMI_RANK:-0}" != 0 ] || echo "$2 end" >>"$1/ranks"
)sh";

constexpr const char* kStart = R"sh(#!/bin/sh
host=$1
shift
exec HOST_CLUSTER exec "$host" env XDG_RUNTIME_DIR="FOLDER/run/$host" "$@"
)sh";

std::string replaced(std::string text, const std::string& name, const std::string& by) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
  return text;
}

void write_script(const fs::path& file, const std::string& text) {
  write_text(file, text);
  fs::permissions(file, fs::perms::owner_all);
}

std::string drawn_trace(Random& random) {
  std::string text = "; Version: 2.2\n; MaxProcs: 16\n";
  double now = 0;
  for (int job = 1; job <= kJobs; ++job) {
    now += 0.01 * static_cast<double>(random.below(40));
    const int processes = random.one_of({1, 1, 2, 2, 3, 4, 4, 5, 6, 8});
    // One in twelve still runs when a lease is over.
    const double run = random.one_in(12) ? static_cast<double>(random.between(6, 12))
                                         : 0.1 * static_cast<double>(random.between(2, 20));
    text += fmt::format("{0} {1:.2f} -1 {2:.1f} {3} {2:.1f} -1 {3} {4} -1 1 1 1 -1 -1 -1 -1 -1\n", job, now, run,
                        processes, random.between(20, 40));
  }
  return text;
}

class Round {
 public:
  Round(fs::path folder, std::uint64_t seed) : folder_(std::move(folder)), random_(seed) {
    const auto policies = {"fcfs-malleable", "easy", "conservative", "scojo-p"};
    policy_ = policies.begin()[seed % policies.size()];
    requeues_ = random_.one_in(2);
    lease_ = fmt::format("{}s", random_.between(3, 4));
    std::string hosts;
    for (int host = 1; host <= kHosts; ++host) {
      hosts += fmt::format("node{} emulated=2x2\n", host);
      empty_runtime_folder(fmt::format("node{}", host));
    }
    write_text(folder_ / "hosts", hosts);
    write_text(folder_ / "t.swf", drawn_trace(random_));
    write_text(folder_ / "overlaps", "");
    write_text(folder_ / "ranks", "");
    write_script(folder_ / "job.sh", replaced(kJob, "PHASES", REPLAY_PHASES));
    write_script(folder_ / "start.sh",
                 replaced(replaced(kStart, "FOLDER", folder_), "HOST_CLUSTER", REPLAY_HOST_CLUSTER));
  }

  void play() {
    const std::string mark = "REPLAY_TEST_RUN=" + folder_.string();
    const std::string command = fmt::format(
        "exec env {0} {1} --trace {2}/t.swf --policy {3} --machine hosts:{2}/hosts --bootstrap {2}/start.sh --lease "
        "{4} "
        "--out {2}/r --plain --yes --program '{2}/job.sh {2} {{id}} {{runtime}}'{5}",
        mark, REPLAY_PROGRAM, folder_.string(), policy_, lease_, requeues_ ? " --requeue-lost" : "");
    const auto begin = Clock::now();
    Background run{"/bin/sh", {"-c", command}, folder_ / "out", folder_ / "out"};
    std::vector<HostFault> drawn = draw_faults(random_, kHosts, kJobs);
    leave_out_what_is_missing(drawn);
    HostFaults faults{std::move(drawn), mark, run.pid(), REPLAY_HOST_CLUSTER,
                      [this](const std::string& host) { empty_runtime_folder(host); }};
    const bool has_end = comes_true(
        [&] {
          if (run.is_running()) faults.turn(launches());
          return !run.is_running();
        },
        kLongestRun);
    faults.end();
    EXPECT_TRUE(has_end) << "the run has no end within " << kLongestRun.count() << " s";
    if (run.is_running()) run.send(SIGKILL);
    status_ = run.wait();
    const bool is_killed = faults.has_killed_daemon();
    EXPECT_TRUE(is_killed ? status_ == 137 : status_ == 0 || status_ == 1) << "exit status " << status_;
    check_what_is_left(faults);
    check_log(is_killed);
    check_readers(is_killed);
    std::string told = left_out_ + fmt::format("{}{}, lease {}, {:.0f} s, exit status {}: {} faults; {}\n", policy_,
                                               requeues_ ? " --requeue-lost" : "", lease_,
                                               std::chrono::duration<double>(Clock::now() - begin).count(), status_,
                                               faults.struck(), fmt::join(counts_, ", "));
    for (const std::string& fault : faults.thrown()) told += "  " + fault + "\n";
    told += shell("grep -E 'ended early|, [0-9]+ are left' out | sort | uniq -c | head -n 5", folder_).out;
    write_text(folder_ / kTold, told);
  }

 private:
  /// Slow links need a module of the kernel.
  void leave_out_what_is_missing(std::vector<HostFault>& faults) {
    const ShellResult slow = shell(REPLAY_HOST_CLUSTER " link node1 slow && " REPLAY_HOST_CLUSTER " link node1 up");
    if (slow.status == 0) return;
    left_out_ = "left out: slow links, which are cut instead: " + slow.err;
    for (HostFault& fault : faults)
      if (fault.what == "slow") fault.what = "down";
  }

  /// A host that comes back has no files in memory.
  void empty_runtime_folder(const std::string& host) const {
    fs::remove_all(folder_ / "run" / host);
    fs::create_directories(folder_ / "run" / host);
  }

  int launches() {
    const std::string log = text_of(folder_ / "r/events.log");
    int count = 0;
    for (std::size_t at = log.find(" launch job="); at != std::string::npos; at = log.find(" launch job=", at + 1))
      ++count;
    return count;
  }

  /// Where the daemon was killed, the agents end what they have when the lease is over.
  void check_what_is_left(const HostFaults& faults) const {
    const auto within =
        kGoneWithin + (faults.has_killed_daemon() ? std::chrono::seconds{std::stoi(lease_)} : std::chrono::seconds{0});
    const std::string mark = "REPLAY_TEST_RUN=" + folder_.string();
    EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); }, within)) << processes_marked(mark);
    for (int number = 1; number <= kHosts; ++number) {
      const std::string host = fmt::format("node{}", number);
      if (faults.is_down(host)) continue;
      EXPECT_EQ(shell(fmt::format("{} exec {} ls -A /dev/shm", REPLAY_HOST_CLUSTER, host)).out, "")
          << host << ": /dev/shm";
      EXPECT_EQ(shell(fmt::format("ls -A {}/run/{}", folder_.string(), host)).out, "") << host << ": runtime folder";
    }
  }

  void check_log(bool is_cut) {
    MemoryLog log;
    (void)log::read_text(folder_ / "r/events.log", log);
    const std::string wrong = what_is_wrong(log, Machine::parse(kMachine));
    EXPECT_TRUE(wrong.empty() || (is_cut && wrong.ends_with("never ends"))) << wrong;
    struct Told {
      int submits = 0, launches = 0, requeues = 0, starts = 0, ends = 0;
      std::string outcome;
    };
    std::map<int, Told> jobs;
    for (const log::Record& record : log.records()) {
      if (const auto* submit = content<log::Submitted>(record)) ++jobs[number_of(submit->job.id)].submits;
      if (const auto* launch = content<log::Launched>(record)) ++jobs[number_of(launch->job)].launches;
      if (const auto* again = content<log::Requeued>(record)) ++jobs[number_of(again->job)].requeues;
      if (const auto* finish = content<log::Finished>(record))
        jobs[number_of(finish->job)].outcome = to_text(finish->end.outcome);
    }
    std::istringstream told{text_of(folder_ / "ranks")};
    int job = 0;
    for (std::string word; told >> job >> word;) ++(word == "start" ? jobs[job].starts : jobs[job].ends);
    int requeues = 0;
    std::map<std::string, int> outcomes;
    for (const auto& [number, one] : jobs) {
      EXPECT_TRUE(one.launches - one.requeues == 0 || one.launches - one.requeues == 1)
          << "job " << number << ": " << one.launches << " launches, queued again " << one.requeues << " times";
      EXPECT_TRUE(requeues_ || one.requeues == 0) << "job " << number << " is queued again unasked";
      EXPECT_LE(one.starts, one.launches) << "job " << number << " has run unasked";
      EXPECT_TRUE(one.outcome != "completed" || one.ends > 0) << "job " << number << " has not come to its end";
      requeues += one.requeues;
      ++outcomes[one.outcome.empty() ? "without an end" : one.outcome];
    }
    const std::string said = text_of(folder_ / "out");
    EXPECT_EQ(said.find("no further job"), std::string::npos) << "no fault is one of the site";
    const bool is_early = said.find("the run ended early: node") != std::string::npos;  // all hosts were lost at once
    EXPECT_TRUE(is_cut || is_early || jobs.size() == kJobs) << jobs.size() << " jobs";
    EXPECT_EQ(text_of(folder_ / "overlaps"), "");
    for (const auto& [outcome, count] : outcomes) counts_.push_back(fmt::format("{} {}", count, outcome));
    counts_.push_back(fmt::format("{} queued again", requeues));
  }

  /// `replay results` and `replay report` read the folder.
  void check_readers(bool is_cut) const {
    for (const std::string words : {"results r --out check", "report r -o page.html"}) {
      const ShellResult read = shell(fmt::format("{} {}", REPLAY_PROGRAM, words), folder_);
      EXPECT_TRUE(read.status == 0 || (is_cut && read.status == 1)) << words << ": " << read.out << read.err;
    }
    if (!is_cut) {
      EXPECT_EQ(text_of(folder_ / "r/jobs.csv"), text_of(folder_ / "check/jobs.csv"));
    }
  }

  static int number_of(JobId job) { return static_cast<int>(static_cast<std::int64_t>(job)); }

  fs::path folder_;
  Random random_;
  std::string policy_, lease_, left_out_;
  bool requeues_ = false;
  int status_ = 0;
  std::vector<std::string> counts_;
};

constexpr const char* kSeed = "REPLAY_FAULTS_SEED";
constexpr const char* kFolder = "REPLAY_FAULTS_FOLDER";  // set inside of the hosts

TEST(HostFaultRounds, EachJobHasOneEndAndNothingIsLeft) {
  const std::uint64_t first = number_from(kSeed, 1);
  if (const char* const inside = std::getenv(kFolder)) {
    Round{inside, first}.play();
    return;
  }
  if (const ShellResult made = shell(REPLAY_HOST_CLUSTER " 1 true"); made.status != 0)
    GTEST_SKIP() << "no hosts can be made here, which takes root or user namespaces: " << made.err;
  const std::uint64_t rounds = number_from("REPLAY_FAULTS", 1);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    const TemporaryFolder folder;
    const ShellResult round = shell(fmt::format("{}={} {}={} exec timeout 300 {} {} {} --gtest_brief=1", kSeed, seed,
                                                kFolder, folder.path().string(), REPLAY_HOST_CLUSTER, kHosts, self));
    fmt::print("seed {}: {}", seed, text_of(folder / kTold));
    std::fflush(stdout);
    if (round.status == 0) continue;
    ADD_FAILURE() << "seed " << seed << ", again with ./dev faults 1 " << seed << ":\n" << round.out << round.err;
    if (const char* const found = std::getenv("REPLAY_FAULTS_FOUND"))
      (void)shell(fmt::format("mkdir -p {0} && cp -rT {1} {0}/{2}", found, folder.path().string(), seed));
  }
}

}  // namespace
}  // namespace replay::test
