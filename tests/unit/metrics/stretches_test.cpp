#include "scheduler/metrics/stretches.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

// "2 0-4 on 0-1 3 runs 4p mpl 2": job, seconds, cores, kind, processes, multiprogramming level.
class Texts final : public StretchReader {
 public:
  void stretch(const Stretch& stretch) override {
    std::string cores;
    for (const auto& [first, last] : stretch.cores)
      cores += first == last ? fmt::format(" {}", first) : fmt::format(" {}-{}", first, last);
    texts.push_back(fmt::format("{} {}-{} on{} {} {}p mpl {}{}", static_cast<std::int64_t>(stretch.job),
                                to_text(stretch.from), to_text(stretch.to), cores,
                                stretch.kind == Stretch::Kind::kRuns ? "runs" : "suspended", stretch.processes,
                                stretch.mpl, stretch.shareable ? " shareable" : ""));
  }
  std::vector<std::string> texts;
};

using Lines = std::vector<std::string>;

Lines stretches_of(const Records& records) {
  Texts texts;
  Stretches stretches{texts};
  records.feed(stretches);
  return texts.texts;
}

TEST(Stretches, AJobThatIsNeverResizedIsOneStretch) {
  EXPECT_EQ(stretches_of(Records("1x4").submit(0, 1, 2, 5).launch_on(1, 1, {{0, 1}, {2, 1}}).finish(6, 1)),
            Lines{"1 1-6 on 0 2 runs 2p mpl 1"});
}

TEST(Stretches, AShrunkJobLeavesTheStretchBeforeAndTheOneAfter) {
  EXPECT_EQ(stretches_of(Records("1x4")
                             .submit(0, 1, 4, 9)
                             .launch_on(0, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}})
                             .submit(2, 2, 2, 5)
                             .resized_on(2, 1, {{0, 2}, {1, 2}}, 2)
                             .launch_on(2, 2, {{2, 1}, {3, 1}})
                             .finish(7, 2)
                             .finish(9, 1)),
            (Lines{"1 0-2 on 0-3 runs 4p mpl 1", "2 2-7 on 2-3 runs 2p mpl 1", "1 2-9 on 0-1 runs 4p mpl 2"}));
}

TEST(Stretches, ASuspendedJobShowsTheCoresThatItHad) {
  EXPECT_EQ(stretches_of(Records("flat:6")
                             .submit(0, 1, 3, 9)
                             .launch(0, 1, 3)
                             .suspended(2, 1)
                             .submit(2, 2, 2, 1)
                             .launch(2, 2, 2)
                             .resumed(5, 1)
                             .finish(8, 1)
                             .finish(9, 2)),
            (Lines{"1 0-2 on 0-2 runs 3p mpl 1", "1 2-5 on 0-2 suspended 3p mpl 1", "1 5-8 on 2-4 runs 3p mpl 1",
                   "2 2-9 on 0-1 runs 2p mpl 1"}))
      << "a pool gives other numbers to a job that resumes";
}

TEST(Stretches, ShareableCoresAreMarked) {
  EXPECT_EQ(stretches_of(Records("1x2").submit(0, 1, 1, 9).launch_shared(0, 1, {{0, 1}}).finish(1, 1)),
            Lines{"1 0-1 on 0 runs 1p mpl 1 shareable"});
}

TEST(Stretches, AChangeThatIsRevertedAtOnceLeavesNone) {
  EXPECT_EQ(
      stretches_of(
          Records("flat:4").submit(0, 1, 4, 9).launch(0, 1, 4).resized(3, 1, 2, 2).resized(3, 1, 4, 1).finish(5, 1)),
      (Lines{"1 0-3 on 0-3 runs 4p mpl 1", "1 3-5 on 0-3 runs 4p mpl 1"}));
}

TEST(Stretches, AJobThatNeverRanHasNone) {
  EXPECT_EQ(stretches_of(Records("flat:4").submit(0, 1, 2, 5).finish(3, 1, ended(Outcome::kCancelled))), Lines{});
}

TEST(Stretches, OpenOnesCanBeReadAtAnyTime) {
  Texts closed, open;
  test::Followed<Stretches> stretches{closed};
  Records("flat:4")
      .submit(0, 1, 2, 9)
      .launch(0, 1, 2)
      .submit(1, 2, 1, 9)
      .launch(1, 2, 1)
      .suspended(3, 2)
      .feed(stretches);
  stretches->open(Instant{from_seconds(4)}, open);
  EXPECT_EQ(open.texts, (Lines{"1 0-4 on 0-1 runs 2p mpl 1", "2 3-4 on 2 suspended 1p mpl 1"}));
  EXPECT_EQ(closed.texts, Lines{"2 1-3 on 2 runs 1p mpl 1"});
}

TEST(Stretches, AJobThatTakesCoresThatAreNotThereIsAnError) {
  EXPECT_THROW(stretches_of(Records("flat:4").submit(0, 1, 5, 9).launch(0, 1, 5)), InputError);
}

class Counts final : public StretchReader {
 public:
  void begins(const Stretch& stretch) override {
    text += fmt::format("+{}@{}{} ", number(stretch.job), to_text(stretch.from),
                        stretch.kind == Stretch::Kind::kSuspended ? "s" : "");
  }
  void stretch(const Stretch& stretch) override {
    text += fmt::format("-{}@{} ", number(stretch.job), to_text(stretch.to));
  }
  void taken_back(const Stretch& stretch) override {
    text += fmt::format("x{}@{} ", number(stretch.job), to_text(stretch.to));
  }
  std::string text;
};

TEST(Stretches, EachBeginIsFollowedByItsEndOrIsTakenBack) {
  Counts counts;
  Stretches stretches{counts};
  Records("flat:4")
      .submit(0, 1, 4, 9)
      .launch(0, 1, 4)
      .resized(3, 1, 2, 2)
      .resized(3, 1, 4, 1)
      .suspended(5, 1)
      .resumed(6, 1)
      .finish(6, 1)
      .feed(stretches);
  EXPECT_EQ(counts.text, "+1@0 -1@3 +1@3 x1@3 +1@3 -1@5 +1@5s -1@6 +1@6 x1@6 ");
}

TEST(Stretches, OfALogWithAJobThatIsLaunchedTwiceOrHasACoreThatIsNotThereAreAnError) {
  EXPECT_THROW((void)stretches_of(Records("flat:4").submit(0, 1, 1, 9).launch(0, 1, 1).launch(1, 1, 1)), InputError);
  EXPECT_THROW((void)stretches_of(Records("1x2").submit(0, 1, 1, 9).launch_on(0, 1, {{2, 1}})), InputError);
}

}  // namespace
}  // namespace replay::metrics
