// Tests of when `replay agent` goes that belongs to the program which has started it: when its input is closed, with a daemon or
// without one, and when no daemon comes. The service runs in a child process.
#include "launcher/service/agent_service.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Ends {
  UniqueFd read_end, write_end;
};
Ends new_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

class StartedService : public testing::Test {
 protected:
  ~StartedService() override {
    if (pid_ <= 0) return;
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void start(std::chrono::milliseconds first_daemon_within) {
    Ends input = new_pipe(), port = new_pipe();
    fs::create_directory(run_);
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      input.write_end.reset();
      ::dup2(::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
      const StopSignals signals;
      AgentServiceOptions options;
      options.agent.emulated_cores = 2;
      options.agent.runtime_directory = run_;
      options.key = key_;
      options.stays = true;
      options.starter = input.read_end.get();
      options.first_daemon_within = first_daemon_within;
      options.on_listening = [&](const LinkAddress& address) {
        (void)!::write(port.write_end.get(), &address.port, sizeof address.port);
      };
      ::_exit(serve_daemons(options));
    }
    input_ = std::move(input.write_end);
    ASSERT_EQ(::read(port.read_end.get(), &address_.port, sizeof address_.port), 2);
  }
  [[nodiscard]] bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string said() const { return test::text_of(folder_ / "err"); }
  void expect_nothing_left() const { EXPECT_TRUE(fs::is_empty(run_)) << "the directory of an agent"; }

  TemporaryFolder folder_;
  const fs::path run_ = folder_ / "run";
  const protocol::LinkKey key_ = new_link_key();
  LinkAddress address_{"127.0.0.1", 0};
  UniqueFd input_;
  pid_t pid_ = -1;
};

TEST_F(StartedService, GoesWithItsInput) {
  start(60s);
  ASSERT_EQ(::write(input_.get(), "word\n", 5), 5) << "has no meaning";
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(runs());
  input_.reset();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(said(), "replay agent: the program that started this agent has closed its standard input\n");
}

TEST_F(StartedService, GoesWithItsInputFromADaemonToo) {
  start(60s);
  const AgentLink link = connect_agent(address_, key_);
  EXPECT_EQ(link.hello.cores.size(), 2U);
  const pid_t agent = static_cast<pid_t>(link.hello.pid);
  EXPECT_TRUE(read_stat(agent));
  input_.reset();
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(read_stat(agent));
  expect_nothing_left();
}

TEST_F(StartedService, GoesWhenNoDaemonComes) {
  const auto begin = Clock::now();
  start(300ms);
  EXPECT_EQ(wait(), 1);
  EXPECT_GE(Clock::now() - begin, 300ms);
  EXPECT_EQ(said(), "replay agent: no daemon has come within 0.3 s\n");
}

TEST_F(StartedService, WaitsWithoutLimitAfterItsFirstDaemon) {
  start(1s);
  connect_agent(address_, key_).close();
  std::this_thread::sleep_for(1500ms);
  EXPECT_TRUE(runs()) << said();
  const AgentLink next = connect_agent(address_, key_, 0s, 5s);
  EXPECT_TRUE(next.stays);
  input_.reset();
  EXPECT_EQ(wait(), 0);
}

TEST_F(StartedService, OutlivesItsStarterAsLongAsADaemonWithALeaseIsServed) {
  start(1s);
  AgentLink link = connect_agent(address_, key_, 30s);
  input_.reset();
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(runs()) << "ssh may be gone with the line that is to be mended: " << said();
  link.end();
  EXPECT_EQ(wait(), 0);
}

}  // namespace
}  // namespace replay::launcher
