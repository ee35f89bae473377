#include "scheduler/service/service_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"

namespace replay::service {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBetweenTriesMs = 50;

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::optional<pid_t> holder_of(int file) {
  struct flock lock = whole_file();
  if (::fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

[[noreturn]] void cannot_lock(const fs::path& file) {
  throw InputError(fmt::format("{}: cannot be locked: {}", file.string(), std::strerror(errno)));
}

[[noreturn]] void is_taken(const fs::path& file, pid_t pid) {
  throw InputError(
      fmt::format("{}: a service runs here already, process {}: expected a folder of its own for each "
                  "service (--service DIR)",
                  file.parent_path().string(), pid));
}

}  // namespace

ServiceLock::ServiceLock(const fs::path& file, std::chrono::milliseconds patience, const std::function<void()>& on_wait)
    : path_(file),
      folder_(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      file_(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (!file_.is_open() || !folder_.is_open()) cannot_lock(file);
  // The holder of the record lock is the daemon, even before it has the other one.
  struct flock lock = whole_file();
  while (::fcntl(file_.get(), F_SETLK, &lock) != 0) {
    if (errno != EACCES && errno != EAGAIN) cannot_lock(file);
    if (const auto pid = holder_of(file_.get())) is_taken(file, *pid);
  }
  const auto deadline = Clock::now() + patience;
  const auto is_free = [this] {
    return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0 && ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0;
  };
  for (bool has_said = false; !is_free();) {
    if (errno != EWOULDBLOCK && errno != EINTR) cannot_lock(file);
    if (!has_said) on_wait();
    has_said = true;
    if (stops_asked() > 0 || Clock::now() >= deadline)
      throw InputError(
          fmt::format("{}: processes of a service that has died are still there, and may use the cores: "
                      "expected its node agent to end them; `fuser {} {}` names it, or the service itself if its lock "
                      "was removed",
                      file.parent_path().string(), file.string(), file.parent_path().string()));
    pollfd stop{stop_descriptor(), POLLIN, 0};
    ::poll(&stop, 1, kBetweenTriesMs);
  }
}

bool ServiceLock::is_gone() const {
  struct stat there {};
  struct stat ours {};
  return ::stat(path_.c_str(), &there) != 0 || ::fstat(file_.get(), &ours) != 0 || there.st_ino != ours.st_ino ||
         there.st_dev != ours.st_dev;
}

void ServiceLock::remove_beside(const std::string& name) const { ::unlinkat(folder_.get(), name.c_str(), 0); }

void make_private_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  const bool is_made = ::mkdir(folder.c_str(), 0700) == 0;
  if (!is_made && errno != EEXIST)
    throw InputError(fmt::format("{}: cannot be made: {}", folder.string(), std::strerror(errno)));
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw InputError(fmt::format("{}: expected a folder", folder.string()));
  if (status.st_uid != ::geteuid())
    throw InputError(
        fmt::format("{}: expected a folder of your own, found one of uid {}", folder.string(), status.st_uid));
  if ((status.st_mode & 0700) != 0700)
    throw InputError(
        fmt::format("{}: expected a folder that you may read, write and enter (mode 0700), found mode {:04o}",
                    folder.string(), status.st_mode & 07777));
  if ((status.st_mode & 077) != 0)
    throw InputError(fmt::format("{}: expected a folder that only you may enter (mode 0700), found mode {:04o}",
                                 folder.string(), status.st_mode & 07777));
}

}  // namespace replay::service
