// Rounds of random faults on a service with real jobs: any subset of daemon, agent, guard, mpiexec, proxies and ranks is
// killed, or stopped and continued; the disk is full; no process can be made; the service is stopped in order. In each
// round every acknowledged job has one end, none runs twice unasked, nothing is left 5 s after the end, and a process of
// the same user that is no job is not touched. `./dev rounds N SEED` runs N of them, by default a few. As root every
// other round belongs to a user id that is not in use; only there is a limit of processes set, and the disk is a file
// system in memory, in a mount namespace of this process. What cannot be had is left out, and said.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "tests/support/background.hpp"
#include "tests/support/random.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/service_logs.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFewRounds = 8;
constexpr std::chrono::seconds kLongestRound{90};

// The lock is held by every process of the job, so a second run beside the remains of the first one is noticed.
constexpr const char* kJob = R"sh(#!/bin/sh
# job.sh TAG KIND SECONDS
cd "$(dirname "$0")" || exit 9
if [ "${PMI_RANK:-0}" = 0 ]; then
  exec 9>>"lock.$1"
  flock -n 9 || echo "$1 beside itself" >>log
  echo "$1 start" >>log
fi
case $2 in
  phases) "$PHASES" --runtime "$3" || exit ;;
  sleep) sleep "$3" ;;
  deaf) trap '' TERM; sleep "$3" ;;
  daemon) setsid sleep 1000 </dev/null >/dev/null 2>&1 & sleep "$3" ;;
esac
)sh";

struct Part {
  enum class Kind { kDaemon, kAgentOrGuard, kMpiexec, kProxy, kRank };
  Kind kind;
  Process process;
};

struct Acknowledged {
  int tag;
  bool requeue;
};

class ServiceRounds : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    fs::create_directory(folder_ / "disk");
    if (::geteuid() != 0) return;
    const bool is_own = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    has_disk_ = is_own && ::mount("rounds", (folder_ / "disk").c_str(), "tmpfs", 0, "size=8m,mode=0777") == 0;
    user_ = 200000 + static_cast<uid_t>(::getpid());
    if (shell(fmt::format("{}test -x {} -a -x {}", as(user_), REPLAY_PROGRAM, REPLAY_PHASES)).status != 0) {
      fmt::print("left out: rounds of another user, as {} cannot be reached by others\n", REPLAY_PROGRAM);
      user_ = 0;
    }
    if (!has_disk_) fmt::print("left out: full disks, as no file system could be mounted\n");
  }
  void TearDown() override {
    if (has_disk_) ::umount2((folder_ / "disk").c_str(), MNT_DETACH);
  }

  void round(std::uint64_t seed);

  std::map<std::string, int> counts_;

 private:
  static std::string as(uid_t user) {
    return user == ::geteuid() ? "" : fmt::format("setpriv --reuid {0} --regid {0} --clear-groups -- ", user);
  }
  [[nodiscard]] std::unique_ptr<Background> in_background(std::vector<std::string> command, const std::string& name) {
    if (uid_ != 0) {
      const std::string id = std::to_string(uid_);
      command.insert(command.begin(), {"/usr/bin/setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"});
    }
    return std::make_unique<Background>(command.front(), std::vector<std::string>{command.begin() + 1, command.end()},
                                        work_ / (name + ".out"), work_ / (name + ".err"));
  }
  [[nodiscard]] fs::path home() const { return folder_.path() / "disk" / work_.filename(); }
  void make_folder(const fs::path& folder) const {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    EXPECT_EQ(::chown(folder.c_str(), uid_ != 0 ? uid_ : ::geteuid(), uid_ != 0 ? uid_ : ::getegid()), 0);
  }

  void start();
  [[nodiscard]] bool is_up() { return service_ && service_->is_running(); }
  json ask(const json& request);
  void submit(Random& random, int tag);
  [[nodiscard]] std::vector<Part> parts() const;
  void fault(Random& random);
  void strike(Random& random, bool stops);
  void fill_disk(Random& random);
  void limit_processes(Random& random);
  void check_ends();
  void check_what_is_left(const Background& canary);

  TemporaryFolder folder_;
  fs::path work_;
  bool has_disk_ = false;
  uid_t user_ = 0, uid_ = 0;
  int starts_ = 0;
  std::unique_ptr<Background> service_;
  std::map<int, Acknowledged> acknowledged_;  // by number
};

void nap(Random& random, std::uint64_t most_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds{random.below(most_ms + 1)});
}

void ServiceRounds::start() {
  if (is_up()) return;
  service_ = in_background(
      {REPLAY_PROGRAM, "serve", "--service", home().string(), "--machine", "local", "--policy", "easy", "--plain"},
      fmt::format("service-{}", starts_++));
}

// An object without "ok": nothing answered.
json ServiceRounds::ask(const json& request) {
  const fs::path socket = home() / "socket";
  const bool answers = comes_true(
      [&] {
        start();
        return fs::exists(socket) &&
               shell(fmt::format("{}{} jobs --service {} --json", as(uid_ != 0 ? uid_ : ::geteuid()), REPLAY_PROGRAM,
                                 home().string()))
                       .status == 0;
      },
      kLongestRound);
  if (!answers) return json::object();
  ServiceClient client{socket, true};  // one that has been told to stop answers until it has
  (void)client.send(request.dump() + "\n");
  (void)comes_true([&] { return client.lines() > 0 || client.is_closed(); });
  return client.lines() > 0 ? json::parse(client.last_line()) : json::object();
}

void ServiceRounds::submit(Random& random, int tag) {
  const std::string kind = random.one_of<const char*>({"phases", "phases", "sleep", "deaf", "daemon"});
  const bool requeue = random.one_in(2);
  const std::string seconds = fmt::format("0.{}", 1 + random.below(6));
  const auto processes = 1 + random.below(std::min<std::uint64_t>(2, std::thread::hardware_concurrency()));
  const json answer = ask({{"request", "submit"},
                           {"job",
                            {{"processes", processes},
                             {"time_limit_s", 60},
                             {"command", {(work_ / "job.sh").string(), std::to_string(tag), kind, seconds}},
                             {"directory", work_.string()},
                             {"environment",
                              {fmt::format("PATH={}", std::getenv("PATH")), fmt::format("PHASES={}", REPLAY_PHASES),
                               fmt::format("REPLAY_TEST_MARK={}", folder_.path().string())}},
                             {"requeue", requeue}}}});
  if (answer.value("ok", false)) acknowledged_[answer.at("submitted").get<int>()] = {tag, requeue};
}

std::vector<Part> ServiceRounds::parts() const {
  std::vector<Part> found;
  const auto add = [&](const char* variable, const auto& kind_of) {
    for (const pid_t pid : processes_with(fmt::format("{}={}", variable, folder_.path().string()))) {
      const auto stat = read_stat(pid);
      auto process = Process::open(pid, stat ? stat->start : 1);
      if (process && pid != ::getpid()) found.push_back({kind_of(pid, stat->name), std::move(*process)});
    }
  };
  add("REPLAY_TEST_RUN", [this](pid_t pid, const std::string& /*name*/) {
    return service_ && pid == service_->pid() ? Part::Kind::kDaemon : Part::Kind::kAgentOrGuard;
  });
  std::erase_if(found,
                [](const Part& part) { return read_stat(part.process.pid()).value_or(ProcessStat{}).name == "sleep"; });
  add("REPLAY_TEST_MARK", [](pid_t /*pid*/, const std::string& name) {
    return name.starts_with("mpiexec")     ? Part::Kind::kMpiexec
           : name.starts_with("hydra_pmi") ? Part::Kind::kProxy
                                           : Part::Kind::kRank;
  });
  return found;
}

void ServiceRounds::strike(Random& random, bool stops) {
  std::vector<Part> all = parts();
  std::vector<const Part*> struck;
  for (const Part& part : all)
    if (random.one_in(2)) struck.push_back(&part);
  if (!stops) {
    for (const Part* part : struck) part->process.signal(SIGKILL);
    return;
  }
  for (const Part* part : struck) part->process.signal(SIGSTOP);
  nap(random, 300);
  if (random.one_in(3)) strike(random, false);
  for (std::size_t left = struck.size(); left > 0; --left) {
    std::swap(struck[random.below(left)], struck[left - 1]);
    struck[left - 1]->process.signal(SIGCONT);
    nap(random, 5);
  }
}

void ServiceRounds::fill_disk(Random& random) {
  const fs::path filler = folder_ / "disk/filler";
  {
    std::ofstream file{filler};
    const std::string block(1 << 16, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  nap(random, 1500);
  fs::remove(filler);
}

void ServiceRounds::limit_processes(Random& random) {
  std::vector<Part> all = parts();
  std::vector<std::pair<pid_t, rlimit>> before;
  for (const Part& part : all) {
    rlimit old{};
    const pid_t pid = part.process.pid();
    if (part.kind > Part::Kind::kAgentOrGuard || ::prlimit(pid, RLIMIT_NPROC, nullptr, &old) != 0) continue;
    const rlimit now{1, old.rlim_max};
    if (::prlimit(pid, RLIMIT_NPROC, &now, nullptr) == 0) before.emplace_back(pid, old);
  }
  nap(random, 1000);
  for (const auto& [pid, limit] : before)
    if (read_stat(pid)) ::prlimit(pid, RLIMIT_NPROC, &limit, nullptr);
}

void ServiceRounds::fault(Random& random) {
  const auto kind = random.below(8);
  const auto count = [this](const char* name) { ++counts_[name]; };
  if (kind == 0 && has_disk_) return count("full disk"), fill_disk(random);
  if (kind == 1 && uid_ != 0) return count("process limit"), limit_processes(random);
  if (kind == 2 && is_up()) return count("ordered stop"), service_->send(SIGTERM);
  if (kind <= 5) return count("kill"), strike(random, false);
  count("stop and continue"), strike(random, true);
}

// The ends that the service tells are those of its event logs, and each job has one.
void ServiceRounds::check_ends() {
  std::map<int, json> told;
  for (int after = 0;;) {
    const json answer = ask({{"request", "jobs"}, {"ended", true}, {"after", after}});
    ASSERT_TRUE(answer.value("ok", false)) << answer.dump();
    for (const json& job : answer.at("jobs")) told[after = job.at("id").get<int>()] = job;
    if (!answer.at("more").get<bool>()) break;
  }
  auto [completed, ends] = ends_in_logs(home() / "runs");
  const std::string log = text_of(work_ / "log");
  EXPECT_EQ(log.find("beside itself"), std::string::npos) << log;
  for (const auto& [number, job] : acknowledged_) {
    const auto found = told.find(number);
    ASSERT_NE(found, told.end()) << "job " << number << " is lost";
    EXPECT_EQ(found->second.at("state"), "ended") << found->second.dump();
    EXPECT_TRUE(!completed.contains(number) || found->second.value("outcome", "") == "completed")
        << found->second.dump();
    std::size_t runs = 0;
    const std::string start = fmt::format("{} start\n", job.tag);
    for (std::size_t at = log.find(start); at != std::string::npos; at = log.find(start, at + 1))
      runs += at == 0 || log[at - 1] == '\n';
    EXPECT_TRUE(job.requeue || runs <= 1) << "job " << number << " ran twice: " << found->second.dump() << log;
    EXPECT_TRUE(job.requeue || ends[number] <= 1) << "job " << number << " has several ends";
    EXPECT_LE(completed[number], 1) << "job " << number << " has completed twice";
  }
}

void ServiceRounds::check_what_is_left(const Background& canary) {
  EXPECT_TRUE(canary.is_running()) << "a process that is none of the service's has been ended";
  const auto others = [&] {
    std::string found;
    for (const Part& part : parts())
      if (part.process.pid() != canary.pid())
        found += fmt::format("{} {}\n", part.process.pid(), read_stat(part.process.pid()).value_or(ProcessStat{}).name);
    return found;
  };
  EXPECT_TRUE(comes_true([&] { return others().empty(); }, std::chrono::seconds{5})) << others();
  for (const Part& part : parts())
    if (part.process.pid() != canary.pid()) part.process.signal(SIGKILL);
  EXPECT_FALSE(fs::exists(home() / "socket"));
  if (uid_ == 0) return;  // other programs of root have files there, too
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    struct stat status {};
    const bool is_there = ::lstat(entry.path().c_str(), &status) == 0;
    EXPECT_FALSE(is_there && status.st_uid == uid_) << entry.path() << " is left";
  }
}

void ServiceRounds::round(std::uint64_t seed) {
  Random random{seed};
  uid_ = seed % 2 == 0 ? user_ : 0;
  starts_ = 0;
  acknowledged_.clear();
  work_ = folder_ / fmt::format("round-{}", seed);
  make_folder(work_);
  make_folder(home());
  make_folder(work_ / "run");
  ::setenv("XDG_RUNTIME_DIR", (work_ / "run").c_str(), 1);
  ::setenv("TMPDIR", (work_ / "run").c_str(), 1);
  ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks daemon, agent and guard
  write_text(work_ / "job.sh", kJob);
  fs::permissions(work_ / "job.sh", fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const auto canary = in_background({"/usr/bin/sleep", "1000"}, "canary");
  const auto jobs = 3 + random.below(4), faults = 1 + random.below(3);
  for (std::uint64_t tag = 0; tag < jobs; ++tag) submit(random, static_cast<int>(tag));
  for (std::uint64_t i = 0; i < faults; ++i) {
    nap(random, 600);
    fault(random);
    if (random.one_in(3)) submit(random, static_cast<int>(jobs + i));
  }
  const auto are_over = [&] {
    const json answer = ask({{"request", "jobs"}});
    return answer.value("ok", false) && answer.at("jobs").empty();
  };
  EXPECT_TRUE(comes_true(are_over, kLongestRound)) << ask({{"request", "jobs"}}).dump() << service_->err();
  check_ends();
  service_->send(SIGTERM);
  EXPECT_EQ(service_->wait(), 0) << service_->err();
  service_.reset();
  check_what_is_left(*canary);
  counts_["starts of the service"] += starts_;
  counts_["acknowledged jobs"] += static_cast<int>(acknowledged_.size());
  if (!HasFailure()) fs::remove_all(home());
}

TEST_F(ServiceRounds, EveryAcknowledgedJobHasOneEndAndNothingIsLeft) {
  const std::uint64_t rounds = number_from("REPLAY_ROUNDS", kFewRounds), first = number_from("REPLAY_ROUNDS_SEED", 1);
  for (std::uint64_t seed = first; seed < first + rounds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("REPLAY_ROUNDS_SEED={} REPLAY_ROUNDS=1", seed));
    round(seed);
  }
  fmt::print("{} rounds from seed {}:", rounds, first);
  for (const auto& [what, count] : counts_) fmt::print(" {} {};", count, what);
  fmt::print("\n");
}

}  // namespace
}  // namespace replay::test
