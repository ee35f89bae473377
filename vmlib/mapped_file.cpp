#include "vmlib/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace replay::vm {

std::optional<MappedFile> MappedFile::map(int descriptor, void* header, std::size_t header_size, Verdict verdict,
                                          const void* check) {
  constexpr int kSizeIsFixed = F_SEAL_SHRINK | F_SEAL_GROW;
  struct stat file {};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode) || file.st_uid != ::geteuid()) return std::nullopt;
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSizeIsFixed) != kSizeIsFixed) return std::nullopt;
  if (::pread(descriptor, header, header_size, 0) != static_cast<ssize_t>(header_size)) return std::nullopt;
  if (!verdict(check, file.st_size)) return std::nullopt;

  const auto bytes = static_cast<std::size_t>(file.st_size);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  return MappedFile{mapped, bytes};
}

MappedFile::~MappedFile() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace replay::vm
