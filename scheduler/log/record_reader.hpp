// One line of the text form as a record. Part of the reader.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/log/record.hpp"

namespace replay::log {

/// A line of a file, for messages.
struct Place {
  std::string_view file;
  std::size_t line;

  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> message, Arguments&&... arguments) const {
    throw InputError(file, line, fmt::format(message, std::forward<Arguments>(arguments)...));
  }
};

/// Reads a line without its end. Throws InputError.
[[nodiscard]] Record read_record(std::string_view text, const Place& place);

/// Without the escapes of strings and header values. Nothing if `text` holds one that the writer never writes.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

}  // namespace replay::log
