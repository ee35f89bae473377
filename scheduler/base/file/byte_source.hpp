// The source of a log's bytes: a file or standard input. Gzip data, recognised by the first two bytes and never
// by the name, are inflated. Readers see plain bytes, and a name for messages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace replay {

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Puts up to `most` bytes at `to` and says how many; 0 only at the end. Throws InputError when the medium fails or
  /// compressed data are damaged or cut off.
  [[nodiscard]] virtual std::size_t read(char* to, std::size_t most) = 0;

  /// The name in messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Opens the file at `path`, or standard input for "-"; inflates gzip. Throws InputError when there is no such file, it
/// is a directory, or it may not be read.
[[nodiscard]] std::unique_ptr<ByteSource> open_source(const std::string& path);

/// What `raw` has, inflated if that is gzip data.
[[nodiscard]] std::unique_ptr<ByteSource> inflate_if_gzip(std::unique_ptr<ByteSource> raw);

}  // namespace replay
