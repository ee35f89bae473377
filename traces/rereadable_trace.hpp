// A trace that can be read more than once. A file simply is opened again; a pipe is copied to a temporary file first,
// below $TMPDIR (else /tmp), which has no name and so is gone with the last reader, however the program ends.
#pragma once

#include <memory>
#include <string>

#include "traces/trace_stream.hpp"

namespace replay {

class UnnamedFile;

class RereadableTrace {
 public:
  /// Reads a pipe to its end. Throws InputError when it cannot be read, or the copy cannot be written.
  explicit RereadableTrace(std::string path, TraceReaderOptions options = {});

  /// From the beginning. Throws what TraceReader throws.
  [[nodiscard]] TraceReader open() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  TraceReaderOptions options_;
  std::shared_ptr<UnnamedFile> copy_;  // of a pipe
};

}  // namespace replay
