// Texts taken apart at a character, and lists put together.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Calls on_part(index, part) for each part, empty ones too. Returns how many there are: one more than separators.
template <class OnPart>
std::size_t for_each_part(std::string_view text, char separator, OnPart on_part) {
  for (std::size_t index = 0;; ++index) {
    const std::size_t cut = text.find(separator);
    on_part(index, text.substr(0, cut));
    if (cut == std::string_view::npos) return index + 1;
    text.remove_prefix(cut + 1);
  }
}

/// The parts, empty ones too: one more than separators.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for_each_part(text, separator, [&](std::size_t /*index*/, std::string_view part) { parts.push_back(part); });
  return parts;
}

/// The texts of the items, with `between` between them; `text_of` is a function or a member. Of texts themselves it is
/// fmt::join.
template <class Items, class TextOf>
[[nodiscard]] std::string joined(const Items& items, std::string_view between, const TextOf& text_of) {
  std::string all;
  for (const auto& item : items)
    all.append(&item == &*std::begin(items) ? "" : between).append(std::invoke(text_of, item));
  return all;
}

}  // namespace replay
