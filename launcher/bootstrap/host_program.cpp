#include "launcher/bootstrap/host_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/process/reset_signals.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::launcher {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;  // what a pipe holds
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kKeptErrors = 4096;
constexpr std::size_t kLongestWords = 300;
constexpr int kCannotExecute = 127;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct Pipe {
  UniqueFd read_end, write_end;
};

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe");
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

/// In the child, between fork and exec.
[[noreturn]] void become(char* const* words, const std::array<int, 3>& ends, pid_t parent, bool outlives_it, int held) {
  ::setsid();  // Ctrl-C is for the parent
  if (!outlives_it) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotExecute);  // it died before the prctl
  for (int fd = 0; fd < 3; ++fd) ::dup2(ends[static_cast<std::size_t>(fd)], fd);
  if (held >= 0) ::dup2(held, HostProgram::kHeld);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (held >= 0) ::fcntl(HostProgram::kHeld, F_SETFD, 0);
  restore_descriptor_limit();
  reset_signals();
  ::execvp(words[0], words);
  for (const char* text : {"cannot execute ", static_cast<const char*>(words[0]), ": ", ::strerrordesc_np(errno), "\n"})
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(kCannotExecute);
}

/// What there is, at most a block. `event` is reset when there will be no more.
std::string_view read_some(const UniqueFd& end, std::optional<LoopEvent>& event, std::array<char, kBlock>& block) {
  const ssize_t got = ::read(end.get(), block.data(), block.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) event.reset();
  return {block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

HostProgram::HostProgram(event_base* loop, std::vector<std::string> words, std::string_view input, bool outlives_us,
                         Callbacks callbacks, int held)
    : callbacks_(std::move(callbacks)) {
  Pipe in = new_pipe(), out = new_pipe(), err = new_pipe();
  // Before the child: while our read end is open, this neither waits nor breaks.
  if (::write(in.write_end.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) fail("no pipe");
  for (const UniqueFd* end : {&out.read_end, &err.read_end}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("cannot fork");
  if (pid_ == 0)
    become(arguments.data(), {in.read_end.get(), out.write_end.get(), err.write_end.get()}, parent, outlives_us, held);
  process_ = Process::open(pid_);
  if (!process_) {
    const int why = errno;
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw std::system_error(why, std::generic_category(), "cannot open a process");
  }
  known_.emplace(pid_);
  input_ = std::move(in.write_end);
  output_ = std::move(out.read_end);
  errors_ = std::move(err.read_end);
  output_event_.emplace(loop, output_.get(), EV_READ | EV_PERSIST, [this] { read_output(); });
  errors_event_.emplace(loop, errors_.get(), EV_READ | EV_PERSIST, [this] { read_errors(); });
  exit_event_.emplace(loop, process_->pidfd(), EV_READ, [this] { on_exit(); });
  for (auto* event : {&output_event_, &errors_event_, &exit_event_}) (*event)->arm();
}

HostProgram::~HostProgram() {
  if (is_left_) return;
  send(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

/// The group's number is its own until it is reaped. Before the child has made the group there is only the child.
void HostProgram::send(int signal) const {
  send_signal_to_group(pid_, signal);
  process_->signal(signal);
}

void HostProgram::read_output() {
  std::array<char, kBlock> block;
  std::string_view text = read_some(output_, output_event_, block);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line_ += text.substr(0, std::min(end, kLongestLine - line_.size()));
    if (end == std::string_view::npos) return;
    callbacks_.on_line(std::exchange(line_, {}));
    text.remove_prefix(end + 1);
  }
}

void HostProgram::read_errors() {
  std::array<char, kBlock> block;
  const std::string_view text = read_some(errors_, errors_event_, block);
  const std::lock_guard lock{mutex_};
  error_text_ += text.substr(text.size() - std::min(text.size(), kKeptErrors));
  if (error_text_.size() > kKeptErrors) error_text_.erase(0, error_text_.size() - kKeptErrors);
}

/// What it has left in the pipes is at most a block of each; a child of its own may go on writing.
void HostProgram::on_exit() {
  read_output();
  read_errors();
  callbacks_.on_end();
}

std::string HostProgram::last_words() const {
  const std::lock_guard lock{mutex_};
  const std::string text = clean_lines(error_text_);
  const std::size_t last = text.find_last_not_of(" \t\n");
  if (last == std::string::npos) return {};
  const std::size_t before = text.rfind('\n', last);
  return clean_line(std::string_view{text}.substr(before + 1, last - before), kLongestWords);
}

std::string HostProgram::manner_of_end() const {
  siginfo_t end{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT);
  if (end.si_code == CLD_EXITED) return fmt::format("exit status {}", end.si_status);
  return fmt::format("signal {} ({})", end.si_status, ::strsignal(end.si_status));
}

}  // namespace replay::launcher
