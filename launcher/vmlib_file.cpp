#include "launcher/vmlib_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "launcher/unique_fd.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

constexpr std::uint32_t kOurVersion = REPLAY_VM_VERSION;

/// Nothing, and errno: it cannot be read.
std::optional<std::string> bytes_of(const std::filesystem::path& file, std::size_t most) {
  const UniqueFd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd.is_open()) return std::nullopt;
  std::string bytes;
  char buffer[65536];
  ssize_t count = 0;
  while (bytes.size() < most && (count = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    bytes.append(buffer, static_cast<std::size_t>(count));
  return count < 0 ? std::nullopt : std::optional{std::move(bytes)};
}

std::optional<Elf64_Ehdr> header_in(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || !bytes.starts_with(ELFMAG)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Compared with the program that asks.
bool is_library_of_this_machine(std::string_view bytes) {
  const auto library = header_in(bytes);
  const auto ours = header_in(bytes_of("/proc/self/exe", sizeof(Elf64_Ehdr)).value_or(""));
  return library && ours && library->e_type == ET_DYN && library->e_machine == ours->e_machine &&
         std::memcmp(library->e_ident, ours->e_ident, EI_VERSION) == 0;
}

/// As vmlib/wire_version.cpp says it. Nothing: it does not.
std::optional<std::uint32_t> version_in(std::string_view bytes) {
  const std::size_t mark = bytes.find(REPLAY_VM_FILE_MARK);
  if (mark == std::string_view::npos) return std::nullopt;
  bytes.remove_prefix(mark + std::strlen(REPLAY_VM_FILE_MARK));
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), version);
  return error == std::errc{} ? std::optional{version} : std::nullopt;
}

}  // namespace

std::string why_no_vmlib_at(const std::filesystem::path& file) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  const auto bytes = bytes_of(file, kMost);
  if (!bytes) return fmt::format("vmlib cannot be read at {}: {}", file.string(), std::strerror(errno));
  if (!is_library_of_this_machine(*bytes)) return fmt::format("{} is no shared library of this machine", file.string());
  const auto version = version_in(*bytes);
  if (!version) return fmt::format("{} is no vmlib", file.string());
  if (*version != kOurVersion)
    return fmt::format("{} is a vmlib of version {}, expected {}", file.string(), *version, kOurVersion);
  return "";
}

}  // namespace replay::launcher
