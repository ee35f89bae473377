// Fixture for tests of `replay agent` with daemons that connect over TCP, all run as programs: starts them, reads their
// output, and checks that nothing of them is left.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launcher/daemon/agent_link.hpp"
#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/background.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {

inline constexpr const char* kShort =
    "; MaxProcs: 2\n"
    "1 0 -1 2 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 0.3 -1 0.7 1 0.7 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n";
inline constexpr const char* kLong =
    "; MaxProcs: 2\n"
    "1 0 -1 600 2 300 -1 2 1000 -1 1 1 1 -1 -1 -1 -1 -1\n";

inline constexpr const char* kEmulated = "emulated:1x1x2";

class RemoteAgent : public testing::Test {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    machine_ = "local:" + cores;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    ::setenv("XDG_RUNTIME_DIR", run_.c_str(), 1);            // agents' directories lie there
    std::filesystem::create_directory(run_);
    launcher::make_link_key(key_);
    write_text(folder_ / "short.swf", kShort);
    write_text(folder_ / "long.swf", kLong);
  }

  void start_agent(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"agent", "--key", key_.string(), "--machine", machine_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    agent_ = std::make_unique<Background>(REPLAY_PROGRAM, arguments, folder_ / "agent.out", folder_ / "agent.err");
    read_address(*agent_);
  }
  void read_address(const Background& from) {
    const std::string before = "replay agent: listening on ";
    ASSERT_TRUE(comes_true([&] { return from.out().find('\n') != std::string::npos; })) << from.err();
    ASSERT_EQ(from.out().substr(0, before.size()), before);
    address_ = from.out().substr(before.size(), from.out().find('\n') - before.size());
  }

  std::vector<std::string> arguments(const std::string& trace, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"--trace",     (folder_ / trace).string(),
                                 "--policy",    "fcfs-malleable",
                                 "--machine",   "agent:" + address_,
                                 "--agent-key", key_.string(),
                                 "--lease",     lease_,
                                 "--out",       (folder_ / "r").string(),
                                 "--force",     "--yes"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::unique_ptr<Background> daemon(const std::vector<std::string>& arguments, const std::string& output = "out") {
    return std::make_unique<Background>(REPLAY_PROGRAM, arguments, folder_ / output, folder_ / output);
  }
  std::unique_ptr<Background> daemon_with_a_running_job() {
    auto running = daemon(arguments("long.swf"));
    EXPECT_TRUE(comes_true([this] { return events().find(" ranks job=1") != std::string::npos; })) << running->out();
    return running;
  }
  /// Runs `replay` to its end.
  int run(const std::vector<std::string>& arguments) { return daemon(arguments)->wait(); }
  std::string output() const { return text_of(folder_ / "out"); }
  std::string events() const { return text_of(folder_ / "r/events.log"); }

  void expect_all_verified(int jobs) const {
    MemoryLog log;
    ASSERT_TRUE(log::read_text(folder_ / "r/events.log", log));
    EXPECT_EQ(what_is_wrong(log, Machine::parse(shape_)), "");
    EXPECT_EQ(log.verified(), jobs) << text_of(folder_ / "r/jobs/1/stderr");
  }
  void expect_nothing_left(std::chrono::seconds within = std::chrono::seconds{2}) const {
    const std::string mark = folder_.path().string();
    EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); }, within)) << processes_marked(mark);
    EXPECT_TRUE(comes_true([&] { return std::filesystem::is_empty(run_); })) << "an agent's directory is left";
  }

  /// Opens a connection that never proves the key.
  UniqueFd knock() const {
    UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(launcher::LinkAddress::parse(address_).port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    return socket;
  }
  /// The child process of `replay agent` that serves a daemon.
  pid_t serving() const {
    const std::vector<pid_t> children = children_of(agent_->pid());
    EXPECT_EQ(children.size(), 1U);
    return children.empty() ? 0 : children.front();
  }

  TemporaryFolder folder_;
  std::filesystem::path key_ = folder_ / "key";
  std::filesystem::path run_ = folder_ / "run";
  std::string machine_;
  std::string shape_ = "1x1x2";  ///< of the machine that runs see
  std::string lease_ = "30s";
  std::string address_;
  std::unique_ptr<Background> agent_;
};

}  // namespace replay::test
