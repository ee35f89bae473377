// Encryption of one direction of a connection, by libsodium's crypto_secretstream_xchacha20poly1305: sealed pieces
// cannot be read without the key, and open only whole, unchanged and in the order in which they were sealed. Pure: the
// caller has the socket. The key comes from the handshake (handshake.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace replay::protocol {

/// Used for one direction of one connection and for nothing else.
using SealKey = std::array<std::uint8_t, 32>;

inline constexpr std::size_t kSealHeaderBytes = 24;  ///< once, before the first piece
inline constexpr std::size_t kSealTagBytes = 17;     ///< a sealed piece is longer by so many bytes

/// libsodium's state of one direction.
struct SealState;
struct SealStateDeleter {
  void operator()(SealState* state) const;  ///< overwrites it first
};
using OwnedSealState = std::unique_ptr<SealState, SealStateDeleter>;

class Seal {
 public:
  explicit Seal(const SealKey& key);
  /// The stream's header, which the other side needs first.
  [[nodiscard]] const std::string& header() const { return header_; }
  /// `changes_key`: what follows has another key, derived from this one; the old one cannot be derived from the new
  /// one.
  [[nodiscard]] std::string seal(std::string_view piece, bool changes_key);

 private:
  OwnedSealState state_;
  std::string header_;
};

class SealOpener {
 public:
  explicit SealOpener(const SealKey& key) : key_(key) {}
  [[nodiscard]] bool has_begun() const { return state_ != nullptr; }
  /// REQUIRES: kSealHeaderBytes bytes. A wrong header is noticed with the first piece.
  void begin(std::string_view header);
  /// Nothing: it is not the next piece that was sealed with the key. REQUIRES: has_begun().
  [[nodiscard]] std::optional<std::string> open(std::string_view sealed);

 private:
  SealKey key_;
  OwnedSealState state_;
};

}  // namespace replay::protocol
