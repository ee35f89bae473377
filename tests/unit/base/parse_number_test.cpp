#include "scheduler/base/text/parse_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace replay {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<double>("2.5e1"), 25);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "1.0", "2147483648"})
    EXPECT_FALSE(parse_number<int>(text)) << text;
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
}

TEST(ParseNumber, KeepsToItsBounds) {
  EXPECT_EQ(parse_number<int>("3", 1, 3), 3);
  EXPECT_FALSE(parse_number<int>("4", 1, 3));
  EXPECT_FALSE(parse_number<int>("0", 1, 3));
  EXPECT_FALSE(parse_number<double>("nan", 0, 1));
}

TEST(ParseNumber, IsFiniteIfThatIsAsked) {
  EXPECT_TRUE(std::isinf(parse_number<double>("inf").value()));
  EXPECT_EQ(parse_finite("0.5"), 0.5);
  EXPECT_FALSE(parse_finite("inf"));
  EXPECT_FALSE(parse_finite("nan"));
}

}  // namespace
}  // namespace replay
