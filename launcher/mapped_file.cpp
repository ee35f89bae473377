#include "launcher/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "launcher/unique_fd.hpp"

namespace replay::launcher {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MappedFile::MappedFile(std::filesystem::path path, std::size_t bytes)
    : path_(std::move(path)), bytes_(bytes), start_(nullptr) {
  const UniqueFd file{::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file.is_open()) throw_errno(fmt::format("cannot create {}", path_.string()));
  void* mapped = MAP_FAILED;
  // With all its blocks: of a sparse file the first touch ends whoever touches it (SIGBUS) when the disk is full.
  if (errno = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_)); errno == 0)
    mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    ::unlink(path_.c_str());
    errno = error;
    throw_errno(fmt::format("cannot map {}", path_.string()));
  }
  start_ = mapped;
}

MappedFile::~MappedFile() {
  ::munmap(start_, bytes_);
  ::unlink(path_.c_str());
}

}  // namespace replay::launcher
