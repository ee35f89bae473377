#include "scheduler/base/file/paths.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

TEST(FindProgram, LooksOnThePathUnlessThereIsASlash) {
  EXPECT_TRUE(find_program("sh", "/nowhere:/bin"));
  EXPECT_TRUE(find_program("/bin/sh", ""));
  EXPECT_FALSE(find_program("sh", "/nowhere"));
  EXPECT_FALSE(find_program("", "/bin"));
  EXPECT_FALSE(find_program("/bin", ""));         // a directory
  EXPECT_FALSE(find_program("/etc/passwd", ""));  // not executable
}

TEST(FindProgram, TakesTheFirstThatCanBeExecuted) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "c"}) fs::create_directory(folder.path() / name);
  for (const char* name : {"b", "c"}) std::ofstream{folder.path() / name / "program"} << "#!/bin/sh\n";
  fs::create_directory(folder.path() / "a" / "program");
  fs::permissions(folder.path() / "c" / "program", fs::perms::owner_all);
  const std::string a = (folder.path() / "a").string(), b = (folder.path() / "b").string(),
                    c = (folder.path() / "c").string();
  EXPECT_EQ(find_program("program", a + ":" + b + ":" + c), fs::path{c} / "program");
  EXPECT_FALSE(find_program("program", a + ":" + b));
  EXPECT_EQ(find_program("sh", "::/bin:"), fs::path{"/bin/sh"}) << "empty: the current folder, which has no sh";
}

TEST(FindProgram, WithoutAPathLooksWhereTheSystemKeepsItsPrograms) {
  const std::string before = program_folders();
  ::unsetenv("PATH");
  const auto found = find_program("sh");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace replay
