// Cuts a stream of bytes into lines ending in LF, CR LF or CR, mixed as they come, in bounded memory: a line beyond
// kLongestLine is passed over and reported as such. Refuses at once what is not text.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"

namespace replay {

inline constexpr std::size_t kLongestLine = std::size_t{1024} * 1024;

/// Bytes behind a line that may be read, although most of them have no meaning.
inline constexpr std::size_t kReadableBehindLine = 8;

class LineReader {
 public:
  struct Line {
    /// Without its end; valid until the next call. kReadableBehindLine bytes behind it can be read: the first is a CR,
    /// an LF or a NUL. Only the beginning of it when too long.
    std::string_view text;
    bool too_long = false;
  };

  /// Throws InputError if the first block has a NUL byte or is an archive of another kind.
  explicit LineReader(std::unique_ptr<ByteSource> source);

  /// The next line; nothing at the end.
  [[nodiscard]] std::optional<Line> next();

  /// Number of the line next() gave last, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] const std::string& name() const { return source_->name(); }

 private:
  [[nodiscard]] std::size_t find_end(std::size_t from);
  [[nodiscard]] Line take(std::size_t end);
  [[nodiscard]] Line pass_over_long_line();
  void refill();
  [[nodiscard]] std::size_t capacity() const { return buffer_.size() - kReadableBehindLine; }
  void refuse_what_is_not_text() const;

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;  // has kReadableBehindLine bytes more than are ever filled
  std::size_t at_ = 0;        // first byte not given out
  std::size_t filled_ = 0;    // bytes of buffer_ that are data
  // If >= at_: the next LF and the next CR at or after at_, or filled_ when there is none.
  std::size_t line_feed_ = 0;
  std::size_t carriage_return_ = 0;
  bool ends_known_ = false;
  bool at_end_ = false;
  std::size_t number_ = 0;
};

}  // namespace replay
