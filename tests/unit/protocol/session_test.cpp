// Tests of the numbers of a session's messages.
#include "scheduler/protocol/session.hpp"

#include <gtest/gtest.h>

namespace replay::protocol {
namespace {

TEST(Outbox, KeepsWhatIsNotAcknowledged) {
  Outbox outbox{true};
  for (const char* frame : {"a", "b", "c"}) outbox.add(frame);
  EXPECT_EQ(outbox.next(), 4U);
  outbox.acknowledge(0);
  EXPECT_EQ(outbox.kept().size(), 3U);
  outbox.acknowledge(2);
  EXPECT_EQ(outbox.kept(), std::deque<std::string>{"c"});
  outbox.acknowledge(2);
  outbox.acknowledge(3);
  EXPECT_TRUE(outbox.kept().empty());
}

TEST(Outbox, TakesNoAcknowledgementThatCannotBe) {
  Outbox outbox{true};
  for (const char* frame : {"a", "b", "c"}) outbox.add(frame);
  EXPECT_THROW(outbox.acknowledge(4), ProtocolError);
  outbox.acknowledge(2);
  EXPECT_THROW(outbox.acknowledge(1), ProtocolError) << "it was said to have come, and cannot be sent again";
}

TEST(Outbox, OfASessionThatEndsWithItsConnectionKeepsNothing) {
  Outbox outbox{false};
  outbox.add("a");
  EXPECT_EQ(outbox.next(), 2U);
  EXPECT_TRUE(outbox.kept().empty());
  outbox.acknowledge(0);
  outbox.acknowledge(1);
}

TEST(Inbox, TakesEachMessageOnceAndNoneThatLeavesOneOut) {
  Inbox inbox;
  EXPECT_TRUE(inbox.take(1));
  EXPECT_TRUE(inbox.take(0)) << "a message without a number";
  EXPECT_TRUE(inbox.take(2));
  EXPECT_FALSE(inbox.take(1));
  EXPECT_FALSE(inbox.take(2));
  EXPECT_THROW((void)inbox.take(4), ProtocolError);
  EXPECT_EQ(inbox.received(), 2U);
  EXPECT_TRUE(inbox.take(3));
}

}  // namespace
}  // namespace replay::protocol
