#include "scheduler/calibrate/program/output_follower.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace replay::calibrate {
namespace {

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process has made our output non-blocking
      pollfd ready{to, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool OutputFollower::pass_on() {
  if (error_ != 0) return false;
  // The program may have replaced the file by a pipe or a link.
  constexpr int kCareful = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  if (!file_.is_open()) file_.reset(::open(path_.c_str(), O_RDONLY | kCareful));
  if (!file_.is_open()) return true;
  // Reads up to the present end only: a program that writes without end must not keep us here.
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return true;
  std::array<char, 65536> buffer;
  while (passed_on_ < status.st_size) {
    const ssize_t got = ::read(file_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    passed_on_ += got;
    if (!write_all(to_, {buffer.data(), static_cast<std::size_t>(got)})) error_ = errno;
    if (error_ != 0) return false;
  }
  return true;
}

}  // namespace replay::calibrate
