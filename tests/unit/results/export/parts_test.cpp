// Tests of what several exports need: seats on cores, lanes, points as a stream, ranges by node, readings of a log.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/results/export/core_seats.hpp"
#include "scheduler/results/export/lanes.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/point_stream.hpp"
#include "tests/unit/results/export/export_fixture.hpp"

namespace replay::results {
namespace {

Instant at(int s) { return Instant{std::chrono::seconds{s}}; }

TEST(CoreSeats, TheSecondJobOnACoreHasTheSecondSeatUntilItLeaves) {
  CoreSeats seats;
  EXPECT_EQ(seats.take(CoreId{5}, JobId{1}), 0u);
  EXPECT_EQ(seats.take(CoreId{5}, JobId{2}), 1u);
  EXPECT_EQ(seats.take(CoreId{6}, JobId{2}), 0u) << "each core has its own";
  EXPECT_EQ(seats.leave(CoreId{5}, JobId{1}), 0u);
  EXPECT_EQ(seats.take(CoreId{5}, JobId{3}), 0u) << "the lowest free one";
  EXPECT_EQ(seats.leave(CoreId{5}, JobId{2}), 1u);
  EXPECT_EQ(seats.most(), 2u);
}

TEST(Lanes, SpansOfOneLaneDoNotOverlap) {
  Lanes lanes;
  EXPECT_EQ(lanes.lane_of(at(0), at(4)), 0u);
  EXPECT_EQ(lanes.lane_of(at(2), at(5)), 1u);
  EXPECT_EQ(lanes.lane_of(at(5), at(6)), 1u) << "the one that was used last";
  EXPECT_EQ(lanes.lane_of(at(4), at(7)), 0u);
}

class Points final : public PointReader {
 public:
  void point(const metrics::Point& point) override {
    text += fmt::format("{}: {} queued {} busy; ", to_text(point.at), point.queued, point.busy_cores);
  }
  std::string text;
};

TEST(PointStream, HandsOverTheLastStateOfEachInstantOnceWhenItIsOver) {
  Points points;
  PointStream stream{points};
  metrics::Records{"flat:4"}
      .submit(0, 1, 2, 5)
      .launch(0, 1, 2)
      .submit(1, 2, 4, 5)
      .finish(5, 1)
      .launch(5, 2, 4)
      .finish(9, 2)
      .feed(stream);
  EXPECT_EQ(points.text, "0: 0 queued 2 busy; 1: 1 queued 2 busy; 5: 0 queued 4 busy; ") << "the end is not over yet";
  stream.finish();
  EXPECT_TRUE(points.text.ends_with("9: 0 queued 0 busy; ")) << points.text;
}

TEST(NodeRanges, AreCutAtTheBordersOfNodes) {
  const std::vector<CoreRange> cores = {{CoreId{1}, CoreId{4}}, {CoreId{7}, CoreId{7}}};
  std::string text;
  for_each_node_range(cores, Machine::cluster(4, 1, 2), [&](NodeId node, const CoreRange& range) {
    text += fmt::format("n{} {}-{}; ", static_cast<int>(node), range.first, range.last);
  });
  EXPECT_EQ(text, "n0 1-1; n1 2-3; n2 4-4; n3 7-7; ");
}

TEST_F(Export, ASecondReadingEndsWhereTheFirstDid) {
  const RunLog run = log_of(shrunk_run());
  history::Follower first, second, third;
  const RunLog::Read read = run.read(first);
  EXPECT_EQ(read.records, 8u);
  EXPECT_EQ(read.last, at(13));
  EXPECT_EQ(run.read(second, 4).records, 4u);
  EXPECT_EQ(run.read(third, 2).last, at(0));
  EXPECT_EQ(third.find(JobId{2}), nullptr) << "the rest, which a run has written since, is left out";
}

TEST_F(Export, AnImpossibleRecordIsReportedWithItsLine) {
  for (const ExportFormat& format : export_formats()) {
    try {
      (void)made(format.name, Records{"1x2"}
                                  .submit(0, 1, 1, 5)
                                  .launch_on(0, 1, {{7, 1}})
                                  .finish(2, 1)
                                  .submit(2, 1, 1, 5)
                                  .submit(2, 1, 1, 5));
      ADD_FAILURE() << format.name << " says nothing";
    } catch (const InputError& error) {
      EXPECT_NE(std::string{error.what()}.find("events.log:"), std::string::npos)
          << format.name << ": " << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x")) << format.name;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      EXPECT_EQ(entry.path().filename(), "events.log") << format.name << " left a file";
  }
}

}  // namespace
}  // namespace replay::results
