// Text for a ByteSink, gathered into blocks of many kilobytes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "scheduler/base/file/byte_sink.hpp"

namespace replay::results {

class TextBlock {
 public:
  /// `sink` must outlive this.
  explicit TextBlock(ByteSink& sink) : sink_(&sink) {}

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(text_), text, std::forward<Arguments>(arguments)...);
    if (text_.size() >= kBlock) flush();
  }
  void put(std::string_view text) {
    text_.append(text);
    if (text_.size() >= kBlock) flush();
  }
  /// Call it last. Throws InputError when the file cannot be written.
  void flush() {
    sink_->write({text_.data(), text_.size()});
    text_.clear();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;

  ByteSink* sink_;
  fmt::memory_buffer text_;
};

}  // namespace replay::results
