#include "vmlib/shared_file.hpp"

#include <cstring>

namespace replay::vm {
namespace {

constexpr char kMpichs[] = "/dev/shm/mpich_shar_tmpXXXXXX";
constexpr char kOurs[] = "/" REPLAY_VM_SHARED_FILE;
static_assert(sizeof kMpichs == sizeof(SharedName));
constexpr std::size_t kFolder = sizeof kMpichs - sizeof kOurs;

}  // namespace

std::optional<SharedName> own_shared_name(const char* name, Lookup lookup) {
  if (std::strcmp(name, kMpichs) != 0 || is_switched_off(lookup)) return std::nullopt;
  const char* const folder = lookup(REPLAY_VM_ENV_SHARED);
  if (folder == nullptr || std::strlen(folder) != kFolder) return std::nullopt;
  SharedName own{};
  std::memcpy(own.data(), folder, kFolder);
  std::memcpy(own.data() + kFolder, kOurs, sizeof kOurs);
  return own;
}

}  // namespace replay::vm
