#include "scheduler/report/page/run_names.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using Logs = std::vector<fs::path>;

TEST(RunNames, AreAsShortAsTellsThemApart) {
  EXPECT_EQ(run_names(Logs{"/a/runs/easy/events.log"}), Lines{"easy"});
  EXPECT_EQ(run_names(Logs{"/a/runs/easy/events.log", "/a/runs/fcfs/events.log"}), (Lines{"easy", "fcfs"}));
  EXPECT_EQ(run_names(Logs{"/a/mon/easy/events.log", "/a/tue/easy/events.log", "/a/tue/fcfs/events.log"}),
            (Lines{"mon/easy", "tue/easy", "fcfs"}));
  EXPECT_EQ(run_names(Logs{"/a/x/1/easy/events.log", "/a/y/1/easy/events.log"}), (Lines{"x/1/easy", "y/1/easy"}));
}

TEST(RunNames, OfALogWithAnotherNameIsThatName) {
  EXPECT_EQ(run_names(Logs{"/a/mine.log", "/b/events.log"}), (Lines{"mine.log", "b"}));
  EXPECT_EQ(run_names(Logs{"/events.log"}), Lines{"events.log"});
}

TEST(RunNames, OfARunThatIsGivenTwiceGetANumber) {
  EXPECT_EQ(run_names(Logs{"/a/easy/events.log", "/b/easy/events.log", "/b/easy/events.log"}),
            (Lines{"a/easy", "b/easy", "b/easy (2)"}));
  EXPECT_EQ(run_names(Logs{"/a/easy/events.log", "/a/fcfs/events.log", "/a/./easy/events.log"}),
            (Lines{"easy", "fcfs", "easy (2)"}));
}

class Cells : public testing::Test {
 protected:
  Cells() {
    for (const char* run : {"v/cells/30/easy/sim", "v/cells/30/easy/real", "v/cells/50/easy/sim",
                            "v/cells/50/easy/real", "v/cells/50/easy/measured", "other/real"})
      write(run);
  }
  void write(const std::string& run) {
    fs::create_directories(folder_ / run);
    test::write_text(folder_ / run / "events.log", "");
  }
  Logs logs(std::initializer_list<const char*> runs) {
    Logs logs;
    for (const char* run : runs) logs.push_back(folder_ / run / "events.log");
    return logs;
  }
  TemporaryFolder folder_;
};

TEST_F(Cells, RunsSayWhetherTheyAreRealOrSimulated) {
  EXPECT_EQ(run_names(logs({"v/cells/50/easy/sim", "v/cells/50/easy/real", "v/cells/50/easy/measured"})),
            (Lines{"easy: simulated", "easy: real", "easy: simulated with measured times"}));
  EXPECT_EQ(run_names(logs({"v/cells/30/easy/sim", "v/cells/50/easy/sim", "v/cells/50/easy/real"})),
            (Lines{"30/easy: simulated", "50/easy: simulated", "easy: real"}));
  EXPECT_EQ(run_names(logs({"other/real"})), Lines{"real"}) << "no cell: it has no simulated run";
}

TEST_F(Cells, RealRunsAreComparedWithTheSimulatedOneOfTheirCellAndThoseWithMeasuredTimesWithTheRealOne) {
  const Logs all = logs({"v/cells/30/easy/sim", "v/cells/30/easy/real", "v/cells/50/easy/sim", "v/cells/50/easy/real",
                         "v/cells/50/easy/measured", "other/real"});
  EXPECT_EQ(compared_with(all, 1), 0u);
  EXPECT_EQ(compared_with(all, 2), 0u) << "simulated runs with the first run";
  EXPECT_EQ(compared_with(all, 3), 2u);
  EXPECT_EQ(compared_with(all, 4), 3u);
  EXPECT_EQ(compared_with(all, 5), 0u) << "no cell";
  EXPECT_EQ(compared_with(logs({"other/real", "v/cells/30/easy/real"}), 1), 0u)
      << "the simulated one is not in the page";
}

}  // namespace
}  // namespace replay::report
