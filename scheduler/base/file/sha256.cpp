#include "scheduler/base/file/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;  // bytes

}  // namespace

FileDigest digest_of(const std::filesystem::path& path) {
  const auto fail = [&path](int error) {
    throw InputError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(error)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) fail(errno);
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  FileDigest digest;
  std::vector<unsigned char> block(kReadAtOnce);
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    crypto_hash_sha256_update(&state, block.data(), got);
    digest.bytes += got;
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256_final(&state, hash.data());
  digest.sha256 = fmt::format("{:02x}", fmt::join(hash, ""));
  return digest;
}

std::uint64_t sha256_start(std::string_view text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < sizeof start; ++i) start = start << 8 | hash[i];
  return start;
}

}  // namespace replay
