// The side file NAME.nodes.csv: what happened to the nodes of the machine, a row per event, by time.
// docs/formats/nodes-csv.md has the format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/node_change.hpp"

namespace replay {

/// Beside a trace: find_beside().
inline constexpr std::string_view kNodeTableEnding = ".nodes.csv";

struct NodeTable {
  std::vector<NodeEvent> events;  ///< by time; of a row with several nodes one for each, in the order of the row
  std::size_t rows = 0;
};

/// `hosts`: the names of the machine's nodes, by node; empty: they have none. Throws InputError naming file, line and column
/// for a broken row, a node that the machine does not have, and a time before that of the row above.
/// REQUIRES: machine.names_cores().
[[nodiscard]] NodeTable read_node_table(std::unique_ptr<ByteSource> source, const Machine& machine,
                                        std::span<const std::string> hosts = {});
[[nodiscard]] NodeTable read_node_table(const std::string& path, const Machine& machine,
                                        std::span<const std::string> hosts = {});

/// The text of a file from which the same events are read; nodes by number. REQUIRES: `events` are by time, each is one
/// that a row can state.
[[nodiscard]] std::string node_table_text(std::span<const NodeEvent> events);

}  // namespace replay
