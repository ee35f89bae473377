#include "launcher/os/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <system_error>

namespace replay::launcher {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MappedFile::MappedFile(const std::string& name, std::size_t bytes)
    : bytes_(bytes), file_(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)), start_(nullptr) {
  if (!file_.is_open()) throw_errno(fmt::format("cannot create memory for {}", name));
  // Allocates all pages: in a sparse file the first access to a page ends the process (SIGBUS) when there is no memory
  // left.
  if (errno = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes_)); errno != 0)
    throw_errno(fmt::format("cannot get memory for {}", name));
  if (::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_errno(fmt::format("cannot seal {}", name));
  void* const mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapped == MAP_FAILED) throw_errno(fmt::format("cannot map {}", name));
  start_ = mapped;
}

MappedFile::~MappedFile() { ::munmap(start_, bytes_); }

}  // namespace replay::launcher
