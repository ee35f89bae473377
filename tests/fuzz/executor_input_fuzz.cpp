// Fuzz target of an executor's inputs in a turn log: arbitrary bytes give an input that is written as it was read, or a
// ProtocolError.
#include <string>
#include <string_view>

#include "launcher/daemon/executor_inputs.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {

void executor_input(std::string_view bytes) {
  constexpr std::size_t kNodes = 4;
  try {
    const std::string written = launcher::to_bytes(launcher::executor_input(std::string{bytes}, kNodes));
    check(launcher::to_bytes(launcher::executor_input(written, kNodes)) == written);
  } catch (const protocol::ProtocolError&) {  // a valid result, not a failure
  }
}

}  // namespace replay::fuzz
