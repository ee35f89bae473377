#include <gtest/gtest.h>

#include <random>

#include "scheduler/base/terminal/painter.hpp"
#include "tests/support/text_screen.hpp"

namespace replay::terminal {
namespace {

Frame frame_of(int columns, int rows, std::initializer_list<std::string_view> lines) {
  Frame frame{columns, rows};
  int row = 0;
  for (const std::string_view line : lines) frame.put(row++, 0, line);
  return frame;
}

TEST(TerminalFrame, WhatIsBesideTheGridIsDropped) {
  Frame frame{4, 2};
  EXPECT_EQ(frame.put(0, 2, "abcd"), 6);
  frame.put(2, 0, "below");
  frame.put(-1, -3, "above");
  EXPECT_EQ(frame.to_text(), "  ab\n\n");
}

TEST(TerminalFrame, ACharacterOfAnotherWidthIsAQuestionMark) {
  Frame frame{12, 1};
  frame.put(0, 0, "ä\u0301 \u6f22 \U0001f600 \xff é█");
  EXPECT_EQ(frame.to_text(), "ä? ? ? ? é█\n");
  EXPECT_EQ(width_of("ä\u0301\u6f22█"), 4);
  frame.to_ascii();
  EXPECT_EQ(frame.to_text(), "?? ? ? ? ??\n");
}

TEST(TerminalPainter, AFrameThatIsTheSameCostsNothing) {
  Painter painter{Colours::k256};
  Frame frame = frame_of(20, 3, {"one", "two"});
  frame.put(2, 0, "A", patch(3));
  EXPECT_FALSE(painter.paint(frame).empty());
  EXPECT_EQ(painter.paint(frame), "");
}

TEST(TerminalPainter, OnlyWhatDiffersIsWritten) {
  Painter painter{Colours::kNone};
  static_cast<void>(painter.paint(frame_of(40, 3, {"clock 10.0 s", "jobs", "queue"})));
  EXPECT_EQ(painter.paint(frame_of(40, 3, {"clock 10.1 s", "jobs", "queue"})), "\x1b[1;10H1");
  EXPECT_EQ(painter.paint(frame_of(40, 3, {"clock 10.1 s", "jo", "queue"})), "\x1b[2;3H\x1b[K");
}

TEST(TerminalPainter, WithoutColoursNoAttributeIsSet) {
  Painter painter{Colours::kNone};
  Frame frame{10, 2};
  frame.put(0, 0, "A", patch(0));
  frame.put(0, 2, "bad", kAlert);
  frame.put(1, 2, "dim", kDim);
  test::TextScreen screen{10, 2};
  const std::string bytes = painter.paint(frame);
  EXPECT_EQ(bytes.find("[0;"), std::string::npos) << bytes;
  screen.write(bytes);
  EXPECT_EQ(screen.text(), "A bad\n  dim\n");
}

TEST(TerminalPainter, AnotherSizeIsPaintedFromAnEmptyScreen) {
  Painter painter{Colours::kNone};
  static_cast<void>(painter.paint(frame_of(10, 2, {"same"})));
  EXPECT_NE(painter.paint(frame_of(11, 2, {"same"})).find("\x1b[2J"), std::string::npos);
}

TEST(TerminalPainter, AfterAnySequenceOfFramesTheScreenShowsTheLastOne) {
  std::mt19937 random{7};
  for (const Colours colours : {Colours::kNone, Colours::kEight, Colours::k256}) {
    Painter painter{colours};
    test::TextScreen screen{17, 5};
    Frame frame{17, 5};
    for (int i = 0; i < 500; ++i) {
      if (random() % 5 == 0) frame = Frame{17, 5};
      for (unsigned change = random() % 8; change > 0; --change)
        frame.put(static_cast<int>(random() % 5), static_cast<int>(random() % 17),
                  random() % 3 == 0   ? "  "
                  : random() % 2 == 0 ? "x"
                                      : "█é",
                  patch(static_cast<int>(random() % 12)));
      if (random() % 50 == 0) painter.forget();
      screen.write(painter.paint(frame));
      ASSERT_EQ(screen.text(), frame.to_text());
      ASSERT_EQ(screen.faults(), "");
    }
  }
}

}  // namespace
}  // namespace replay::terminal
