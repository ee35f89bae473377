#include "scheduler/report/terminal/core_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/report/terminal/runs.hpp"

namespace replay::report {
namespace {

// The map alone, with all the rows that it needs.
std::string map_of(const Records& records, Fold fold, int columns, int room, bool utf8 = false) {
  const WatchedRun run = watched(records);
  const MapPlan plan = plan_map(*run.machine(), fold, columns, room);
  terminal::Frame frame{columns, plan.rows};
  draw_map(frame, 0, plan.rows, 0, run, plan, utf8);
  return frame.to_text();
}

Records shared_core() {
  return Records("2x1x4")
      .submit(0, 1, 4, 9)
      .submit(0, 2, 2, 9)
      .submit(0, 3, 1, 9)
      .launch_shared(0, 1, on_cores(0, 4, 2), 2)
      .launch_shared(0, 2, on_cores(1, 2))
      .launch_on(0, 3, on_cores(7, 1));
}

TEST(CoreMap, ACellHasTheLetterAndTheLevelOrTheSecondJob) {
  EXPECT_EQ(map_of(shared_core(), Fold::kCores, 40, 10), "0 A2 AB B  .   1 .  .  .  C\n");
}

TEST(CoreMap, CellsGetNarrowerBeforeAnythingIsScrolled) {
  EXPECT_EQ(map_of(shared_core(), Fold::kCores, 24, 1), "0 A2ABB .   1 . . . C\n");
  EXPECT_EQ(map_of(shared_core(), Fold::kCores, 16, 1), "0 A&B.  1 ...C\n");
}

TEST(CoreMap, AFoldedNodeHasTheJobWithMostOfItAndHowMuchIsBusy) {
  EXPECT_EQ(map_of(shared_core(), Fold::kNodes, 40, 10), "0 A=+C.\n");
  EXPECT_EQ(map_of(shared_core(), Fold::kNodes, 40, 10, true), "0 A▆+C▂\n");
}

TEST(CoreMap, AFoldedPackageIsPartOfItsNode) {
  Records records("2x2x2");
  records.submit(0, 1, 3, 9).launch_on(0, 1, on_cores(0, 3)).submit(0, 2, 1, 9).launch_on(0, 2, on_cores(3, 1));
  EXPECT_EQ(map_of(records, Fold::kPackages, 40, 10), "0 A# A#+ 1 .  .\n");
}

TEST(CoreMap, SmallerNodesLeavePlacesBlank) {
  Records records("1x2x4+2x1x2");
  records.submit(0, 1, 9, 9).launch_on(0, 1, on_cores(0, 9)).submit(0, 2, 2, 9).launch_on(0, 2, on_cores(10, 2));
  EXPECT_EQ(map_of(records, Fold::kCores, 20, 3), "0 A A A A A A A A\n1 A .\n2 B B\n");
  EXPECT_EQ(map_of(records, Fold::kPackages, 40, 10), "0 A# A#  1 A:     2 B#\n");
  EXPECT_EQ(map_of(records, Fold::kNodes, 40, 10), "0 A# A: B#\n");
  const WatchedRun run = watched(records);
  EXPECT_EQ(map_title(*run.machine(), plan_map(*run.machine(), Fold::kCores, 40, 10)),
            "1 node of 2 x 4 cores, 2 nodes of 2 cores");
}

TEST(CoreMap, NodesAreNamedByTheirHosts) {
  Records records("1x1x3+1x1x2");
  records.header("hosts", "node1 a-host-with-a-long-name").submit(0, 1, 4, 9).launch_on(0, 1, on_cores(0, 4));
  const WatchedRun run = watched(records);
  const MapPlan plan = plan_map(*run.machine(), Fold::kCores, 40, 2, run.hosts());
  terminal::Frame frame{40, plan.rows};
  draw_map(frame, 0, plan.rows, 0, run, plan, false);
  EXPECT_EQ(frame.to_text(), "           node1 A  A  A\na-host-with-a-lo A  .\n");
}

TEST(CoreMap, FoldedNodesStandInTens) {
  EXPECT_EQ(map_of(full("25x2", 50, 4, 10), Fold::kNodes, 70, 10),
            " 0 A# A# B# B# C# C# D# D# E# E#  10 F# F# G# G# H# H# I# I# J# J#\n"
            "20 .  .  .  .  .\n");
}

TEST(CoreMap, ANodeThatIsTooWideTakesSeveralRowsOfWholePackages) {
  EXPECT_EQ(map_of(full("2x2x8", 32, 8, 8), Fold::kCores, 22, 4),
            "0 A A A A A A A A\n"
            "  B B B B B B B B\n"
            "1 C C C C C C C C\n"
            "  . . . . . . . .\n");
}

TEST(CoreMap, RowsOfAPoolAreNumberedByTheirFirstCore) {
  Records records("flat:50");
  records.submit(0, 1, 30, 9).launch(0, 1, 30);
  EXPECT_EQ(map_of(records, Fold::kAuto, 30, 2), " 0 AAAAAAAAAAAAAAAAAAAA\n20 AAAAAAAAAA..........\n40 ..........\n");
}

TEST(CoreMap, FoldingGoesRoundWhatTheMachineHas) {
  const auto round = [](const char* machine) {
    std::vector<Fold> folds{Fold::kAuto};
    do folds.push_back(next_fold(Machine::parse(machine), folds.back()));
    while (folds.back() != Fold::kAuto && folds.size() < 9);
    return folds;
  };
  EXPECT_EQ(round("16x2x2"), (std::vector{Fold::kAuto, Fold::kCores, Fold::kPackages, Fold::kNodes, Fold::kAuto}));
  EXPECT_EQ(round("16x1x4"), (std::vector{Fold::kAuto, Fold::kCores, Fold::kNodes, Fold::kAuto}));
  EXPECT_EQ(round("1x2x4"), (std::vector{Fold::kAuto, Fold::kCores, Fold::kPackages, Fold::kAuto}));
  EXPECT_EQ(round("flat:8"), (std::vector{Fold::kAuto, Fold::kCores, Fold::kAuto}));
}

TEST(CoreMap, AutoTakesTheFinestThatFits) {
  const Machine machine = Machine::parse("64x2x8");
  EXPECT_EQ(plan_map(machine, Fold::kAuto, 200, 40).level, Fold::kCores);
  EXPECT_EQ(plan_map(machine, Fold::kAuto, 80, 12).level, Fold::kPackages);
  EXPECT_EQ(plan_map(machine, Fold::kAuto, 80, 5).level, Fold::kNodes);
  EXPECT_EQ(plan_map(machine, Fold::kAuto, 80, 1).level, Fold::kNodes) << "and is scrolled";
}

std::ptrdiff_t units_of(const Machine& machine, Fold fold) {
  if (fold == Fold::kCores) return machine.size();
  if (fold == Fold::kNodes) return machine.nodes();
  std::ptrdiff_t packages = 0;
  for (int node = 0; node < machine.nodes(); ++node) packages += machine.packages_of(NodeId{node});
  return packages;
}

// Every core of an idle machine is a sign somewhere in the map, whatever the screen's width.
TEST(CoreMap, NoCellIsLostOrDrawnTwice) {
  for (const char* text : {"1x1x1", "1x1x2", "2x1x3", "16x2x2", "7x3x5", "64x2x8", "3x2x33", "1x4x16", "40x1",
                           "flat:77", "2x2x4+3x1x2+1x3x3"}) {
    const WatchedRun run = watched(Records(text));
    const Machine& machine = *run.machine();
    for (const Fold fold : {Fold::kCores, Fold::kPackages, Fold::kNodes}) {
      if (fold == Fold::kPackages && machine.groups().front().packages == 1) continue;
      if (fold == Fold::kNodes && machine.nodes() == 1) continue;
      for (int columns = 8; columns < 130; ++columns) {
        for (const int room : {1, 3, 12, 1000}) {
          const MapPlan plan = plan_map(machine, fold, columns, room);
          ASSERT_LE(plan.block_columns(), columns) << text << " on " << columns;
          terminal::Frame frame{columns, plan.rows};
          draw_map(frame, 0, plan.rows, 0, run, plan, false);
          ASSERT_EQ(std::ranges::count(frame.to_text(), '.'), units_of(machine, fold))
              << text << " on " << columns << "\n"
              << frame.to_text();
        }
      }
    }
  }
}

TEST(CoreMap, AScrolledMapIsAPartOfTheWholeOne) {
  const WatchedRun run = watched(full("64x2x8", 1024, 24, 40));
  const MapPlan plan = plan_map(*run.machine(), Fold::kCores, 80, 12);
  terminal::Frame whole{80, plan.rows};
  draw_map(whole, 0, plan.rows, 0, run, plan, false);
  const std::string text = whole.to_text();
  for (int scroll = 0; scroll + 12 <= plan.rows; ++scroll) {
    terminal::Frame part{80, 12};
    draw_map(part, 0, 12, scroll, run, plan, false);
    ASSERT_NE(text.find(part.to_text()), std::string::npos) << scroll;
  }
}

}  // namespace
}  // namespace replay::report
