#include "launcher/mpich/vmlib_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

constexpr std::uint32_t kOurVersion = REPLAY_VM_VERSION;

constexpr std::size_t kBlock = 65536;

/// Calls on_block(text) for the file piece by piece, at most `most` bytes, until it returns false. False, and errno:
/// the file cannot be read. In blocks, because every job's start reads the library again.
template <class OnBlock>
bool read_blocks(const std::filesystem::path& file, std::size_t most, OnBlock on_block) {
  const UniqueFd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (!fd.is_open()) return false;
  char buffer[kBlock];
  ssize_t count = 1;
  for (std::size_t seen = 0; seen < most; seen += static_cast<std::size_t>(count)) {
    count = ::read(fd.get(), buffer, sizeof buffer);
    if (count <= 0 || !on_block(std::string_view{buffer, static_cast<std::size_t>(count)})) break;
  }
  return count >= 0;
}

std::optional<Elf64_Ehdr> header_in(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || !bytes.starts_with(ELFMAG)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::optional<Elf64_Ehdr> header_of(const std::filesystem::path& file) {
  std::optional<Elf64_Ehdr> header;
  read_blocks(file, kBlock, [&header](std::string_view block) {
    header = header_in(block);
    return false;
  });
  return header;
}

/// Compares the file's ELF header with this program's.
bool is_library_of_this_machine(const std::filesystem::path& file) {
  const auto library = header_of(file);
  const auto ours = header_of("/proc/self/exe");
  return library && ours && library->e_type == ET_DYN && library->e_machine == ours->e_machine &&
         std::memcmp(library->e_ident, ours->e_ident, EI_VERSION) == 0;
}

/// The version that vmlib/wire_version.cpp puts into the library. Nothing: none found.
std::optional<std::uint32_t> version_in(std::string_view bytes) {
  const std::size_t mark = bytes.find(REPLAY_VM_FILE_MARK);
  if (mark == std::string_view::npos) return std::nullopt;
  bytes.remove_prefix(mark + std::strlen(REPLAY_VM_FILE_MARK));
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), version);
  return error == std::errc{} ? std::optional{version} : std::nullopt;
}

struct Found {
  bool is_readable;
  std::optional<std::uint32_t> version;
};

/// The mark may lie across the end of a block, so each is looked at together with the end of the one before.
Found version_of(const std::filesystem::path& file) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  constexpr std::size_t kMarkAndNumber = sizeof REPLAY_VM_FILE_MARK + 16;
  std::optional<std::uint32_t> version;
  std::string window;
  window.reserve(kBlock + kMarkAndNumber);
  const bool is_readable = read_blocks(file, kMost, [&](std::string_view block) {
    if (window.size() > kMarkAndNumber) window.erase(0, window.size() - kMarkAndNumber);
    window += block;
    const std::size_t mark = window.find(REPLAY_VM_FILE_MARK);
    if (mark == std::string::npos || mark + kMarkAndNumber > window.size()) {
      version = version_in(window);  // the number may go on in the next block, and is read again then
      return true;
    }
    version = version_in(window);
    return !version.has_value();
  });
  return {is_readable, version};
}

}  // namespace

std::string why_no_vmlib_at(const std::filesystem::path& file) {
  const auto [is_readable, version] = version_of(file);
  if (!is_readable) return fmt::format("vmlib cannot be read at {}: {}", file.string(), std::strerror(errno));
  if (!is_library_of_this_machine(file)) return fmt::format("{} is no shared library of this machine", file.string());
  if (!version) return fmt::format("{} is no vmlib", file.string());
  if (*version != kOurVersion)
    return fmt::format("{} is a vmlib of version {}, expected {}", file.string(), *version, kOurVersion);
  return "";
}

}  // namespace replay::launcher
