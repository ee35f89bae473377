#include "vmlib/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vmlib/unique_fd.hpp"

namespace replay::vm {
namespace {

bool is_plausible_file(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_uid == ::geteuid() && file.st_size >= off_t{segment_bytes(1)} &&
         file.st_size <= off_t{segment_bytes(REPLAY_VM_MAX_RANKS)};
}

bool is_plausible_header(const replay_vm_segment& header, off_t file_size, const Key& key) {
  return header.magic == REPLAY_VM_MAGIC && header.version == REPLAY_VM_VERSION && header.slots >= 1 &&
         header.slots <= REPLAY_VM_MAX_RANKS && header.bytes == segment_bytes(header.slots) &&
         off_t{header.bytes} == file_size && header.polls_before_yield >= 1 &&
         std::memcmp(header.key, key.data(), key.size()) == 0;
}

}  // namespace

std::optional<Segment> Segment::open(const char* path, const Key& key) {
  const UniqueFd fd{::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  struct stat file {};
  if (!fd.is_open() || ::fstat(fd.get(), &file) != 0 || !is_plausible_file(file)) return std::nullopt;

  replay_vm_segment header{};
  if (::pread(fd.get(), &header, sizeof header, 0) != ssize_t{sizeof header}) return std::nullopt;
  if (!is_plausible_header(header, file.st_size, key)) return std::nullopt;

  void* mapped = ::mmap(nullptr, header.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  return Segment{static_cast<replay_vm_segment*>(mapped), header};
}

Segment::Segment(replay_vm_segment* mapped, const replay_vm_segment& checked)
    : mapped_(mapped),
      bytes_(checked.bytes),
      slots_(checked.slots),
      polls_before_yield_(std::min(checked.polls_before_yield, kMostPolls)) {}

Segment::Segment(Segment&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      bytes_(other.bytes_),
      slots_(other.slots_),
      polls_before_yield_(other.polls_before_yield_) {}

Segment::~Segment() {
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

}  // namespace replay::vm
