// Fuzz target of the reader of node events: arbitrary bytes give events or an InputError; events are the same after
// writing and reading.
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"
#include "traces/nodes/node_table.hpp"

namespace replay::fuzz {

void node_table(std::string_view bytes) {
  const Machine machine = Machine::cluster(16, 1, 2);
  const std::vector<std::string> hosts{"fir", "n3", "oak-1"};
  try {
    const NodeTable table = read_node_table(test::memory_source(bytes), machine, hosts);
    const std::string text = node_table_text(table.events);
    check(read_node_table(test::memory_source(text), machine).events == table.events);
  } catch (const InputError&) {  // a valid result, not a failure
  }
}

}  // namespace replay::fuzz
