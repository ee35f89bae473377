// Reads an event log against the rows of NAME.nodes.csv, by the page docs/formats/nodes-csv.md and not by what a policy does.
#pragma once

#include <string>

#include "tests/oracle/workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

/// The first thing in the log that the page rules out; empty if there is none. REQUIRES: users take no job back.
[[nodiscard]] std::string against_the_page(const oracle::Workload& workload, const MemoryLog& log);

/// Whether a row closes a node in (from, to]: then a start that was promised at `from` may be later.
[[nodiscard]] bool closes_a_node(const oracle::Workload& workload, oracle::Time from, oracle::Time to);

}  // namespace replay::test
