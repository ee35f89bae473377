// Conversion of values to bytes and back. Integers are little-endian; a text is its length (u32) and its bytes; a list
// is its count (u32) and its elements. The reader trusts no input: every length is compared with the bytes that are
// left before anything is copied or reserved.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "scheduler/base/error.hpp"

namespace replay::protocol {

/// The other side sent something that is no message of this protocol: its connection is closed.
class ProtocolError : public InputError {
 public:
  using InputError::InputError;
};

class ByteWriter {
 public:
  template <std::integral Int>
  void put(Int value) {
    auto rest = static_cast<std::make_unsigned_t<Int>>(value);
    for (std::size_t i = 0; i < sizeof(Int); ++i, rest = static_cast<decltype(rest)>(std::uint64_t{rest} >> 8U))
      bytes_.push_back(static_cast<char>(rest & 0xFFU));
  }
  /// The bits of IEEE 754 binary64.
  void put_double(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  void put_bool(bool value) { put(static_cast<std::uint8_t>(value)); }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads `bytes`, which outlives it. Every take_ throws ProtocolError, naming `field`, where the bytes do not have it.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::integral Int>
  [[nodiscard]] Int take(std::string_view field) {
    const std::string_view raw = take_bytes(sizeof(Int), field);
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Int); i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(raw[i]);
    return static_cast<Int>(value);
  }
  /// A finite number.
  [[nodiscard]] double take_double(std::string_view field);
  [[nodiscard]] bool take_bool(std::string_view field);
  [[nodiscard]] std::string take_text(std::string_view field);
  /// How many elements follow, each of at least `least_bytes` (so a count can never ask for more than was sent).
  [[nodiscard]] std::size_t take_count(std::size_t least_bytes, std::string_view field);
  /// An enumerator 0..`last`.
  template <typename Enum>
  [[nodiscard]] Enum take_enum(Enum last, std::string_view field) {
    const auto value = take<std::uint8_t>(field);
    if (value > static_cast<std::uint8_t>(last))
      throw ProtocolError(fmt::format("{}: expected 0..{}, found {}", field, static_cast<unsigned>(last), value));
    return static_cast<Enum>(value);
  }
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
  /// Throws if anything is left.
  void expect_end() const;

 private:
  [[nodiscard]] std::string_view take_bytes(std::size_t count, std::string_view field);

  std::string_view rest_;
};

}  // namespace replay::protocol
