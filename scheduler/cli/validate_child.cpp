#include "scheduler/cli/validate_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "scheduler/model/error.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kCannotExecute = 127;
constexpr std::size_t kMostWords = 2000;

std::atomic<pid_t> the_child{0};
std::atomic<bool> was_interrupted{false};

void hand_on(int signal) {
  const int before = errno;
  was_interrupted = true;
  if (const pid_t child = the_child.load(); child > 0) ::kill(child, signal);
  errno = before;
}

// Ours while the child runs; then those that were there.
class HandingOn {
 public:
  HandingOn() {
    struct sigaction ours {};
    ours.sa_handler = hand_on;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGINT, &ours, &on_interrupt_);
    ::sigaction(SIGTERM, &ours, &on_terminate_);
  }
  HandingOn(const HandingOn&) = delete;
  HandingOn& operator=(const HandingOn&) = delete;
  ~HandingOn() {
    ::sigaction(SIGINT, &on_interrupt_, nullptr);
    ::sigaction(SIGTERM, &on_terminate_, nullptr);
  }

 private:
  struct sigaction on_interrupt_ {};
  struct sigaction on_terminate_ {};
};

int open_new(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw InputError(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  return descriptor;
}

// Never returns. Only what is safe after a fork.
[[noreturn]] void become(char* const* arguments, int out, int err, pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C on the terminal reaches us, who hand it on: else the child would get it twice
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotExecute);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execv("/proc/self/exe", arguments);
  ::_exit(kCannotExecute);
}

std::string end_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.size() <= kMostWords ? text : text.substr(text.size() - kMostWords);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, const fs::path& out, const fs::path& err) {
  std::vector<std::string> copies = words;
  std::string program = "replay";
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int out_file = open_new(out);
  const int err_file = open_new(err);
  std::fflush(nullptr);

  was_interrupted = false;
  const HandingOn handing_on;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), out_file, err_file, parent);
  const int fork_error = errno;
  the_child = child;
  ::close(out_file);
  ::close(err_file);
  if (child < 0) throw InputError(fmt::format("a process cannot be made: {}", std::strerror(fork_error)));
  if (was_interrupted) ::kill(child, SIGINT);  // it came before there was anybody to hand it on to
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw InputError(fmt::format("the real run is lost: {}", std::strerror(errno)));
  the_child = 0;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), was_interrupted, end_of(err)};
}

}  // namespace replay::cli
