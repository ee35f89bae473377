#include "launcher/daemon/executor_inputs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

std::vector<ExecutorInput> one_of_each() {
  return {Reported{1, protocol::JobSuspended{JobId{7}}}, LineChanged{0, true, "mended"}, NodeLost{2, "no word of it"},
          NodeRejoined{1, "127.0.0.1:40123", {1, 2, 3, 255}}, RejoinFailed{2, "host node3: no route"}};
}

TEST(ExecutorInputs, ComeBackAsTheyWere) {
  for (const ExecutorInput& input : one_of_each()) {
    const std::string bytes = to_bytes(input);
    const ExecutorInput again = executor_input(bytes, 3);
    EXPECT_EQ(again.index(), input.index());
    EXPECT_EQ(to_bytes(again), bytes);
  }
  const auto report = std::get<Reported>(executor_input(to_bytes(one_of_each()[0]), 3));
  EXPECT_EQ(std::get<protocol::JobSuspended>(report.report).job, JobId{7});
  EXPECT_EQ(std::get<NodeRejoined>(executor_input(to_bytes(one_of_each()[3]), 3)).session[3], 255);
}

TEST(ExecutorInputs, CutOrOfANodeThatIsNotThereAreRefused) {
  for (const ExecutorInput& input : one_of_each()) {
    const std::string bytes = to_bytes(input);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_THROW((void)executor_input(bytes.substr(0, length), 3), protocol::ProtocolError) << length;
    EXPECT_THROW((void)executor_input(bytes + "x", 3), protocol::ProtocolError);
    EXPECT_THROW((void)executor_input("\x09" + bytes.substr(1), 3), protocol::ProtocolError);
  }
  EXPECT_THROW((void)executor_input(to_bytes(NodeLost{3, ""}), 3), protocol::ProtocolError);
}

}  // namespace
}  // namespace replay::launcher
