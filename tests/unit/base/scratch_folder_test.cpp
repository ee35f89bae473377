// Tests of temporary folders of processes that are killed: the next process removes those, and nothing else.
#include "scheduler/base/file/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

class ScratchFolders : public testing::Test {
 protected:
  void SetUp() override { ::setenv("TMPDIR", base_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("TMPDIR"); }
  /// As a killed process leaves it.
  fs::path left_by_a_dead_process() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder made{base_.path()};
      std::ofstream(made.path() / "stdout") << "some";
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    for (const auto& entry : fs::directory_iterator{base_.path()})
      if (fs::exists(entry.path() / "stdout")) return entry.path();
    return {};
  }

  TemporaryFolder base_;
};

TEST_F(ScratchFolders, ThoseOfDeadProcessesAreRemovedByTheNextOne) {
  const fs::path left = left_by_a_dead_process();
  ASSERT_TRUE(fs::exists(left));
  { const ScratchFolder elsewhere{base_.path()}; }
  EXPECT_TRUE(fs::exists(left)) << "where other computers may have theirs, it is left alone";
  const ScratchFolder next;
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(next.path()));
}

TEST_F(ScratchFolders, ThatOfALivingProcessIsKept) {
  const ScratchFolder living;
  std::ofstream(living.path() / "stdout") << "some";
  { const ScratchFolder next; }
  EXPECT_TRUE(fs::exists(living.path() / "stdout"));
}

TEST_F(ScratchFolders, OneThatLacksAnyMarkOfOursIsKept) {
  const fs::path left = left_by_a_dead_process();
  const auto is_kept = [&left] {
    { const ScratchFolder next; }
    return fs::exists(left / "stdout");
  };
  fs::permissions(left, fs::perms::owner_all | fs::perms::group_read);
  EXPECT_TRUE(is_kept()) << "its mode";
  fs::permissions(left, fs::perms::owner_all);
  fs::create_directory(left / "results");
  EXPECT_TRUE(is_kept()) << "a folder in it";
  fs::remove(left / "results");
  fs::rename(left / "replay-run", left / "marker");
  EXPECT_TRUE(is_kept()) << "its marker";
  fs::create_symlink("marker", left / "replay-run");
  EXPECT_TRUE(is_kept()) << "a marker that is a link";
  fs::rename(left / "marker", left / "replay-run");
  const fs::path elsewhere = base_ / "elsewhere";
  fs::rename(left, elsewhere);
  fs::create_directory_symlink(elsewhere, left);
  EXPECT_TRUE(is_kept()) << "a link";
  fs::remove(left);
  EXPECT_TRUE(fs::exists(elsewhere / "stdout")) << "its name";
  fs::rename(elsewhere, left);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(left.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(is_kept()) << "its user";
    ASSERT_EQ(::chown(left.c_str(), 0, 0), 0);
  }
  EXPECT_FALSE(is_kept());
}

}  // namespace
}  // namespace replay
