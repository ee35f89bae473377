// Tests that a job, its neighbours, the agent and other users of the machine cannot disturb each other: descriptors,
// shared segments, files that a job replaces, the port on which its mpiexec listens, and what clean-up deletes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "launcher/mpich/job_network.hpp"
#include "tests/support/failures_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr JobId kOther{8};

class Isolation : public Failures {
 protected:
  void launch_other(const std::string& script) {
    fs::create_directories(directory_ / "other");
    auto other = order({"/bin/sh", "-c", script}, 1, kOther);
    other.directory = directory_ / "other";
    executor_->launch(other);
  }
};

/// The targets of a process's descriptors from `first` on, without anonymous inodes, which all have the same name.
std::set<std::string> open_in(pid_t pid, int first) {
  std::set<std::string> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{fs::path{"/proc"} / std::to_string(pid) / "fd", gone}) {
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (std::stoi(entry.path().filename()) >= first && !target.starts_with("anon_inode:")) found.insert(target);
  }
  return found;
}

std::set<std::string> common_to(const std::set<std::string>& one, const std::set<std::string>& other) {
  std::set<std::string> both;
  std::ranges::set_intersection(one, other, std::inserter(both, both.end()));
  return both;
}

TEST_F(Isolation, MpiexecAndRanksInheritNoDescriptorOfTheAgent) {
  start();
  launch({"/bin/sleep", "60"}, 1);
  ASSERT_TRUE(until([&] { return rank(0) != 0 && process_named("sleep") != 0; }));
  std::set<std::string> ours = open_in(agent_pid_, 0);
  ours.merge(open_in(::getpid(), 3));
  ours.insert("/dev/null");
  for (const char* name : {"mpiexec", "hydra_pmi_proxy", "sleep"}) {
    const std::set<std::string> theirs = open_in(process_named(name), 3);
    EXPECT_EQ(common_to(theirs, ours), std::set<std::string>{}) << name;
    for (const std::string& target : theirs) EXPECT_FALSE(target.starts_with(directory_.path().string())) << target;
  }
  order_end(Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }));
}

TEST_F(Isolation, AJobThatPutsPipesInPlaceOfItsFilesHoldsNobodyUp) {
  start();
  const std::string folder = (directory_ / "job").string();
  launch({"/bin/sh", "-c",
          "cd " + folder + " && rm -f stdout stderr && mkfifo stdout stderr notes && echo VERIFICATION SUCCESSFUL"},
         1);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(its_end().verification, Verification::kPassed) << "its output is read where it was written";
}

TEST_F(Isolation, AJobThatCutsSharedSegmentsHarmsNeitherTheAgentNorTheOthers) {
  start();
  bring_to(Situation::kComputing);
  ASSERT_FALSE(HasFatalFailure());
  const std::string files = "/proc/" + std::to_string(agent_pid_) + "/fd/* " + agent_directory().string() + "/*";
  launch_other("for f in " + files +
               "; do case \"$f $(readlink $f)\" in *segment*) truncate -s 0 $f; echo cut;; esac; done");
  ASSERT_TRUE(until([&] { return seen_.ended.contains(kOther) || seen_.lost; }));
  EXPECT_FALSE(seen_.lost) << *seen_.lost;
  std::ostringstream said;
  said << std::ifstream{directory_ / "other" / "stdout"}.rdbuf();
  EXPECT_NE(said.str().find("cut"), std::string::npos) << "it has found none";
  executor_->resize(kJob, {core(0), core(0)});
  EXPECT_TRUE(until([&] { return seen_.resized == 1 || seen_.lost; }));
  EXPECT_FALSE(seen_.lost) << *seen_.lost;
  order_end(Outcome::kKilled);
  expect_end(Outcome::kKilled, "");
}

// ---- the network ----------------------------------------------------------------------------------------------------

/// The port on which a process listens, from the table of its own network namespace. 0 if there is none.
in_port_t port_of(pid_t pid) {
  std::ifstream table{fs::path{"/proc"} / std::to_string(pid) / "net/tcp"};
  const std::set<std::string> open = open_in(pid, 3);
  std::string line;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream words{line};
    std::string number, local, remote, state, skipped, inode;
    words >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) words >> skipped;
    words >> inode;
    constexpr const char* kListens = "0A";
    if (state == kListens && open.contains("socket:[" + inode + "]"))
      return static_cast<in_port_t>(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
  }
  return 0;
}

/// Connects from the test's network namespace and hangs up at once. False: refused.
bool knocks_at(in_port_t port) {
  const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TEST_F(Isolation, AForeignConnectionDoesNotReachAJobsMpiexec) {
  if (const auto reason = why_no_own_network()) GTEST_SKIP() << "no network of a job's own here: " << *reason;
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  const in_port_t port = port_of(process_named("mpiexec"));
  ASSERT_NE(port, 0);
  EXPECT_FALSE(knocks_at(port));
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(its_end().verification, Verification::kPassed);
}

TEST_F(Isolation, OnTheHostsNetworkPortsAreInARangeAndAForeignConnectionIsNamedAsTheCause) {
  options_.network = JobNetwork::kHost;
  start();
  bring_to(Situation::kComputing);
  ASSERT_FALSE(HasFatalFailure());
  const in_port_t port = port_of(process_named("mpiexec"));
  EXPECT_GE(port, 25000);
  EXPECT_LT(port, 26000);
  EXPECT_TRUE(knocks_at(port));
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("a connection that is not the job's own ended mpiexec"), std::string::npos)
      << its_end().reason;
  expect_nothing_left();
}

TEST_F(Isolation, AJobInItsOwnNetworkIsTheSameUserAndItsFilesAreTheUsers) {
  start();
  const fs::path file = directory_ / "job" / "made";
  launch({"/bin/sh", "-c", "id -u; id -g; touch '" + file.string() + "'"}, 1);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(Launcher::file("stdout"), std::to_string(::geteuid()) + "\n" + std::to_string(::getegid()) + "\n");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, ::geteuid());
}

// ---- clean-up -------------------------------------------------------------------------------------------------------

TEST_F(Isolation, AnAgentsCleanUpKeepsAUsersFolderWhoseNameBeginsLikeItsOwn) {
  const fs::path results = directory_ / "run" / "replay-agent-results";
  fs::create_directories(results / "run1");
  std::ofstream(results / "run1" / "data.csv") << "1\n";
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, results.c_str(), long_ago, 0), 0);
  start();
  EXPECT_TRUE(fs::exists(results / "run1" / "data.csv"));
  executor_.reset();
  fs::remove_all(results);
}

}  // namespace
}  // namespace replay::launcher
