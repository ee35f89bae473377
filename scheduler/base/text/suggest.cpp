#include "scheduler/base/text/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace replay {
namespace {

// Letters put in, left out, replaced, or two neighbours exchanged, for 1 each.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last), last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1});
      const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string_view without_dashes(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

// Whether the beginning of a name was given that goes on with another word: "--machine" of "--machine-size".
bool is_beginning(std::string_view name, std::string_view candidate) {
  return !name.empty() && candidate.starts_with(name) && candidate[name.size()] == '-';
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t least = 0;
  for (const std::string_view candidate : known) {
    const std::string_view word = without_dashes(name), known_word = without_dashes(candidate);
    const std::size_t distance = edit_distance(word, known_word);
    const bool is_near = 3 * distance <= std::max(word.size(), known_word.size());
    if (!is_near && !is_beginning(word, known_word)) continue;
    if (best.empty() || distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view near = nearest(name, known);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace replay
