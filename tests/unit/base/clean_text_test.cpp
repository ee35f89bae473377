// Tests of cleaning foreign text: characters that a terminal interprets are removed, the rest is UTF-8.
#include "scheduler/base/text/clean_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace replay {
namespace {

TEST(CleanLine, LeavesPlainTextOfAnyLanguageAsItIs) {
  for (const char* text : {"", "rank 1: exit code 3", "Größe 12 µs, 3 × 4", "作业 7 已完成", "🙂 ok"})
    EXPECT_EQ(clean_line(text), text);
}

TEST(CleanLine, TakesEscapeSequencesOut) {
  EXPECT_EQ(clean_line("\x1b[31mred\x1b[0m and \x1b[2K\x1b[1;1Hmoved"), "red and moved");
  EXPECT_EQ(clean_line("a\x1b]0;title\x07z"), "az") << "a title, ended by BEL";
  EXPECT_EQ(clean_line("a\x1b]8;;http://x\x1b\\z"), "az") << "a link, ended by ST";
  EXPECT_EQ(clean_line("a\x1bPq#0\x1b\\z"), "az") << "a device control string";
  EXPECT_EQ(clean_line("a\x1b(0z\x1b=y\x1b"
                       "cx"),
            "azyx")
      << "two and three characters";
  EXPECT_EQ(clean_line("a\xc2\x9b"
                       "31mz"),
            "az")
      << "CSI as one character";
  EXPECT_EQ(clean_line("a\xc2\x9d"
                       "0;title\xc2\x9cz"),
            "az")
      << "OSC as one character";
}

TEST(CleanLine, ASequenceThatDoesNotEndHidesNothing) {
  EXPECT_EQ(clean_line("a\x1b]0;the rest"), "a0;the rest");
  EXPECT_EQ(clean_line("a\x1b[31"), "a31");
  EXPECT_EQ(clean_line("a\x1b"), "a");
}

TEST(CleanLine, IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(clean_line("a\nb\tc\r\nd"), "a b c  d");
  EXPECT_EQ(clean_line(std::string("a\0b\x08\x07\x7f"
                                   "c",
                                   7)),
            "abc");
  EXPECT_EQ(clean_line("a\xe2\x80\xa8z"), "a z") << "U+2028, a line end";
}

TEST(CleanLine, TextReadsInTheOrderOfItsBytes) { EXPECT_EQ(clean_line("a\xe2\x80\xaegnp.exe"), "agnp.exe"); }

TEST(CleanLine, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_line("a\xffz"), "a" + bad + "z");
  EXPECT_EQ(clean_line("a\x9b"
                       "31mz"),
            "a" + bad + "31mz")
      << "CSI of another encoding";
  EXPECT_EQ(clean_line("a\xc3"), "a" + bad) << "cut off";
  EXPECT_EQ(clean_line("\xc3(\xed\xa0\x80\xc0\x80"), bad + "(" + bad + bad + bad + bad + bad)
      << "no second byte, a surrogate, and a NUL in two bytes";
}

TEST(CleanLine, IsCutBetweenCharacters) {
  EXPECT_EQ(clean_line("abcdef", 6), "abcdef");
  EXPECT_EQ(clean_line("abcdef", 4), "abcd...");
  EXPECT_EQ(clean_line("ab\xc3\xa4z", 3), "ab...");
  EXPECT_EQ(clean_line("ab\xc3\xa4z", 4), "ab\xc3\xa4...");
}

TEST(CleanLines, KeepLineEndsAndTabs) { EXPECT_EQ(clean_lines("a\r\n\tb\x1b[1mc\rd"), "a\n\tbc d"); }

TEST(VisibleText, HidesNothing) {
  EXPECT_EQ(visible_text("sh -c 'x'\x1b[8m\n\xff"), "sh -c 'x'\\x1b[8m\\x0a\\xff");
  EXPECT_EQ(visible_text("a\xe2\x80\xaez\xc2\x9b\xe2\x80\x8b\xc3\xa4"), "a\\u{202e}z\\u{9b}\\u{200b}\xc3\xa4");
  EXPECT_EQ(visible_text("abc", 2), "ab...");
}

TEST(CutText, NeverEndsInsideACharacter) {
  const std::string smile = "\xf0\x9f\x99\x82";
  for (std::size_t most = 0; most < 4; ++most) EXPECT_EQ(cut_text(smile, most), "") << most;
  EXPECT_EQ(cut_text(smile, 4), smile);
  EXPECT_EQ(cut_text("\x80\x80\x80\x80\x80\x80", 5).size(), 5U) << "what is no character may be cut anywhere";
}

TEST(EndOfText, NeverBeginsInsideACharacter) {
  const std::string smile = "a\xf0\x9f\x99\x82";
  for (std::size_t most = 0; most < 4; ++most) EXPECT_EQ(end_of_text(smile, most), "") << most;
  EXPECT_EQ(end_of_text(smile, 4), smile.substr(1));
  EXPECT_EQ(end_of_text(smile, 9), smile);
}

TEST(CleanLine, OfAnyBytesIsCleanAndStaysAsItIs) {
  std::mt19937_64 chance{7};
  const std::string_view bytes = "ab \x1b[]P\\;3m\x07\n\t\r\x9b\x9c\xc2\xc3\xa4\xe2\x80\xae\xf0\x9f\x99\x82\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(chance() % 24, ' ');
    for (char& c : text) c = bytes[chance() % bytes.size()];
    const std::string clean = clean_line(text, 16);
    for (const char c : clean) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << visible_text(text);
    ASSERT_EQ(clean_line(clean), clean) << visible_text(text);
    ASSERT_EQ(visible_text(clean), clean) << visible_text(text);
  }
}

}  // namespace
}  // namespace replay
