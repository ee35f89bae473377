#include "scheduler/model/machine.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/model/allocation.hpp"

namespace replay {
namespace {

TEST(Machines, AreReadAsTheyAreWritten) {
  for (const char* text : {"flat:128", "16x2x2", "1x1x2"}) EXPECT_EQ(Machine::parse(text).to_text(), text);
  EXPECT_EQ(Machine::parse("4x8").to_text(), "4x1x8");
  EXPECT_EQ(Machine::parse("emulated:8x2x2").to_text(), "8x2x2");
  EXPECT_EQ(Machine::parse("16x2x2").size(), 64);
  EXPECT_EQ(Machine::parse("16x2x2").node_of(63), NodeId{15});
  EXPECT_FALSE(Machine::parse("flat:128").names_cores());
}

TEST(Machines, ThatCannotBeAreRefusedWithWhatWasExpected) {
  for (const char* text : {"", "flat:", "flat:0", "flat:2x2", "2", "0x2", "2x-1", "2x2x2x2",
                           "emulated:", "emulated:flat:2", "99999x99999", "axb", "99999999999999999999x1"}) {
    EXPECT_THROW(
        {
          try {
            (void)Machine::parse(text);
          } catch (const InputError& error) {
            EXPECT_NE(std::string{error.what()}.find(text), std::string::npos);
            throw;
          }
        },
        InputError)
        << text;
  }
}

TEST(Machines, AreToldFromHardwareByTheirText) {
  for (const char* text : {"flat:128", "emulated:8x2x2", "16x2x2", "4x8", "nonsense"})
    EXPECT_TRUE(Machine::is_for_parse(text)) << text;
  for (const char* text : {"local", "local:0-3", "package:2 core:4"}) EXPECT_FALSE(Machine::is_for_parse(text)) << text;
}

}  // namespace
}  // namespace replay
