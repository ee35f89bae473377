#include "scheduler/base/file/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kUnfinished = ".unfinished-";
constexpr std::size_t kRandomDigits = 16;
constexpr std::size_t kLongestStem = 255 - kUnfinished.size() - kRandomDigits;  // NAME_MAX of all usual file systems
constexpr mode_t kMode = 0666;                                                  // reduced by the umask

// A new name each time, which cannot be predicted.
std::string unfinished_name(const fs::path& file) {
  std::uint64_t random = 0;
  while (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "no random numbers");
  const std::string stem = file.filename().string().substr(0, kLongestStem);
  return (file.parent_path() / fmt::format("{}{}{:016x}", stem, kUnfinished, random)).string();
}

// A link to one, such as /dev/stdout, counts only if it belongs to root or to this user.
bool is_device_or_pipe(const fs::path& file) {
  struct stat here {};
  struct stat there {};
  if (::lstat(file.c_str(), &here) != 0 || ::stat(file.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return false;
  return !S_ISLNK(here.st_mode) || here.st_uid == 0 || here.st_uid == ::geteuid();
}

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

WholeFile::WholeFile(fs::path file, Kept kept) : file_(std::move(file)) {
  is_direct_ = is_device_or_pipe(file_);
  if (is_direct_)
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  else if (kept == Kept::kNamed || !open_nameless())
    open_named();
  if (descriptor_ < 0) fail("cannot be created");
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

bool WholeFile::open_nameless() {
  if (::access("/proc/self/fd", X_OK) != 0) return false;  // link_nameless() needs it
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
  return descriptor_ >= 0;
}

void WholeFile::open_named() {
  do {
    unfinished_ = unfinished_name(file_);
    removed_at_stop_.emplace(unfinished_);
    descriptor_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ >= 0) return;
  unfinished_.clear();
  removed_at_stop_.reset();
}

void WholeFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      fail("cannot be written");
  }
}

void WholeFile::overwrite(off_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), at);
    if (written > 0)
      bytes.remove_prefix(static_cast<std::size_t>(written)), at += written;
    else if (written == 0 || errno != EINTR)
      fail("cannot be written");
  }
}

// linkat() replaces nothing, so the file gets a name of its own first.
void WholeFile::link_nameless() {
  const std::string source = fmt::format("/proc/self/fd/{}", descriptor_);
  std::string name;
  do {
    name = unfinished_name(file_);
    removed_at_stop_.emplace(name);
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      unfinished_ = std::move(name);
      return;
    }
  } while (errno == EEXIST);
  const int error = errno;
  removed_at_stop_.reset();
  errno = error;
  fail("cannot be written");
}

// Some file systems report a full disk only at close().
void WholeFile::close_descriptor() {
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("cannot be written");
}

void WholeFile::finish() {
  if (is_direct_) return close_descriptor();
  if (unfinished_.empty()) link_nameless();
  close_descriptor();
  if (::rename(unfinished_.c_str(), file_.c_str()) != 0) fail("cannot be written");
  unfinished_.clear();
  removed_at_stop_.reset();
}

void WholeFile::fail(const char* what) const {
  const int error = errno;
  throw InputError(fmt::format("{}: {}: {}", file_.string(), what, std::strerror(error)));
}

void write_whole_file(const fs::path& file, std::string_view text) {
  WholeFile whole(file);
  whole.write(text);
  whole.finish();
}

bool is_unfinished_name(std::string_view name, std::string_view file) {
  if (name.size() != file.size() + kUnfinished.size() + kRandomDigits || !name.starts_with(file)) return false;
  name.remove_prefix(file.size());
  return name.starts_with(kUnfinished) && std::ranges::all_of(name.substr(kUnfinished.size()), is_hex_digit);
}

}  // namespace replay
