#include "tests/support/launcher_fixture.hpp"

#include <event2/event.h>

#include <sstream>

#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

void Launcher::SetUp() {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec is not on PATH: install MPICH to run this test";
  fs::create_directories(directory_ / "job");
  fs::create_directories(directory_ / "run");
  options_.runtime_directory = directory_ / "run";
  options_.vmlib = REPLAY_VMLIB;
}

void Launcher::TearDown() {
  executor_.reset();
  if (IsSkipped()) return;
  EXPECT_TRUE(HasFailure() || fs::is_empty(directory_ / "run")) << "the agent left something behind";
}

void Launcher::start() {
  prepare();
  loop_.reset(event_base_new());
  executor_->attach(loop_.get(), &seen_);
}

void Launcher::prepare() {
  if (local_.pu_of_core.empty()) local_ = discover_local("local");
  AgentHandle agent = start_agent(options_);
  agent_pid_ = agent.pid();
  socket_mark_ = "REPLAY_VM_SOCKET=" + (agent.directory() / "socket").string();
  executor_ = make_local_executor(std::move(agent), local_);
}

live::LaunchOrder Launcher::order(std::vector<std::string> command, std::size_t ranks, JobId job) const {
  live::LaunchOrder result{.job = job,
                           .command = std::move(command),
                           .environment = {},
                           .directory = directory_ / "job",
                           .core_of_rank = {},
                           .malleable = true};
  for (std::size_t number = 0; number < ranks; ++number) result.core_of_rank.push_back(core(number));
  return result;
}

bool Launcher::until(const std::function<bool()>& happened, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!happened()) {
    if (Clock::now() > deadline) return false;
    // The timer returns from the loop now and then, for conditions that no event announces.
    LoopEvent tick{loop_.get(), -1, 0, [] {}};
    tick.arm_after(5ms);
    event_base_loop(loop_.get(), EVLOOP_ONCE);
  }
  return true;
}

std::vector<pid_t> Launcher::its_processes() const { return processes_with(socket_mark_); }

pid_t Launcher::process_named(std::string_view name) const {
  for (const pid_t pid : its_processes())
    if (const auto stat = read_stat(pid); stat && stat->name == name) return pid;
  return 0;
}

pid_t Launcher::rank(int number) const {
  for (const pid_t pid : its_processes())
    if (environment_has(pid, "PMI_RANK=" + std::to_string(number))) return pid;
  return 0;
}

fs::path Launcher::segment_file(const std::string& name) const {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{fs::path{"/proc"} / std::to_string(agent_pid_) / "fd", gone})
    if (fs::read_symlink(entry.path(), gone) == "/memfd:" + name + " (deleted)") return entry.path();
  return {};
}

fs::path Launcher::agent_directory() const {
  return fs::path{socket_mark_.substr(socket_mark_.find('=') + 1)}.parent_path();
}

std::string Launcher::file(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream{directory_ / "job" / name}.rdbuf();
  return text.str();
}

}  // namespace replay::launcher
