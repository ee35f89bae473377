#include "scheduler/cli/own_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "launcher/unique_fd.hpp"
#include "scheduler/model/error.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kCannotExecute = 127;
constexpr std::array kHandedOn = {SIGINT, SIGTERM, SIGHUP};

std::atomic<pid_t> the_child{0};
std::atomic<bool> was_interrupted{false};

void hand_on(int signal) {
  const int before = errno;
  was_interrupted = true;
  if (const pid_t child = the_child.load(); child > 0) ::kill(child, signal);
  errno = before;
}

bool is_ours(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == hand_on;
}

// Ours while the child runs, but for what we ignore; then those that were there.
class HandingOn {
 public:
  HandingOn() {
    struct sigaction ours {};
    ours.sa_handler = hand_on;
    ::sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      ::sigaction(kHandedOn[i], &ours, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) ::sigaction(kHandedOn[i], &before_[i], nullptr);
    }
  }
  HandingOn(const HandingOn&) = delete;
  HandingOn& operator=(const HandingOn&) = delete;
  ~HandingOn() {
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) ::sigaction(kHandedOn[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kHandedOn.size()> before_{};
};

launcher::UniqueFd new_file(const fs::path& file) {
  launcher::UniqueFd descriptor{::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (!descriptor.is_open())
    throw InputError(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  return descriptor;
}

// Never returns. Only what is safe after a fork.
[[noreturn]] void become(char* const* arguments, const ChildPlace& place, const char* folder, pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C on the terminal reaches us, who hand it on: else the child would get it twice
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotExecute);
  for (const int signal : kHandedOn)
    if (is_ours(signal)) std::signal(signal, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  const int err = ::dup(place.err);  // `out` may be put where it is
  ::dup2(place.out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::close(err);
  if (*folder == '\0' || ::chdir(folder) == 0) ::execv("/proc/self/exe", arguments);
  ::_exit(kCannotExecute);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, const ChildPlace& place) {
  std::vector<std::string> copies = words;
  std::string program = "replay";
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);

  was_interrupted = false;
  const HandingOn handing_on;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), place, place.folder.c_str(), parent);
  if (child < 0) throw InputError(fmt::format("a process cannot be made: {}", std::strerror(errno)));
  the_child = child;
  if (was_interrupted) ::kill(child, SIGINT);  // it came before there was anybody to hand it on to
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw InputError(fmt::format("the run is lost: {}", std::strerror(errno)));
  the_child = 0;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), was_interrupted};
}

ChildEnd run_child(const std::vector<std::string>& words, const fs::path& out, const fs::path& err) {
  const launcher::UniqueFd out_file = new_file(out), err_file = new_file(err);
  return run_child(words, {.out = out_file.get(), .err = err_file.get()});
}

}  // namespace replay::cli
