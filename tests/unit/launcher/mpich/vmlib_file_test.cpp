// Tests of which files the launcher accepts as a vmlib to preload.
#include "launcher/mpich/vmlib_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

class VmlibFile : public testing::Test {
 protected:
  [[nodiscard]] std::string why_not(const std::string& bytes) const {
    std::ofstream{folder_ / "lib.so", std::ios::binary} << bytes;
    return why_no_vmlib_at(folder_ / "lib.so");
  }
  [[nodiscard]] static std::string vmlib() {
    std::ifstream file{REPLAY_VM_LIBRARY, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  TemporaryFolder folder_;
};

TEST_F(VmlibFile, OursIsGood) { EXPECT_EQ(why_no_vmlib_at(REPLAY_VM_LIBRARY), ""); }

TEST_F(VmlibFile, WhatIsMissingOrADirectoryIsNamedWithTheReason) {
  EXPECT_EQ(why_no_vmlib_at("/nowhere/lib.so"), "vmlib cannot be read at /nowhere/lib.so: No such file or directory");
  EXPECT_EQ(why_no_vmlib_at("/tmp"), "vmlib cannot be read at /tmp: Is a directory");
}

TEST_F(VmlibFile, WhatIsNoLibraryIsRefused) {
  for (const std::string& bytes : {std::string{}, std::string{"text"}, std::string(4096, 'x'), vmlib().substr(0, 60)})
    EXPECT_NE(why_not(bytes).find("is no shared library of this machine"), std::string::npos) << why_not(bytes);
}

TEST_F(VmlibFile, ALibraryOfAnotherMachineIsRefused) {
  std::string other = vmlib();
  other[18] = '\x16';  // e_machine: s390
  EXPECT_NE(why_not(other).find("is no shared library of this machine"), std::string::npos);
}

TEST_F(VmlibFile, AnotherVersionIsNamed) {
  std::string other = vmlib();
  const std::size_t mark = other.find(REPLAY_VM_FILE_MARK);
  ASSERT_NE(mark, std::string::npos);
  other[mark + sizeof(REPLAY_VM_FILE_MARK) - 1] = '1';
  EXPECT_NE(why_not(other).find("is a vmlib of version 1, expected 3"), std::string::npos) << why_not(other);
  other[mark] = '!';
  EXPECT_NE(why_not(other).find("is no vmlib"), std::string::npos) << why_not(other);
}

TEST_F(VmlibFile, TheVersionIsFoundWhereverItLies) {
  // The file is read in blocks of 64 KiB; the mark and its number are shifted across the end of a block, byte by byte.
  constexpr std::size_t kBlock = 65536;
  const std::string header = vmlib().substr(0, 64);
  const std::string mark = std::string{REPLAY_VM_FILE_MARK} + "1234567";
  for (std::size_t back = 0; back <= mark.size() + 1; ++back) {
    std::string bytes = header + std::string(kBlock - header.size() - back, '.') + mark;
    EXPECT_NE(why_not(bytes).find("of version 1234567, expected"), std::string::npos) << back << ": " << why_not(bytes);
    bytes += '\0' + std::string(2 * kBlock, '.');
    EXPECT_NE(why_not(bytes).find("of version 1234567, expected"), std::string::npos) << back << ": " << why_not(bytes);
  }
}

}  // namespace
}  // namespace replay::launcher
