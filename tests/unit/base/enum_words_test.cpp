#include "scheduler/base/text/enum_words.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace replay {
namespace {

enum class Colour : std::uint8_t { kRed, kGreen };

std::string_view to_text(Colour colour) {
  switch (colour) {
    case Colour::kRed: return "red";
    case Colour::kGreen: return "green";
  }
  return "?";
}

TEST(EnumWords, AnEnumeratorIsFoundByItsWordAndByNothingElse) {
  EXPECT_EQ(enum_of<Colour>("red"), Colour::kRed);
  EXPECT_EQ(enum_of<Colour>("green"), Colour::kGreen);
  for (const char* other : {"", "?", "Red", "greenish"}) EXPECT_EQ(enum_of<Colour>(other), std::nullopt) << other;
  EXPECT_EQ(enum_words<Colour>(), "red, green");
}

}  // namespace
}  // namespace replay
