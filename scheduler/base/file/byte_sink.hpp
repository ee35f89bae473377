// The destination of a log's bytes: a file or standard output; compressed when the name ends in ".gz".
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
  /// Replaces the first bytes that were written. REQUIRES: so many were written, into a plain file.
  virtual void overwrite(std::string_view bytes) = 0;
  /// No more bytes come: writes what is buffered. Throws as write() does; with several files it is called for each
  /// before any close(), so that none gets its name before all are complete.
  virtual void finish() = 0;
  /// finish(), if not called yet; then gives the file its name. Call it once, last: a sink that is destroyed before
  /// leaves no file.
  virtual void close() = 0;
};

/// Creates or replaces the file at `path` as a whole (scheduler/base/file/whole_file.hpp), or takes standard output for
/// "-"; gzip if the path ends in ".gz".
[[nodiscard]] std::unique_ptr<ByteSink> open_sink(const std::string& path);

}  // namespace replay
