// Memory that the agent has made for us, mapped for both sides. It is used only after every claim in its header has
// been checked against what the kernel says (owner, type, size, and that the size is sealed). The header is copied
// once, and only the copy is read afterwards, so that no figure can be changed after the check.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace replay::vm {

class MappedFile {
 public:
  /// `is_plausible(size of the file)` says whether the header, which has been copied to `header`, may be believed.
  /// Nothing unless the file is a regular one of our own user, of a size that cannot change any more, and plausible.
  /// The descriptor stays the caller's.
  template <class Header, class Check>
  [[nodiscard]] static std::optional<MappedFile> map(int descriptor, Header& header, Check is_plausible) {
    return map(
        descriptor, &header, sizeof header,
        [](const void* check, off_t size) { return (*static_cast<const Check*>(check))(size); }, &is_plausible);
  }

  MappedFile(MappedFile&& other) noexcept : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  MappedFile& operator=(MappedFile&& other) = delete;
  ~MappedFile();

  [[nodiscard]] void* start() const { return start_; }
  /// The mapping stays until the process ends.
  void keep() { start_ = nullptr; }

 private:
  using Verdict = bool (*)(const void* check, off_t size);
  static std::optional<MappedFile> map(int descriptor, void* header, std::size_t header_size, Verdict verdict,
                                       const void* check);
  MappedFile(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}

  void* start_;
  std::size_t bytes_;
};

}  // namespace replay::vm
