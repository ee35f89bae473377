#include "tests/support/background.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <utility>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace fs = std::filesystem;

Background::Background(const std::string& program, const std::vector<std::string>& arguments, fs::path out,
                       fs::path err)
    : out_(std::move(out)), err_(std::move(err)) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  const int out_file = ::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int err_file = out_ == err_ ? out_file : ::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ::dup2(out_file, 1);
  ::dup2(err_file, 2);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

Background::~Background() {
  if (pid_ <= 0) return;
  send_signal(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Background::send(int signal) const { send_signal(pid_, signal); }
bool Background::is_running() const {
  siginfo_t ended{};
  return pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}
std::string Background::out() const { return text_of(out_); }
std::string Background::err() const { return text_of(err_); }

int Background::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool comes_true(const std::function<bool()>& condition, std::chrono::seconds within) {
  const auto limit = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return true;
}

std::string processes_marked(const std::string& mark) {
  std::string found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    if (text_of(entry.path() / "environ").find(mark) == std::string::npos) continue;
    found += name + " " + text_of(entry.path() / "comm");
  }
  return found;
}

}  // namespace replay::test
