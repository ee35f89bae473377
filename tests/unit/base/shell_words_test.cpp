#include "scheduler/base/text/shell_words.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, AreSplitAtBlanksOutsideQuotes) {
  EXPECT_EQ(split_words("python3 my.py  --x=1,2").words, (Words{"python3", "my.py", "--x=1,2"}));
  EXPECT_EQ(split_words(R"('a b' "c d"e \ f '' $HOME;ls|*)").words, (Words{"a b", "c de", " f", "", "$HOME;ls|*"}));
  EXPECT_EQ(split_words(R"("a\"b" 'a\b' c\)").words, (Words{"a\"b", "a\\b", "c\\"}));
  EXPECT_EQ(split_words("\tx'y'z \t").words, Words{"xyz"});
  EXPECT_EQ(split_words("  ").words, Words{});
}

TEST(ShellWords, NameTheQuoteThatIsNotClosed) {
  EXPECT_EQ(split_words("a 'b\"").open_quote, '\'');
  EXPECT_EQ(split_words("a \"b'").open_quote, '"');
  EXPECT_EQ(split_words("a 'b' \"c\"").open_quote, 0);
}

TEST(ShellWords, AreQuotedOnlyWhereAShellNeedsIt) {
  EXPECT_EQ(quoted_word("/usr/bin/a-b_c=1,2"), "/usr/bin/a-b_c=1,2");
  EXPECT_EQ(quoted_word("plain-\xc3\xbc"), "plain-\xc3\xbc");
  EXPECT_EQ(quoted_word(""), "''");
  EXPECT_EQ(quoted_word("it's $5"), "'it'\\''s $5'");
  EXPECT_EQ(quoted_word("a\nb"), "'a\nb'");
}

TEST(ShellWords, ComeBackFromACommandLine) {
  const Words words{"replay", "", "it's", "a b", "c\td", "exec:{./p \"x\"}", "\\", "e\nf"};
  EXPECT_EQ(split_words(command_line_of(words)).words, words);
}

}  // namespace
}  // namespace replay
