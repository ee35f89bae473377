#include "launcher/mpich/other_mpi.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/file/whole_file.hpp"

namespace replay::launcher {
namespace {

/// A dynamic program of this machine that needs these libraries, with nothing else in it.
std::string program_that_needs(const std::vector<std::string>& libraries) {
  constexpr std::uint64_t kLoadedAt = 0x400000;
  std::string names(1, '\0');
  std::vector<Elf64_Dyn> entries;
  for (const std::string& library : libraries) {
    entries.push_back({DT_NEEDED, {names.size()}});
    names += library + '\0';
  }
  const std::size_t entries_at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  const std::size_t names_at = entries_at + (entries.size() + 2) * sizeof(Elf64_Dyn);
  entries.push_back({DT_STRTAB, {kLoadedAt + names_at}});
  entries.push_back({DT_NULL, {0}});
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kLoadedAt;
  load.p_filesz = names_at + names.size();
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = entries_at;
  dynamic.p_filesz = entries.size() * sizeof(Elf64_Dyn);
  std::string bytes;
  const auto add = [&bytes](const auto& part) {
    bytes.append(static_cast<const char*>(static_cast<const void*>(&part)), sizeof part);
  };
  add(header);
  add(load);
  add(dynamic);
  for (const Elf64_Dyn& entry : entries) add(entry);
  return bytes + names;
}

class OtherMpi : public testing::Test {
 protected:
  [[nodiscard]] std::string found_in(const std::string& bytes) const {
    const auto file = folder_.path() / "program";
    write_whole_file(file, bytes);
    return other_mpi_needed_by(file);
  }
  TemporaryFolder folder_;
};

TEST_F(OtherMpi, IsFoundAmongWhatAProgramNeeds) {
  EXPECT_EQ(found_in(program_that_needs({"libm.so.6", "libmpi.so.40", "libc.so.6"})), "libmpi.so.40");
  EXPECT_EQ(found_in(program_that_needs({"libmpi_cxx.so.40", "libmpi.so.40"})), "libmpi.so.40");
  EXPECT_EQ(found_in(program_that_needs({"/opt/ompi/lib/libmpi.so.40"})), "libmpi.so.40");
  EXPECT_EQ(found_in(program_that_needs({"libmpi_mpifh.so.40"})), "libmpi_mpifh.so.40");
}

TEST_F(OtherMpi, IsNotFoundWhereThereIsNone) {
  EXPECT_EQ(found_in(program_that_needs({"libmpich.so.12", "libmpi.so.12", "libc.so.6"})), "");
  EXPECT_EQ(found_in(program_that_needs({})), "");
  EXPECT_EQ(found_in("#!/bin/sh\nexec libmpi.so.40\n"), "");
  EXPECT_EQ(found_in(""), "");
  EXPECT_EQ(other_mpi_needed_by("/proc/self/exe"), "");
  EXPECT_EQ(other_mpi_needed_by(folder_.path()), "");
  EXPECT_EQ(other_mpi_needed_by(folder_.path() / "none"), "");
}

TEST_F(OtherMpi, AProgramWithAddressSanitizersLibraryRefusesAPreload) {
  const auto file = folder_.path() / "sanitized";
  write_whole_file(file, program_that_needs({"libmpich.so.12", "libasan.so.8", "libc.so.6"}));
  EXPECT_TRUE(refuses_preload(file));
  write_whole_file(file, program_that_needs({"libmpich.so.12", "libc.so.6"}));
  EXPECT_FALSE(refuses_preload(file));
}

TEST_F(OtherMpi, ADamagedProgramIsReadWithoutHarm) {
  const std::string whole = program_that_needs({"libc.so.6", "libmpi.so.40"});
  for (std::size_t length = 0; length < whole.size(); length += 7) EXPECT_EQ(found_in(whole.substr(0, length)), "");
  std::mt19937 random{7};
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (int times = 0; times < 8; ++times) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string found = found_in(damaged);
    EXPECT_TRUE(found.empty() || found.starts_with("libmpi")) << found;
  }
}

}  // namespace
}  // namespace replay::launcher
