// Where the bytes of a log go: a file, standard output or a string; compressed when the name ends in ".gz".
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace replay {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  /// Best in blocks of many kilobytes. Throws InputError when the medium fails (disk full, reader gone).
  virtual void write(std::string_view bytes) = 0;
  /// Everything is written when this returns; call it once, last. A sink that is destroyed before may have lost bytes.
  virtual void close() = 0;
};

/// Creates or replaces the file at `path`, or takes standard output for "-"; gzip if the path ends in ".gz".
[[nodiscard]] std::unique_ptr<ByteSink> open_sink(const std::string& path);

/// Appends to `text`, which must outlive the sink.
[[nodiscard]] std::unique_ptr<ByteSink> string_sink(std::string& text);

}  // namespace replay
