// Tests of NAME.nodes.csv: rows are read as events, written ones are read back, and each kind of error names its line and
// column.
#include "traces/nodes/node_table.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::memory_source;
using test::message_of;

const Machine kEightNodes = Machine::cluster(8, 1, 4);
const std::vector<std::string> kHosts{"fir", "oak-n2", "n0", "ash", "n7", "elm", "yew", "bay"};
constexpr std::string_view kNodeColumns = "time,nodes,state,until,reason\n";

NodeTable read(std::string_view text, std::span<const std::string> hosts = {}) {
  return read_node_table(memory_source(text, "t.nodes.csv"), kEightNodes, hosts);
}
std::string error_of(const std::string& rows, std::string_view header = kNodeColumns) {
  return message_of<InputError>([&] { (void)read(std::string{header} + rows, kHosts); });
}
Instant at(Duration time) { return Instant{time}; }

TEST(NodeTable, ARowIsAnEventOfEachOfItsNodes) {
  const NodeTable table = read(
      "time,nodes,state,until,reason\n"
      "0,n7,silent,,\n"
      "10.5,\"n1,n3-n4\",down,20,\"disk, \"\"sda\"\"\"\n"
      "10.5,n2,reserved:course_1.a-b,,\n"
      "12,n0,drained,12.000001,'=1+1\n"
      "30,n1,up,,repaired\n");
  EXPECT_EQ(table.rows, 5U);
  const std::string disk = "disk, \"sda\"";
  EXPECT_EQ(table.events, (std::vector<NodeEvent>{
                              {at(0s), {NodeId{7}, NodeState::kSilent, kNever, "", ""}},
                              {at(10500ms), {NodeId{1}, NodeState::kDown, at(20s), disk, ""}},
                              {at(10500ms), {NodeId{3}, NodeState::kDown, at(20s), disk, ""}},
                              {at(10500ms), {NodeId{4}, NodeState::kDown, at(20s), disk, ""}},
                              {at(10500ms), {NodeId{2}, NodeState::kReserved, kNever, "", "course_1.a-b"}},
                              {at(12s), {NodeId{0}, NodeState::kDrained, at(12s + 1us), "=1+1", ""}},
                              {at(30s), {NodeId{1}, NodeState::kUp, kNever, "repaired", ""}},
                          }));
}

TEST(NodeTable, WhatIsWrittenIsReadBack) {
  const NodeTable table =
      read(std::string{kNodeColumns} +
           "0,n0-n7,down,20,\"a, \"\"b\"\"\"\n0,n2,reserved:x,,'=1\n3.25,n2,up,,\n4,n1,silent,5,\n");
  ASSERT_EQ(table.events.size(), 11U);
  EXPECT_EQ(read(node_table_text(table.events)).events, table.events);
}

TEST(NodeTable, AReasonOfTheLogIsWrittenInOneLine) {
  const std::vector<NodeEvent> events{{at(1s), {NodeId{1}, NodeState::kDown, kNever, "a\nb\x1b[31m", ""}}};
  EXPECT_EQ(node_table_text(events), "time,nodes,state,until,reason\n1,n1,down,,a b\n");
}

TEST(NodeTable, TheLastTwoColumnsMayBeLeftOut) {
  EXPECT_EQ(read("time,nodes,state\n1,n0,down\n").events,
            (std::vector<NodeEvent>{{at(1s), {NodeId{0}, NodeState::kDown, kNever, "", ""}}}));
  EXPECT_EQ(read("time,nodes,state,until\n1,n0,down,2\n").events,
            (std::vector<NodeEvent>{{at(1s), {NodeId{0}, NodeState::kDown, at(2s), "", ""}}}));
}

TEST(NodeTable, HostsAreNodesButANumberIsANumber) {
  const NodeTable table = read(std::string{kNodeColumns} + "1,\"oak-n2,bay,n0\",down,,\n", kHosts);
  std::vector<NodeId> nodes;
  for (const NodeEvent& event : table.events) nodes.push_back(event.change.node);
  EXPECT_EQ(nodes, (std::vector<NodeId>{NodeId{1}, NodeId{7}, NodeId{0}}));
}

TEST(NodeTable, AWrongCellIsNamedWithItsLineAndColumn) {
  const std::string seconds = "expected seconds from 0 to 10000000000, found ";
  const std::string nodes =
      "expected nodes of 8x1x4: n0 to n7, such as n0 or \"n0,n2-n3\", or names of its hosts, found ";
  const std::string state =
      "expected up, down, drained, silent, or reserved:NAME with a NAME of letters, digits, '.', '_' and '-', found ";
  const std::string until = "expected nothing, or seconds above 1 to 10000000000, found ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"x,n0,down,,\n", "2: column time: " + seconds + "'x'"},
      {"-1,n0,down,,\n", "2: column time: " + seconds + "'-1'"},
      {"10000000001,n0,down,,\n", "2: column time: " + seconds + "'10000000001'"},
      {"3,n0,down,,\n2.5,n0,up,,\n", "3: column time: expected at least 3, the time of the row before, found '2.5'"},
      {"1.0000004,n0,down,,\n", "2: column time: expected seconds with up to six decimals, found '1.0000004'"},
      {"1,n0,down,1.0000010,\n", "2: column until: expected seconds with up to six decimals, found '1.0000010'"},
      {"1,n8,down,,\n", "2: column nodes: " + nodes + "'n8'"},
      {"1,,down,,\n", "2: column nodes: " + nodes + "''"},
      {"1,\"n1,\",down,,\n", "2: column nodes: " + nodes + "''"},
      {"1,n5-n3,down,,\n", "2: column nodes: " + nodes + "'n5-n3'"},
      {"1,n1-3,down,,\n", "2: column nodes: " + nodes + "'n1-3'"},
      {"1,pine,down,,\n", "2: column nodes: " + nodes + "'pine'"},
      {"1,n-1,down,,\n", "2: column nodes: " + nodes + "'n-1'"},
      {"1,\"n1,n0-n2\",down,,\n", "2: column nodes: expected each node once, found 'n0-n2'"},
      {"1,\"n0,fir\",down,,\n", "2: column nodes: expected each node once, found 'fir'"},
      {"1,n1,off,,\n", "2: column state: " + state + "'off'"},
      {"1,n1,reserved,,\n", "2: column state: " + state + "'reserved'"},
      {"1,n1,reserved:,,\n", "2: column state: " + state + "'reserved:'"},
      {"1,n1,reserved:a b,,\n", "2: column state: " + state + "'reserved:a b'"},
      {"1,n1,down,1,\n", "2: column until: " + until + "'1'"},
      {"1,n1,down,soon,\n", "2: column until: " + until + "'soon'"},
      {"1,n1,up,5,\n", "2: column until: expected nothing for nodes that are up, found '5'"},
      {"1,n1,down\n", "2: expected 5 cells as in the header row, found '3'"},
      {"1,n1,down,,a,b\n", "2: expected 5 cells as in the header row, found '6'"},
      {"\n", "2: expected 5 cells as in the header row, found '1'"},
      {"1,n1,down,,\"a\nb\"\n", "2: expected a closing quotation mark in the same line, found '1,n1,down,,\"a'"},
  };
  for (const auto& [rows, message] : cases) EXPECT_EQ(error_of(rows), "t.nodes.csv:" + message);
}

TEST(NodeTable, AnotherHeaderIsRefusedWithWhatTheFileIs) {
  const std::string expected =
      "expected the header row 'time,nodes,state,until,reason', of which the last two may be left out, found ";
  EXPECT_EQ(error_of("", "time,nodes\n"), "t.nodes.csv:1: " + expected + "'time,nodes'");
  EXPECT_EQ(error_of("", "time,nodes,state,reason\n"), "t.nodes.csv:1: " + expected + "'time,nodes,state,reason'");
  EXPECT_NE(error_of("", "job,flexibility,sizes\n").find("found a side file, which belongs to a trace"),
            std::string::npos);
  EXPECT_EQ(error_of("", ""), "t.nodes.csv: expected the header row 'time,nodes,state,until,reason', found nothing");
}

}  // namespace
}  // namespace replay
