#include "scheduler/base/process/own_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/pidfd.hpp"
#include "scheduler/base/process/stop_signals.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

constexpr int kCannotExecute = 127;

UniqueFd new_file(const fs::path& file) {
  UniqueFd descriptor{::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (!descriptor.is_open())
    throw InputError(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  return descriptor;
}

// Never returns. Calls only what is safe after a fork.
[[noreturn]] void become(char* const* arguments, const ChildPlace& place, const char* folder, pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C on the terminal reaches us, and we hand it on: else the child would get it twice
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotExecute);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  const int err = ::dup(place.err);  // the next line may overwrite place.err
  ::dup2(place.out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::close(err);
  if (*folder == '\0' || ::chdir(folder) == 0) ::execv("/proc/self/exe", arguments);
  ::_exit(kCannotExecute);
}

// Passes stop signals on to the child until it has ended, also those that came before its start.
void hand_signals_on_to(pid_t child) {
  const UniqueFd handle{::pidfd_open(child, 0)};
  if (!handle.is_open()) throw InputError(fmt::format("the run cannot be watched: {}", std::strerror(errno)));
  pollfd awaited[] = {{handle.get(), POLLIN, 0}, {stop_descriptor(), POLLIN, 0}};
  for (int handed_on = 0; (awaited[0].revents & POLLIN) == 0; ::poll(std::data(awaited), std::size(awaited), -1)) {
    clear_stop_descriptor();
    for (; handed_on < stops_asked(); ++handed_on) ::pidfd_send_signal(handle.get(), last_stop_signal(), nullptr, 0);
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, const ChildPlace& place) {
  std::vector<std::string> copies = words;
  std::string program = "replay";
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);

  const HeedStops heeding;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), place, place.folder.c_str(), parent);
  if (child < 0) throw InputError(fmt::format("a process cannot be made: {}", std::strerror(errno)));
  hand_signals_on_to(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw InputError(fmt::format("the run is lost: {}", std::strerror(errno)));
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), stops_asked() > 0};
}

ChildEnd run_child(const std::vector<std::string>& words, const fs::path& out, const fs::path& err) {
  const UniqueFd out_file = new_file(out), err_file = new_file(err);
  return run_child(words, {.out = out_file.get(), .err = err_file.get()});
}

}  // namespace replay
