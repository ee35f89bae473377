// A log that cannot be true is refused by every command that reads logs, in one way: what one of them refuses, all refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay {
namespace {

using DamagedLogs = test::Comparing;

constexpr const char* kHead = "#replay-events 1\n#body sim\n#machine flat:4\n#policy easy\n";
constexpr const char* kRecords =
    "0 submit job=1 processes=3 estimate=9 runtime=9 flexibility=rigid\n"
    "0 start job=1 cores=3 mpl=1\n"
    "0 launch job=1 cores=3 mpl=1\n"
    "9 finish job=1 outcome=completed\n";

TEST_F(DamagedLogs, AreRefusedByEveryCommandInOneWay) {
  simulate_both();
  const std::pair<std::string, const char*> damages[] = {
      {"0 submit job=2 processes=3 estimate=9 runtime=9 flexibility=rigid\n0 launch job=2 cores=3 mpl=1\n",
       "events.log:9: job 2 gets 3 cores at 0 s; free: 1"},  // 150 % of the machine
      {"1 launch job=2 cores=1 mpl=1\n", "events.log:8: job 2 is launched at 1 s, but it was never submitted"},
      {"1 kill job=2 reason=policy\n", "events.log:8: job 2 is killed at 1 s, but it was never submitted"},
      {"1 suspended job=1\n1 suspended job=1\n", "events.log:9: job 1 is suspended at 1 s, but it does not run"},
      {"1 submit job=1 processes=1 estimate=9 runtime=9 flexibility=rigid\n",
       "events.log:8: job 1 is submitted twice, again at 1 s"},
  };
  const std::string records = kRecords, head = records.substr(0, records.find("9 finish"));
  for (const auto& [damage, why] : damages) {
    std::filesystem::create_directories(folder_ / "bad");
    test::write_text(folder_ / "bad/events.log", kHead + head + damage + "9 finish job=1 outcome=completed\n");
    for (const char* command :
         {"results bad --outputs metrics", "results bad --outputs none", "report bad -o x.html",
          "plot bad --figure gantt -o x.svg", "plot bad --figure ecdf -o x.svg", "why bad 1", "diff bad runs/easy",
          "export bad --to perfetto -o x.json", "export bad --to paje -o x.trace", "export bad --to paraver -o x",
          "export bad --to evalys -o x", "export bad --to batsim -o x", "export bad --to swf -o x.swf",
          "export bad --to csv -o x", "export bad --to gnuplot -o x"})
      expect_says(command, std::string_view{command}.starts_with("diff") ? 2 : 1, {why});  // 1: the runs differ
  }
  test::write_text(folder_ / "bad/events.log", kHead + records);
  EXPECT_EQ(replay("results bad --outputs metrics").status, 0) << "the log without damage is taken";
}

}  // namespace
}  // namespace replay
