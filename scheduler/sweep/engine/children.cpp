#include "scheduler/sweep/engine/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/full_disk.hpp"
#include "scheduler/base/process/reset_signals.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/sweep/engine/cells.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

using Kind = CellEnd::Kind;

constexpr char kEndMark = '\0';  // of an answer, so that half of one is none; its first byte is its kind

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent has gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void limit(__rlimit_resource resource, rlim_t value) {
  rlimit both{};
  if (::getrlimit(resource, &both) != 0) return;
  both.rlim_cur = std::min(value, both.rlim_max);
  static_cast<void>(!::setrlimit(resource, &both));
}

std::string memory_reason(std::uint64_t bytes) {
  return bytes == 0 ? std::string{"there is no memory left"}
                    : fmt::format("needs more memory than {} (--cell-memory)", size_text(static_cast<double>(bytes)));
}

// What a process that crashed has printed last: a broken invariant says there what it was.
std::string last_line_of(int errors) {
  constexpr off_t kMost = 4096;
  const off_t size = ::lseek(errors, 0, SEEK_END), from = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t got = ::pread(errors, text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

void pass_on(int errors) {
  std::array<char, 65'536> block{};
  ssize_t got = 0;
  for (off_t at = 0; (got = ::pread(errors, block.data(), block.size(), at)) > 0; at += got)
    write_all(STDERR_FILENO, {block.data(), static_cast<std::size_t>(got)});
}

}  // namespace

void Children::be_child(std::size_t cell, int answer, int errors, const fs::path& scratch, pid_t parent) const {
  ::setpgid(0, 0);  // a Ctrl-C on the terminal reaches the parent only
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  reset_signals();
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);  // errors of write(), as in the parent
  limit(RLIMIT_CORE, 0);
  if (limits_.memory > 0) limit(RLIMIT_DATA, limits_.memory);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(errors, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  Kind kind = Kind::kDone;
  std::string text;
  try {
    if (stops_asked() > 0)
      throw TryAgain("interrupted");  // since the fork was decided on: it would be computed in part
    text = compute_(cell, scratch);
  } catch (const TryAgain& error) {
    kind = Kind::kTryAgain, text = error.what();
  } catch (const UsageError& error) {
    kind = Kind::kWrongUsage, text = error.what();
  } catch (const std::bad_alloc&) {
    kind = limits_.memory > 0 ? Kind::kFailed : Kind::kTryAgain, text = memory_reason(limits_.memory);
  } catch (const std::exception& error) {
    kind = is_disk_full(scratch) ? Kind::kTryAgain : Kind::kFailed, text = error.what();
  }
  std::fflush(nullptr);
  write_all(answer, static_cast<char>(kind) + text + kEndMark);
  ::_exit(0);
}

Children::~Children() {
  for (Child& child : children_) {
    send_signal_to_group(child.pid, SIGKILL);
    send_signal(child.pid, SIGKILL);  // it may not have its group yet
    while (::waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
}

void Children::start(std::size_t cell) try {
  const auto fail = [](const char* what) {
    throw TryAgain(fmt::format("a cell cannot be started: {}: {}", what, std::strerror(errno)));
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  Child child{.cell = cell,
              .pid = -1,
              .answer = UniqueFd{ends[0]},
              .errors = UniqueFd{::memfd_create("cell", MFD_CLOEXEC)},
              .scratch = std::make_unique<ScratchFolder>(scratch_.path().parent_path()),
              .started = Clock::now()};
  const UniqueFd to_parent{ends[1]};
  if (!child.errors.is_open()) fail("memfd_create");
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid == 0) be_child(cell, to_parent.get(), child.errors.get(), child.scratch->path(), parent);
  if (child.pid < 0) fail("fork");
  ::setpgid(child.pid, child.pid);
  children_.push_back(std::move(child));
} catch (const std::system_error& error) {  // of its temporary folder
  throw TryAgain(fmt::format("a cell cannot be started: {}", error.what()));
}

// False: its end of the pipe is closed, as it has ended.
bool Children::read_from(Child& child) const {
  std::array<char, 65'536> block{};
  const ssize_t got = ::read(child.answer.get(), block.data(), block.size());
  if (got > 0) child.received.append(block.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

void Children::kill_late() {
  if (!limits_.time) return;
  for (Child& child : children_)
    if (!child.is_late && Clock::now() - child.started > *limits_.time) {
      child.is_late = true;
      send_signal_to_group(child.pid, SIGKILL);
    }
}

CellEnd Children::end_of(const Child& child, int status) const {
  const std::string& got = child.received;
  CellEnd end{.cell = child.cell, .seconds = std::chrono::duration<double>(Clock::now() - child.started).count()};
  if (got.size() >= 2 && got.back() == kEndMark) {
    end.kind = static_cast<Kind>(got.front());
    end.text = got.substr(1, got.size() - 2);
  } else if (child.is_late) {
    end.text = fmt::format("took longer than {} (--cell-time)",
                           with_unit(std::chrono::duration_cast<Duration>(*limits_.time)));
  } else {
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    // From outside: by a user, a batch system or the kernel for want of memory.
    if (number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP) end.kind = Kind::kTryAgain;
    end.text = number > 0 ? fmt::format("was ended by signal {} (SIG{})", number, ::sigabbrev_np(number))
                          : fmt::format("ended with exit status {}", WEXITSTATUS(status));
    if (const std::string line = last_line_of(child.errors.get()); !line.empty()) end.text += ": " + line;
  }
  return end;
}

CellEnd Children::ended(Child& child) const {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  send_signal_to_group(child.pid, SIGKILL);  // programs that it has started; as a zombie it keeps its number
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) continue;
  child.scratch.reset();
  if (limits_.may_print) pass_on(child.errors.get());
  return end_of(child, status);
}

std::vector<CellEnd> Children::wait(std::chrono::milliseconds most) {
  std::vector<pollfd> awaited{{stop_descriptor(), POLLIN, 0}};
  for (const Child& child : children_) awaited.push_back({child.answer.get(), POLLIN, 0});
  auto until = Clock::now() + most;
  if (limits_.time)
    for (const Child& child : children_)
      if (!child.is_late) until = std::min(until, child.started + *limits_.time + std::chrono::milliseconds{1});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  ::poll(awaited.data(), awaited.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
  clear_stop_descriptor();
  kill_late();
  std::vector<CellEnd> ends;
  std::vector<Child> others;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    const bool is_open = awaited[i + 1].revents == 0 || read_from(children_[i]);
    if (!is_open) ends.push_back(ended(children_[i]));
    if (is_open) others.push_back(std::move(children_[i]));
  }
  children_ = std::move(others);
  return ends;
}

}  // namespace replay::sweep
