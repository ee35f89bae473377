// Lists in text that grow item by item; fmt::join() is for those that are there already.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace replay {

/// Appends an item, behind `separator` unless it is the first.
template <class... Values>
void add_item(std::string& list, std::string_view separator, fmt::format_string<Values...> format, Values&&... values) {
  if (!list.empty()) list += separator;
  fmt::format_to(std::back_inserter(list), format, std::forward<Values>(values)...);
}

}  // namespace replay
