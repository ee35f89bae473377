// Pages of docs/ name tests as `Suite.Name`, or `Suite.BeginningOfTheName...`: each of them is in the sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = REPLAY_SOURCE_DIR;

std::vector<fs::path> files_below(const fs::path& folder, const char* ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  return files;
}

// "Suite.Name" of all tests, whatever their macro is.
std::set<std::string> tests_of_the_tree() {
  static const std::regex kTest("(?:TEST|TEST_[FP]|TYPED_TEST|RC_GTEST_[A-Z_]*PROP)\\(\\s*(\\w+),\\s*(\\w+)");
  std::set<std::string> tests;
  for (const fs::path& file : files_below(kRoot / "tests", ".cpp")) {
    const std::string text = text_of(file);
    for (std::sregex_iterator test(text.begin(), text.end(), kTest), end; test != end; ++test)
      tests.insert(test->str(1) + "." + test->str(2));
  }
  return tests;
}

TEST(DocumentedTests, AreThere) {
  static const std::regex kName("`([A-Z]\\w+\\.[A-Z]\\w+)(\\.\\.\\.)?`");
  const std::set<std::string> tests = tests_of_the_tree();
  int named = 0;
  for (const fs::path& page : files_below(kRoot / "docs", ".md")) {
    const std::string text = text_of(page);
    for (std::sregex_iterator name(text.begin(), text.end(), kName), end; name != end; ++name, ++named) {
      const auto test = tests.lower_bound(name->str(1));
      const bool is_beginning = name->length(2) > 0;
      EXPECT_TRUE(test != tests.end() && (is_beginning ? test->starts_with(name->str(1)) : *test == name->str(1)))
          << page << " names " << name->str(0);
    }
  }
  EXPECT_GT(named, 50);
}

}  // namespace
}  // namespace replay::test
