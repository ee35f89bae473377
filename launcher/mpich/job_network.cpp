#include "launcher/mpich/job_network.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string_view>

#include "launcher/mpich/user_variables.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {
namespace {

bool write_to(const char* path, std::string_view text) {
  const UniqueFd fd{::open(path, O_WRONLY | O_CLOEXEC)};
  return fd.is_open() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Writes "ID ID 1": in the new user namespace the id keeps its number. Allocates no memory.
bool map_to_itself(const char* path, std::uint32_t id) {
  char text[32];
  char* at = text;
  for (const std::uint32_t number : {id, id, 1U}) {
    at = std::to_chars(at, std::end(text), number).ptr;
    *at++ = number == 1 ? '\n' : ' ';
  }
  return write_to(path, {text, static_cast<std::size_t>(at - text)});
}

/// Root may create a network namespace directly. Other users, and root without that right, create it in a user
/// namespace.
bool unshare_network() {
  if (::unshare(CLONE_NEWNET) == 0) return true;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  return map_to_itself("/proc/self/uid_map", user) && write_to("/proc/self/setgroups", "deny") &&
         map_to_itself("/proc/self/gid_map", group);
}

bool take_loopback_up() {
  const UniqueFd any{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq loopback{};
  std::memcpy(loopback.ifr_name, "lo", 3);
  if (!any.is_open() || ::ioctl(any.get(), SIOCGIFFLAGS, &loopback) != 0) return false;
  loopback.ifr_flags = static_cast<short>(loopback.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(any.get(), SIOCSIFFLAGS, &loopback) == 0;
}

}  // namespace

bool enter_own_network() { return unshare_network() && take_loopback_up(); }

std::optional<std::string> why_no_own_network() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_own_network() ? 0 : std::clamp(errno, 1, 255));
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) return std::strerror(errno);
  if (!WIFEXITED(status)) return "the attempt was killed";
  if (WEXITSTATUS(status) == 0) return std::nullopt;
  return WEXITSTATUS(status) == ENOSPC ? "no more namespaces are allowed" : std::strerror(WEXITSTATUS(status));
}

std::vector<std::pair<std::string, std::string>> port_ranges(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::pair<std::string, std::string>> ranges{{"MPIEXEC_PORT_RANGE", "25000:25999"},
                                                          {"UCX_TCP_PORT_RANGE", "26000-29999"}};
  std::erase_if(ranges, [&environment](const auto& range) {
    return std::ranges::any_of(environment, [&range](const auto& given) {
      return given.first == range.first || (is_port_range(given.first) && is_port_range(range.first));
    });
  });
  return ranges;
}

}  // namespace replay::launcher
