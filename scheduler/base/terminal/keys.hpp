// The keys that a terminal sends, as bytes in any portions: letters as they are, arrows and their like as one word
// each. What is not known is dropped as a whole, so that no part of a sequence is taken for a letter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace replay::terminal {

struct Key {
  enum class Kind : std::uint8_t { kCharacter, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kEscape };
  Kind kind = Kind::kCharacter;
  char character = 0;  ///< of a kCharacter: ASCII, control characters included
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  /// The keys that are complete with these bytes. A lone escape character counts as the key Escape when `bytes` ends
  /// with it: terminals send sequences in one piece.
  [[nodiscard]] std::vector<Key> read(std::string_view bytes);

 private:
  std::string begun_;  // a sequence that has not ended
};

}  // namespace replay::terminal
