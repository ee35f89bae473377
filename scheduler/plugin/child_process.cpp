#include "scheduler/plugin/child_process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "scheduler/base/process/orphans.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::plugin {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestLine = 16u << 20;
constexpr std::size_t kKeptErrors = 4096;
constexpr std::size_t kShownErrors = 4000;  // less, so that a character that was cut off is not shown
constexpr int kShownErrorLines = 5;
constexpr auto kTimeToLeave = 1000ms;

struct Pipe {
  UniqueFd read_end, write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw ChildFault(fmt::format("no pipe: {}", std::strerror(errno)));
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

void never_block(const UniqueFd& end) { ::fcntl(end.get(), F_SETFL, ::fcntl(end.get(), F_GETFL) | O_NONBLOCK); }

// Blocks SIGPIPE: writing to a program that reads no more gives an error code, not a signal to the whole process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (sigismember(&before_, SIGPIPE) == 0)
      while (::sigtimedwait(&sigpipe_, nullptr, &at_once) == -1 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

std::atomic<int> living{0};  // objects of ChildProcess

std::string new_mark() {
  std::random_device random;
  return fmt::format("REPLAY_POLICY_PROGRAM={:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// Starts it in a process group of its own, with default signals, only its three pipes open, and `mark` in its
// environment.
pid_t spawn(const std::vector<std::string>& words, const std::string& mark, int in, int out, int err) {
  std::vector<char*> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (!std::string_view{*entry}.starts_with("REPLAY_POLICY_PROGRAM=")) environment.push_back(*entry);
  environment.push_back(const_cast<char*>(mark.c_str()));
  environment.push_back(nullptr);

  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw ChildFault(fmt::format("'{}' cannot be started: {}", words[0], std::strerror(error)));
  return pid;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  mark_ = new_mark();
  adopt_orphans();
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  pid_ = spawn(words, mark_, in.read_end.get(), out.write_end.get(), err.write_end.get());
  ++living;
  handle_ = UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  input_ = std::move(in.write_end);
  output_ = std::move(out.read_end);
  errors_ = std::move(err.read_end);
  for (const UniqueFd* end : {&input_, &output_, &errors_}) never_block(*end);
}

ChildProcess::~ChildProcess() {
  input_.reset();
  if (!failed_) (void)has_ended_within(kTimeToLeave);
  const std::vector<Process> below = open_all_below(pid_);
  send_signal_to_group(pid_, SIGKILL);  // it is not reaped yet, so the number is still its own
  for (const Process& process : below) process.signal(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) == -1 && errno == EINTR) continue;
  --living;
  end_what_hides();
}

// Repeats until nothing is left: a process may have started another just before it was killed.
void ChildProcess::end_what_hides() const {
  for (int tries = 0; tries < 200; ++tries) {
    std::vector<Process> left;
    for (const pid_t pid : processes_with(mark_))
      if (auto process = Process::open(pid); process && environment_has(pid, mark_))
        left.push_back(std::move(*process));
    if (living == 0)
      for (Process& orphan : orphans()) left.push_back(std::move(orphan));
    std::erase_if(left, [](const Process& process) { return process.is_gone(); });
    if (left.empty()) return;
    for (const Process& process : left) process.signal(SIGKILL);
    std::this_thread::sleep_for(5ms);
    for (const Process& process : left) ::waitpid(process.pid(), nullptr, WNOHANG);  // if it is our child now
  }
}

std::string ChildProcess::ask(std::string_view line, std::chrono::milliseconds limit) {
  expect_silence();
  unsent_.append(line).push_back('\n');
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    if (!unsent_.empty()) write_some();
    if (unsent_.empty())
      if (auto answer = take_line()) return *std::move(answer);
    if (!output_.is_open()) fail(manner_of_leaving());
    if (Clock::now() >= deadline) fail(fmt::format("expected an answer within {} ms, found none", limit.count()));
    wait_for_something(deadline);
  }
}

// A line too many would be taken for the answer to the next question, and all later answers would be off by one.
void ChildProcess::expect_silence() {
  constexpr std::size_t kShown = 80;
  if (output_.is_open()) read_output();
  if (received_.empty()) return;
  const std::string first = received_.substr(0, received_.find('\n'));
  fail(fmt::format("expected one line for each question, found another one before it was asked: '{}'",
                   clean_line(first, kShown)));
}

void ChildProcess::wait_for_something(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  std::array<pollfd, 4> ends{{{output_.get(), POLLIN, 0},
                              {errors_.get(), POLLIN, 0},
                              {unsent_.empty() ? -1 : input_.get(), POLLOUT, 0},
                              {handle_.get(), POLLIN, 0}}};
  if (::poll(ends.data(), ends.size(), static_cast<int>(std::max(left, 0ms).count())) <= 0) return;
  if (ends[1].revents != 0) read_errors();
  const bool ended = ends[3].revents != 0;
  if (ends[0].revents != 0)
    read_output();
  else if (ended)
    output_.reset();  // a child of its own may hold the pipe open for ever
}

void ChildProcess::write_some() {
  const WithoutSigpipe quiet;
  while (!unsent_.empty()) {
    const ssize_t sent = ::write(input_.get(), unsent_.data(), unsent_.size());
    if (sent > 0)
      unsent_.erase(0, static_cast<std::size_t>(sent));
    else if (errno == EAGAIN)
      return;
    else if (errno != EINTR)
      fail(errno == EPIPE ? manner_of_leaving() : fmt::format("it cannot be written to: {}", std::strerror(errno)));
  }
}

void ChildProcess::read_output() {
  std::array<char, 1u << 16> block;
  const ssize_t got = ::read(output_.get(), block.data(), block.size());
  if (got > 0)
    received_.append(block.data(), static_cast<std::size_t>(got));
  else if (got == 0 || (errno != EAGAIN && errno != EINTR))
    output_.reset();
}

void ChildProcess::read_errors() {
  std::array<char, 4096> block;
  const ssize_t got = ::read(errors_.get(), block.data(), block.size());
  if (got > 0) {
    error_text_.append(block.data(), static_cast<std::size_t>(got));
    if (error_text_.size() > kKeptErrors) error_text_.erase(0, error_text_.size() - kKeptErrors);
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    errors_.reset();
  }
}

std::optional<std::string> ChildProcess::take_line() {
  const std::size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    if (received_.size() > kLongestLine) fail("expected a line of up to 16 MiB, found a longer one");
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

bool ChildProcess::has_ended_within(std::chrono::milliseconds limit) const {
  const Clock::time_point deadline = Clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd end{handle_.get(), POLLIN, 0};
    const int ready = ::poll(&end, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (ready > 0) return true;
    if (ready == 0) return false;
  }
}

void ChildProcess::fail(const std::string& why) {
  failed_ = true;
  throw ChildFault(why + last_words());
}

std::string ChildProcess::manner_of_leaving() {
  if (!has_ended_within(kTimeToLeave)) return "expected an answer, found that it has closed its input or output";
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT);
  if (end.si_code == CLD_EXITED)
    return fmt::format("expected an answer, found that it has ended with status {}", end.si_status);
  return fmt::format("expected an answer, found that signal {} ({}) has ended it", end.si_status,
                     ::strsignal(end.si_status));
}

std::string ChildProcess::last_words() {
  for (std::size_t before = error_text_.size() + 1; errors_.is_open() && before != error_text_.size();) {
    before = error_text_.size();
    if (before == kKeptErrors) break;
    read_errors();
  }
  std::string_view text = end_of_text(error_text_, kShownErrors);
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return "";
  std::size_t from = text.size();
  for (int line = 0; line < kShownErrorLines && from != std::string_view::npos && from > 0; ++line)
    from = text.rfind('\n', from - 1);
  const std::string_view last = from == std::string_view::npos || from == 0 ? text : text.substr(from + 1);
  std::string shown = "\nlast lines of its stderr:";
  for (std::size_t at = 0; at <= last.size();) {
    const std::size_t end = std::min(last.find('\n', at), last.size());
    shown += fmt::format("\n  {}", last.substr(at, end - at));
    at = end + 1;
  }
  return shown;
}

}  // namespace replay::plugin
