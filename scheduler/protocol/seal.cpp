#include "scheduler/protocol/seal.hpp"

#include <sodium.h>

#include "scheduler/base/error.hpp"

namespace replay::protocol {

struct SealState {
  crypto_secretstream_xchacha20poly1305_state of;
};

namespace {

static_assert(sizeof(SealKey) == crypto_secretstream_xchacha20poly1305_KEYBYTES);
static_assert(kSealHeaderBytes == crypto_secretstream_xchacha20poly1305_HEADERBYTES);
static_assert(kSealTagBytes == crypto_secretstream_xchacha20poly1305_ABYTES);

unsigned char* raw_bytes(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }
const unsigned char* raw_bytes(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

OwnedSealState new_state() {
  const bool is_ready = sodium_init() >= 0;  // does nothing the second time
  INVARIANT(is_ready, "libsodium cannot be used on this machine");
  return OwnedSealState{new SealState};
}

}  // namespace

void SealStateDeleter::operator()(SealState* state) const {
  sodium_memzero(state, sizeof *state);
  delete state;
}

Seal::Seal(const SealKey& key) : state_(new_state()), header_(kSealHeaderBytes, '\0') {
  crypto_secretstream_xchacha20poly1305_init_push(&state_->of, raw_bytes(header_), key.data());
}

std::string Seal::seal(std::string_view piece, bool changes_key) {
  std::string sealed(piece.size() + kSealTagBytes, '\0');
  const unsigned char tag = changes_key ? crypto_secretstream_xchacha20poly1305_tag_rekey()
                                        : crypto_secretstream_xchacha20poly1305_tag_message();
  crypto_secretstream_xchacha20poly1305_push(&state_->of, raw_bytes(sealed), nullptr, raw_bytes(piece), piece.size(),
                                             nullptr, 0, tag);
  return sealed;
}

void SealOpener::begin(std::string_view header) {
  INVARIANT(header.size() == kSealHeaderBytes && !has_begun(), "a header of {} bytes", header.size());
  state_ = new_state();
  crypto_secretstream_xchacha20poly1305_init_pull(&state_->of, raw_bytes(header), key_.data());
}

std::optional<std::string> SealOpener::open(std::string_view sealed) {
  INVARIANT(has_begun() && sealed.size() >= kSealTagBytes, "a sealed piece of {} bytes", sealed.size());
  std::string piece(sealed.size() - kSealTagBytes, '\0');
  unsigned char tag = 0;
  const int result = crypto_secretstream_xchacha20poly1305_pull(&state_->of, raw_bytes(piece), nullptr, &tag,
                                                                raw_bytes(sealed), sealed.size(), nullptr, 0);
  return result == 0 ? std::optional{std::move(piece)} : std::nullopt;
}

}  // namespace replay::protocol
