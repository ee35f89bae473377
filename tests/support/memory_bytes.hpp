// Logs in memory, as readers and writers see files.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"

namespace replay::test {

/// Reads `bytes`, which must outlive the source; inflates gzip.
inline std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name = "memory") {
  struct MemorySource final : ByteSource {
    MemorySource(std::string_view bytes, std::string name) : ByteSource(std::move(name)), rest(bytes) {}
    std::size_t read(char* to, std::size_t most) override {
      const std::size_t count = rest.copy(to, most);
      rest.remove_prefix(count);
      return count;
    }
    std::string_view rest;
  };
  return inflate_if_gzip(std::make_unique<MemorySource>(bytes, std::move(name)));
}

/// Appends to `text`, which must outlive the sink.
inline std::unique_ptr<ByteSink> string_sink(std::string& text) {
  struct StringSink final : ByteSink {
    explicit StringSink(std::string& into) : text(into) {}
    void write(std::string_view bytes) override { text += bytes; }
    void overwrite(std::string_view bytes) override { text.replace(0, bytes.size(), bytes); }
    void finish() override {}
    void close() override {}
    std::string& text;
  };
  return std::make_unique<StringSink>(text);
}

}  // namespace replay::test
