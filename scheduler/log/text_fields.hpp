// The fields of one line of the text form: `name=value`, each taken by its name. Part of the reader.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"

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

/// The `name=value` fields of one line. Each is taken by name once; finish() reports one that was not taken.
class Fields {
 public:
  Fields(std::string_view text, const Place& place) : place_(place) {
    while (!text.empty()) {
      if (text.front() != ' ') place.fail("expected a blank between two fields, found '{}'", shown(text));
      text.remove_prefix(1);
      const std::size_t sign = text.find_first_of("= ");
      if (sign == std::string_view::npos || sign == 0 || text[sign] != '=')
        place.fail("expected a field name=value, found '{}'", shown(text));
      if (count_ == fields_.size()) place.fail("expected at most {} fields, found more", fields_.size());
      Field& field = fields_[count_++];
      field.name = text.substr(0, sign);
      text.remove_prefix(sign + 1);
      const std::size_t end = end_of_value(text, field.name);
      field.value = text.substr(0, end);
      text.remove_prefix(end);
    }
  }

  /// Fields are left that were not taken.
  [[nodiscard]] bool has_more() const { return next_ < count_; }

  [[nodiscard]] std::optional<std::string_view> take_if_there(std::string_view name) {
    for (std::size_t i = next_; i < count_; ++i) {
      if (!fields_[i].taken && fields_[i].name == name) {
        fields_[i].taken = true;
        while (next_ < count_ && fields_[next_].taken) ++next_;
        return fields_[i].value;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string_view take(std::string_view name, std::string_view expected) {
    const auto value = take_if_there(name);
    if (!value) place_.fail("field '{}': expected {}, found no such field", name, expected);
    return *value;
  }

  [[noreturn]] void wrong(std::string_view name, std::string_view expected, std::string_view found) const {
    place_.fail("field '{}': expected {}, found '{}'", name, expected, shown(found));
  }

  void finish() const {
    for (const Field& field : std::span(fields_).first(count_))
      if (!field.taken) place_.fail("field '{}': not known here, or there twice", shown(field.name));
  }

 private:
  struct Field {
    std::string_view name;
    std::string_view value;  ///< strings with their quotes
    bool taken = false;
  };

  static std::string shown(std::string_view text) { return visible_text(text, 40); }

  [[nodiscard]] std::size_t end_of_value(std::string_view text, std::string_view name) const {
    if (!text.starts_with('"')) return std::min(text.find(' '), text.size());
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        return i + 1;
    }
    place_.fail("field '{}': expected a closing quote, found the end of the line", shown(name));
  }

  Place place_;
  std::array<Field, 32> fields_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // fields before it are taken
};

}  // namespace replay::log
