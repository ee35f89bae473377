#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/terminal/keys.hpp"

namespace replay::terminal {
namespace {

using Kind = Key::Kind;

std::vector<Key> keys(std::initializer_list<std::string_view> portions) {
  KeyReader reader;
  std::vector<Key> all;
  for (const std::string_view portion : portions)
    for (const Key key : reader.read(portion)) all.push_back(key);
  return all;
}

Key letter(char character) { return {Kind::kCharacter, character}; }

TEST(TerminalKeys, LettersAreThemselves) {
  EXPECT_EQ(keys({"fp q", "\f"}), (std::vector{letter('f'), letter('p'), letter(' '), letter('q'), letter('\f')}));
}

TEST(TerminalKeys, ArrowsComeInBothFormsOfTheTerminal) {
  EXPECT_EQ(keys({"\x1b[A\x1bOB"}), (std::vector<Key>{{Kind::kUp}, {Kind::kDown}}));
  EXPECT_EQ(keys({"\x1b[H\x1bOF\x1b[1~\x1b[4~"}),
            (std::vector<Key>{{Kind::kHome}, {Kind::kEnd}, {Kind::kHome}, {Kind::kEnd}}));
  EXPECT_EQ(keys({"\x1b[5~\x1b[6;2~"}), (std::vector<Key>{{Kind::kPageUp}, {Kind::kPageDown}})) << "with Shift, too";
}

TEST(TerminalKeys, ASequenceMayComeInPortions) {
  EXPECT_EQ(keys({"\x1b[", "5", "~q"}), (std::vector<Key>{{Kind::kPageUp}, letter('q')}));
}

TEST(TerminalKeys, NoPartOfAnUnknownSequenceIsALetter) {
  EXPECT_EQ(keys({"\x1b[15~\x1b[200;1;4q\x1bq\x1bOQp"}), (std::vector{letter('p')}));
}

TEST(TerminalKeys, EscapeAloneIsAKey) {
  EXPECT_EQ(keys({"\x1b", "p"}), (std::vector<Key>{{Kind::kEscape}, letter('p')}));
  EXPECT_EQ(keys({"\x1b\x1b[A"}), (std::vector<Key>{{Kind::kEscape}, {Kind::kUp}}));
}

TEST(TerminalKeys, CharactersBeyondAsciiAreDropped) { EXPECT_EQ(keys({"\xc3\xa4p"}), (std::vector{letter('p')})); }

TEST(TerminalKeys, ASequenceWithoutAnEndIsDropped) {
  EXPECT_EQ(keys({"\x1b[" + std::string(40, '1'), "p"}), (std::vector{letter('p')}));
}

}  // namespace
}  // namespace replay::terminal
