// Tests of files that appear under their name only when complete: what a failing program leaves, what replaces what,
// and that nothing is written through a file that another user has put beside it.
#include "scheduler/base/file/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;
using Kept = WholeFile::Kept;

class WholeFileTest : public testing::TestWithParam<Kept> {
 protected:
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] auto files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Both, WholeFileTest, testing::Values(Kept::kNameless, Kept::kNamed));

TEST_P(WholeFileTest, IsThereUnderItsNameWhenItIsComplete) {
  std::ofstream(path("f")) << "old";
  {
    WholeFile file(path("f"), GetParam());
    file.write("half");
    EXPECT_EQ(text("f"), "old");
  }
  EXPECT_EQ(text("f"), "old");
  EXPECT_EQ(files(), 1) << "what is not complete is removed";
  WholeFile file(path("f"), GetParam());
  file.write("new");
  file.finish();
  EXPECT_EQ(text("f"), "new");
  EXPECT_EQ(files(), 1);
}

TEST_P(WholeFileTest, ALinkInItsPlaceIsReplacedAndNotFollowed) {
  std::ofstream(path("precious")) << "data";
  fs::create_symlink(path("precious"), path("f"));
  fs::create_symlink(path("nothing"), path("g"));
  for (const char* name : {"f", "g"}) {
    WholeFile file(path(name), GetParam());
    file.write("new");
    file.finish();
    EXPECT_EQ(text(name), "new");
    EXPECT_FALSE(fs::is_symlink(path(name)));
  }
  EXPECT_EQ(text("precious"), "data");
  EXPECT_FALSE(fs::exists(path("nothing")));
}

TEST_P(WholeFileTest, WhatIsWrittenFirstCanBeReplaced) {
  WholeFile file(path("f"), GetParam());
  file.write("12 jobs\n1\n2\n");
  file.overwrite(0, " 2");
  file.finish();
  EXPECT_EQ(text("f"), " 2 jobs\n1\n2\n");
}

TEST_P(WholeFileTest, HasTheModeOfAnOrdinaryNewFile) {
  const mode_t before = ::umask(027);
  WholeFile file(path("f"), GetParam());
  ::umask(before);
  file.finish();
  struct stat status {};
  ASSERT_EQ(::stat(path("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_P(WholeFileTest, ALongNameIsNoHindrance) {
  const std::string name(255, 'n');
  WholeFile file(path(name), GetParam());
  file.write("new");
  file.finish();
  EXPECT_EQ(text(name), "new");
}

TEST_P(WholeFileTest, PipesAndDevicesAreWrittenAsBytesCome) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  WholeFile file("/dev/full", GetParam());
  try {
    file.write("x");
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "/dev/full: cannot be written: No space left on device");
  }
}

TEST_P(WholeFileTest, AnotherUsersLinkToADeviceIsReplaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  fs::create_symlink("/dev/null", path("f"));
  ASSERT_EQ(::lchown(path("f").c_str(), 12345, 12345), 0);
  WholeFile file(path("f"), GetParam());
  file.write("new");
  file.finish();
  EXPECT_EQ(text("f"), "new");
}

TEST_P(WholeFileTest, AFolderThatIsMissingIsNamedAsItWasGiven) {
  try {
    const WholeFile file("/no/such/f", GetParam());
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "/no/such/f: cannot be created: No such file or directory");
  }
}

TEST(WholeFileNames, TheNameOfAnUnfinishedFileCannotBeForeseenAndIsRecognised) {
  const TemporaryFolder folder;
  const WholeFile one(folder / "jobs.csv", Kept::kNamed), other(folder / "jobs.csv", Kept::kNamed);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 2U) << "two writers of one file do not meet";
  for (const std::string& name : names) {
    EXPECT_TRUE(is_unfinished_name(name, "jobs.csv")) << name;
    EXPECT_FALSE(is_unfinished_name(name, "jobs")) << name;
    EXPECT_EQ(name.find(std::to_string(::getpid())), std::string::npos) << name;
  }
  for (const char* name : {"jobs.csv", "jobs.csv.unfinished-", "jobs.csv.unfinished-0123456789abcdeg",
                           "jobs.csv.unfinished-0123456789abcdef0", "jobs.csv.4711", "jobs.csv.bak"})
    EXPECT_FALSE(is_unfinished_name(name, "jobs.csv")) << name;
}

TEST(WholeFileNames, AProgramThatIsKilledLeavesNothingWhereTheFileSystemHasNamelessFiles) {
  const TemporaryFolder folder;
  const WholeFile file(folder / "jobs.csv");
  if (!fs::is_empty(folder.path())) GTEST_SKIP() << "files need a name here";
}

TEST(TemporaryFolder, ATmpdirThatIsNotThereIsNamed) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/nowhere/tmp", 1);
  std::string message;
  try {
    const TemporaryFolder made;
  } catch (const InputError& error) {
    message = error.what();
  }
  before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(message,
            "TMPDIR: expected a folder, found '/nowhere/tmp': No such file or directory: name one that is there, or "
            "unset TMPDIR");
}

}  // namespace
}  // namespace replay
