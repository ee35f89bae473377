#include "vmlib/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmlib/unique_fd.hpp"

namespace replay::vm {

std::optional<MappedFile> MappedFile::open(const char* path, void* header, std::size_t header_size, Verdict verdict,
                                           const void* check) {
  const UniqueFd fd{::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  struct stat file {};
  if (!fd.is_open() || ::fstat(fd.get(), &file) != 0) return std::nullopt;
  if (!S_ISREG(file.st_mode) || file.st_uid != ::geteuid()) return std::nullopt;
  if (::pread(fd.get(), header, header_size, 0) != static_cast<ssize_t>(header_size)) return std::nullopt;
  if (!verdict(check, file.st_size)) return std::nullopt;

  const auto bytes = static_cast<std::size_t>(file.st_size);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  return MappedFile{mapped, bytes};
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace replay::vm
