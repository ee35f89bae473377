// One line of the text form as a record. Part of the reader.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/log/record.hpp"
#include "scheduler/log/text_fields.hpp"

namespace replay::log {

/// Reads a line without its end. Throws InputError.
[[nodiscard]] Record read_record(std::string_view text, const Place& place);

/// Without the escapes of strings and header values. Nothing if `text` holds one that the writer never writes.
[[nodiscard]] std::optional<std::string> unescaped(std::string_view text);

}  // namespace replay::log
