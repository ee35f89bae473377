#include "scheduler/base/terminal/keys.hpp"

#include <algorithm>
#include <optional>

namespace replay::terminal {
namespace {

constexpr char kEscapeByte = '\x1b';
constexpr std::size_t kLongestSequence = 32;  // none of a keyboard is longer

std::optional<Key> key_of_letter(char letter) {
  switch (letter) {
    case 'A': return Key{Key::Kind::kUp};
    case 'B': return Key{Key::Kind::kDown};
    case 'H': return Key{Key::Kind::kHome};
    case 'F': return Key{Key::Kind::kEnd};
    default: return std::nullopt;
  }
}

// `parameters`: between ESC [ and the last letter. A modifier behind a semicolon (Shift-PgUp) changes nothing.
std::optional<Key> key_of(std::string_view parameters, char letter) {
  if (letter != '~') return key_of_letter(letter);
  const std::string_view number = parameters.substr(0, parameters.find(';'));
  if (number == "5") return Key{Key::Kind::kPageUp};
  if (number == "6") return Key{Key::Kind::kPageDown};
  if (number == "1" || number == "7") return Key{Key::Kind::kHome};
  if (number == "4" || number == "8") return Key{Key::Kind::kEnd};
  return std::nullopt;
}

// Takes one key off the front of `bytes`; nothing is taken if its sequence has not ended.
bool take_key(std::string_view& bytes, std::vector<Key>& keys) {
  if (bytes.front() != kEscapeByte) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    if (byte < 0x80) keys.push_back({Key::Kind::kCharacter, bytes.front()});
    bytes.remove_prefix(1);
    return true;
  }
  if (bytes.size() == 1 || bytes[1] == kEscapeByte) {
    keys.push_back({Key::Kind::kEscape});
    bytes.remove_prefix(1);
    return true;
  }
  if (bytes[1] != '[' && bytes[1] != 'O') {  // Alt and a key
    bytes.remove_prefix(2);
    return true;
  }
  std::size_t end = 2;
  while (end < bytes.size() && bytes[end] >= 0x20 && bytes[end] < 0x40) ++end;
  if (end == bytes.size() && end < kLongestSequence) return false;
  if (end < bytes.size())
    if (const auto key = key_of(bytes.substr(2, end - 2), bytes[end])) keys.push_back(*key);
  bytes.remove_prefix(std::min(bytes.size(), end + 1));
  return true;
}

}  // namespace

std::vector<Key> KeyReader::read(std::string_view bytes) {
  begun_ += bytes;
  std::vector<Key> keys;
  std::string_view rest = begun_;
  while (!rest.empty() && take_key(rest, keys)) {
  }
  begun_.erase(0, begun_.size() - rest.size());
  return keys;
}

}  // namespace replay::terminal
