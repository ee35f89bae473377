#include "scheduler/base/file/full_disk.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay {
namespace {

constexpr std::size_t kTried = 65'536;

bool says_full() { return errno == ENOSPC || errno == EDQUOT; }

/// Beyond the limit of a file's size the kernel would end this process.
std::size_t most_of_a_file() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? std::min<rlim_t>(limit.rlim_cur, kTried) : 0;
}

}  // namespace

bool is_disk_full(const std::filesystem::path& folder) {
  const UniqueFd file{::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)};
  if (!file.is_open()) {
    if (says_full()) return true;
    std::error_code error;  // a file system without such files
    const auto room = std::filesystem::space(folder, error);
    return !error && room.available < kTried;
  }
  const std::string zeros(most_of_a_file(), '\0');
  for (std::size_t done = 0; done < zeros.size();) {
    const ssize_t written = ::write(file.get(), zeros.data() + done, zeros.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 && says_full();
    done += static_cast<std::size_t>(written);
  }
  return false;
}

}  // namespace replay
