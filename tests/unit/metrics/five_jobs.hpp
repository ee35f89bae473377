// Five jobs on four cores, small enough to be followed by hand:
//
//   job  submitted  cores  run time      EASY                       FCFS
//    A       0        3       10         AAAAAAAAAABBBBBBBBBBEE     AAAAAAAAAABBBBBBBBBBC
//    B       1        4       10         AAAAAAAAAABBBBBBBBBBEE     AAAAAAAAAABBBBBBBBBB...
//    C       2        1        5         AAAAAAAAAABBBBBBBBBBDDDD   AAAAAAAAAABBBBBBBBBB...
//    D       3        1        8         ..CCCCC...BBBBBBBBBB       ..........BBBBBBBBBB
//    E       4        2        2
//
// Under EASY, C starts at 2 on the free core: it ends before B, the head, can start at 10. D would not, so the core
// stays free from 7 to 10. At 20 D and E start.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler/log/record.hpp"
#include "tests/support/followed.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

inline std::vector<TracedJob> five_jobs() {
  return {job('A').cores(3).runs(10s), job('B').cores(4).runs(10s).arrives(1s), job('C').cores(1).runs(5s).arrives(2s),
          job('D').cores(1).runs(8s).arrives(3s), job('E').cores(2).runs(2s).arrives(4s)};
}

/// Feeds a log with its header to a sink or an observer.
template <class Reader>
void feed(const MemoryLog& log, std::string_view machine, Reader& reader) {
  log::Header header;
  header.set("machine", std::string{machine});
  feed(header, log.records(), reader);
}

}  // namespace replay::test
