#include "vmlib/settings.hpp"

#include <cstddef>
#include <cstring>
#include <limits>

namespace replay::vm {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Digits only: what a process manager writes. Nothing otherwise, or when it does not fit.
std::optional<std::int32_t> parse_count(const char* text) {
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::int64_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return std::nullopt;
    value = value * 10 + (*text - '0');
    if (value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

bool is_path(const char* text) { return text != nullptr && *text == '/'; }

constexpr char kMpichs[] = "/dev/shm/mpich_shar_tmpXXXXXX";
constexpr char kOurs[] = "/" REPLAY_VM_SHARED_FILE;
static_assert(sizeof kMpichs == sizeof(SharedName));
constexpr std::size_t kFolder = sizeof kMpichs - sizeof kOurs;

}  // namespace

bool is_switched_off(Lookup lookup) {
  const char* off = lookup(REPLAY_VM_ENV_OFF);
  return off != nullptr && std::strcmp(off, "0") != 0;
}

std::optional<Key> parse_key(const char* text) {
  if (text == nullptr || std::strlen(text) != 2 * REPLAY_VM_KEY_BYTES) return std::nullopt;
  Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    key[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return key;
}

std::optional<Settings> read_settings(Lookup lookup) {
  const char* socket = lookup(REPLAY_VM_ENV_SOCKET);
  const auto key = parse_key(lookup(REPLAY_VM_ENV_KEY));
  const auto rank = parse_count(lookup("PMI_RANK"));
  const auto size = parse_count(lookup("PMI_SIZE"));
  if (!is_path(socket) || !key || !rank || !size || *rank >= *size) return std::nullopt;
  return Settings{.socket = socket, .key = *key, .world_rank = *rank, .world_size = *size};
}

std::optional<SharedName> own_shared_name(const char* name, Lookup lookup) {
  if (std::strcmp(name, kMpichs) != 0) return std::nullopt;
  const char* const folder = lookup(REPLAY_VM_ENV_SHARED);
  if (folder == nullptr || std::strlen(folder) != kFolder) return std::nullopt;
  SharedName own{};
  std::memcpy(own.data(), folder, kFolder);
  std::memcpy(own.data() + kFolder, kOurs, sizeof kOurs);
  return own;
}

}  // namespace replay::vm
