#include "launcher/mpich/other_mpi.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

constexpr std::size_t kMostEntries = 4096;  // of each table; real programs have some dozens
constexpr std::size_t kLongestName = 4096;

/// Reads an ELF file piece by piece: what a header says of it is not trusted, and it may change meanwhile.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}

  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!file_.is_open() || at > kFarthest) return std::nullopt;
    const ssize_t count = ::pread(file_.get(), &value, sizeof value, static_cast<off_t>(at));
    return count == ssize_t{sizeof value} ? std::optional{value} : std::nullopt;
  }

  [[nodiscard]] std::string read_name(std::uint64_t at) const {
    std::array<char, kLongestName> bytes{};
    if (!file_.is_open() || at > kFarthest) return "";
    const ssize_t count = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    const std::string_view text{bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    const std::size_t end = text.find('\0');
    return end == std::string_view::npos ? "" : std::string{text.substr(0, end)};
  }

 private:
  static constexpr std::uint64_t kFarthest = std::uint64_t{1} << 40U;
  UniqueFd file_;
};

/// Where the byte that is loaded at `address` stands in the file.
std::optional<std::uint64_t> offset_of(std::uint64_t address, const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

std::vector<Elf64_Phdr> segments_of(const ElfFile& file) {
  std::vector<Elf64_Phdr> segments;
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) ||
      header->e_phentsize != sizeof(Elf64_Phdr))
    return segments;
  for (std::uint64_t i = 0; i < std::min<std::size_t>(header->e_phnum, kMostEntries); ++i)
    if (const auto segment = file.read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr)))
      segments.push_back(*segment);
  return segments;
}

std::vector<Elf64_Dyn> dynamic_entries_of(const ElfFile& file, const std::vector<Elf64_Phdr>& segments) {
  std::vector<Elf64_Dyn> entries;
  const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return entries;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries); ++i) {
    const auto entry = file.read<Elf64_Dyn>(dynamic->p_offset + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    entries.push_back(*entry);
  }
  return entries;
}

/// File names. Empty: no dynamic program of this machine, or damaged.
std::vector<std::string> libraries_needed_by(const std::filesystem::path& program) {
  const ElfFile file{program};
  const std::vector<Elf64_Phdr> segments = segments_of(file);
  const std::vector<Elf64_Dyn> entries = dynamic_entries_of(file, segments);
  std::vector<std::string> libraries;
  const auto names = std::ranges::find(entries, Elf64_Sxword{DT_STRTAB}, &Elf64_Dyn::d_tag);
  if (names == entries.end()) return libraries;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED) continue;
    const auto at = offset_of(names->d_un.d_ptr + entry.d_un.d_val, segments);
    libraries.push_back(at ? std::filesystem::path{file.read_name(*at)}.filename().string() : "");
  }
  return libraries;
}

}  // namespace

std::string other_mpi_needed_by(const std::filesystem::path& program) {
  std::string found;
  for (const std::string& library : libraries_needed_by(program))
    if (is_of_another_mpi(library) && !found.starts_with("libmpi.so")) found = library;
  return found;
}

bool refuses_preload(const std::filesystem::path& program) {
  return std::ranges::any_of(libraries_needed_by(program),
                             [](const std::string& library) { return library.starts_with("libasan.so"); });
}

std::string why_no_other_mpi(const std::string& program, const std::string& library) {
  return fmt::format(
      "{} uses another MPI ({}): started by MPICH's mpiexec, each of its ranks would be a world of its own; build it "
      "with MPICH",
      program, library);
}

}  // namespace replay::launcher
