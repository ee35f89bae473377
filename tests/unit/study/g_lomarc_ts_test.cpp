// Tests of the G-LOMARC-TS study: its workloads are those of the commands, its figures those of schedules worked by hand,
// its simulations give what an independent implementation found, and the same with one and two threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/study/g_lomarc_ts/figures.hpp"
#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/page.hpp"
#include "tests/support/followed.hpp"
#include "tests/support/shell.hpp"
#include "traces/workload_reader.hpp"

namespace replay::study {
namespace {

// ---- workloads ----

TEST(GlomarcWorkload, IsThatOfTheCommands) {
  for (const auto& [load, alpha] : {std::pair{"W1", "10.33"}, std::pair{"W2", "9.83"}}) {
    const TemporaryFolder folder;
    const auto made = test::shell(std::string{REPLAY_PROGRAM " generate lublin --jobs 300 --seed 2 --aarr "} + alpha +
                                      " | " REPLAY_PROGRAM
                                      " trace declare - --contention table4"
                                      " --size-rule glomarc:cores=4 --seed 2 -o made.swf",
                                  folder.path());
    ASSERT_EQ(made.status, 0) << made.err;
    const Workload theirs = read_workload((folder / "made.swf").string()).workload;
    const Workload ours = make_glomarc_workload(load, 2, 300).workload;
    ASSERT_EQ(ours.jobs.size(), theirs.jobs.size());
    for (std::size_t i = 0; i < ours.jobs.size(); ++i) {
      const TracedJob our = ours.jobs[i], their = theirs.jobs[i];
      SCOPED_TRACE(number(our.job.id));
      EXPECT_EQ(our.job.id, their.job.id);
      EXPECT_EQ(our.job.submitted, their.job.submitted);
      EXPECT_EQ(our.job.processes, their.job.processes);
      EXPECT_EQ(our.job.estimate, their.job.estimate);
      EXPECT_EQ(our.job.flexibility, their.job.flexibility);
      EXPECT_EQ(our.truth.runtime, their.truth.runtime);
      ASSERT_TRUE(our.job.declaration && their.job.declaration);
      EXPECT_EQ(*our.job.declaration, *their.job.declaration);
    }
  }
}

TEST(GlomarcWorkload, ClassesEndAtTenMinutesAndThreeHours) {
  EXPECT_EQ(glomarc_class_of(std::chrono::seconds{600}), "short");
  EXPECT_EQ(glomarc_class_of(std::chrono::seconds{601}), "medium");
  EXPECT_EQ(glomarc_class_of(std::chrono::hours{3}), "medium");
  EXPECT_EQ(glomarc_class_of(std::chrono::seconds{10'801}), "long");
}

TEST(GlomarcWorkload, HasTheSharesOfTable5) {
  const Figures facts = facts_of(make_glomarc_workload("W1", 1, 10'000));
  for (const auto& [name, most] : {std::pair{"short, jobs", 2}, std::pair{"medium, jobs", 2},
                                   std::pair{"long, jobs", 2}, std::pair{"long, work", 3}, std::pair{"serial", 2}})
    EXPECT_NEAR(facts.at(name), glomarc_printed().at("table 5", "workloads", name), most) << name;
  EXPECT_NEAR(facts.at("medium and long, jobs"), glomarc_paper::kEligiblePercent, 2);
}

// ---- use of nodes and cores ----

constexpr Instant at(int s) { return Instant{std::chrono::seconds{s}}; }

log::Submitted submitted(int id) {
  log::Submitted made{};
  made.job.id = JobId{id};
  return made;
}

// One process on each of the named cores.
Allocation on(std::initializer_list<int> cores) {
  Allocation allocation;
  allocation.cores = static_cast<CoreCount>(cores.size());
  for (const int core : cores) allocation.named.push_back({CoreId{core}, 1});
  return allocation;
}

// Two nodes of two CPUs of two cores: cores 0 to 3 and 4 to 7. High load: two jobs wait.
//   0 s  job 1 comes and starts on cores 0, 2, 4, 6 (both nodes)
//  10 s  jobs 2 and 3 come: high load
//  20 s  job 2 starts beside job 1 on cores 1, 3 (node 0): one waits
//  30 s  job 1 is suspended: node 1 is empty
//  40 s  job 4 comes: high load
//  50 s  job 2 ends, job 1 is resumed
//  70 s  job 1 ends, job 3 starts on core 0; job 4 is cancelled
//  80 s  job 3 ends
void worked_by_hand(NodeUseRecord& observer) {
  log::Header header;
  header.set("machine", "2x2x2");
  JobEnd cancelled;
  cancelled.outcome = Outcome::kCancelled;
  const std::vector<log::Record> records{
      {at(0), submitted(1)},
      {at(0), log::Launched{JobId{1}, on({0, 2, 4, 6})}},
      {at(10), submitted(2)},
      {at(10), submitted(3)},
      {at(20), log::Launched{JobId{2}, on({1, 3})}},
      {at(30), log::SuspendDone{JobId{1}}},
      {at(40), submitted(4)},
      {at(50), log::Finished{JobId{2}, {}}},
      {at(50), log::ResumeDone{JobId{1}}},
      {at(70), log::Finished{JobId{1}, {}}},
      {at(70), log::Launched{JobId{3}, on({0})}},
      {at(70), log::Finished{JobId{4}, cancelled}},
      {at(80), log::Finished{JobId{3}, {}}},
  };
  test::feed(header, records, observer);
}

TEST(NodeUse, IsThatOfAScheduleWorkedByHand) {
  NodeUseRecord record{2};
  worked_by_hand(record);
  constexpr std::int64_t kSecond = 1'000'000;
  EXPECT_EQ(record.whole().time, std::chrono::seconds{80});
  // 30 s with 2 nodes, 20 s with 1 (job 2), 20 s with 2, 10 s with 1.
  EXPECT_EQ(record.whole().nodes, (30 * 2 + 20 * 1 + 20 * 2 + 10 * 1) * kSecond);
  EXPECT_DOUBLE_EQ(record.node_use(record.whole()), 130.0 / (80 * 2));
}

TEST(NodeUse, HasTwoPhasesOfHighLoad) {
  NodeUseRecord record{2};
  worked_by_hand(record);
  // 10 to 20 s with 2 nodes; 40 to 50 s with 1, 50 to 70 s with 2: suspended jobs do not wait.
  EXPECT_EQ(record.phases(), 2);
  EXPECT_EQ(record.high_load().time, std::chrono::seconds{40});
  EXPECT_DOUBLE_EQ(record.node_use(record.high_load()), (10.0 * 2 + 10 * 1 + 20 * 2) / (40 * 2));
}

TEST(NodeUse, NeedsNodes) {
  log::Header header;
  header.set("machine", "flat:8");
  test::Followed<NodeUseRecord> record{2};
  EXPECT_THROW(record.header(header), InputError);
}

// ---- groups ----

TEST(Groups, AreCountedByCaseAndTheirJobsOnce) {
  GroupRecord groups;
  groups.on_record({at(0), GroupFormed{JobId{1}, {JobId{2}, JobId{3}}, 1, 0.5}}, nullptr);
  groups.on_record({at(1), GroupFormed{JobId{4}, {JobId{3}}, 3, 0.5}}, nullptr);
  EXPECT_EQ(groups.groups(), 2);
  EXPECT_EQ(groups.groups(1), 1);
  EXPECT_EQ(groups.groups(2), 0);
  EXPECT_EQ(groups.groups(3), 1);
  EXPECT_EQ(groups.jobs(), 5);
  EXPECT_EQ(groups.members(), 4u);
}

// ---- figures of a run ----

// The log of a run with jobs of each class: T = 10 s, 1,000 s and 20,000 s. The machine belongs to the medium jobs from
// 60 to 1,080 s and from 3,660 s on, and to the long ones from 1,140 to 3,600 s.
TEST(GlomarcRecord, HasTheFiguresOfARunWorkedByHand) {
  GlomarcWorkload made;
  made.facts = {{.drawn = 1, .runtime_s = 10, .group = "short"},
                {.drawn = 1, .runtime_s = 1'000, .group = "medium"},
                {.drawn = 1, .runtime_s = 20'000, .group = "long"}};
  GlomarcRecord record;
  log::Header header;
  header.set("machine", "2x2x2");
  history::Follower follower{record.observers()};
  follower.header(header);
  const auto say = [&follower](int s, log::What what) { follower.record({at(s), std::move(what)}); };
  say(0, submitted(1));
  say(0, submitted(2));
  say(0, ClassAssigned{JobId{2}, JobClass::kMedium});
  say(0, ResponseExpected{JobId{2}, std::chrono::seconds{1'000}});
  say(0, SliceBegun{JobClass::kMedium, at(60), at(1'080)});
  say(60, log::Launched{JobId{1}, on({0})});
  say(60, log::Launched{JobId{2}, on({4})});
  say(105, log::Finished{JobId{1}, {}});
  say(1'000, submitted(3));
  say(1'000, ClassAssigned{JobId{3}, JobClass::kLong});
  say(1'000, ResponseExpected{JobId{3}, std::chrono::seconds{20'000}});
  say(1'080, SliceBegun{JobClass::kLong, at(1'140), at(3'600)});
  say(1'080, log::SuspendDone{JobId{2}});
  say(1'140, log::Launched{JobId{3}, on({0})});
  say(1'140, GroupFormed{JobId{3}, {JobId{2}}, 1, 0.5});
  say(3'600, SliceBegun{JobClass::kMedium, at(3'660), at(4'680)});
  say(3'660, log::ResumeDone{JobId{2}});
  say(3'900, log::Finished{JobId{2}, {}});
  say(21'000, log::Finished{JobId{3}, {}});
  const Figures figures = record.figures(made);
  const auto expect = [&](const char* name, double value) { EXPECT_DOUBLE_EQ(figures.at(name), value) << name; };
  expect("jobs all", 3);
  expect("jobs medium and long", 2);
  expect("relative 30 medium", 3.9);
  expect("relative 30 short", 3.5);  // 105 s over the bound of 30 s
  expect("relative 600 short", 1);   // never below 1
  expect("relative 30 all", (3.5 + 3.9 + 1) / 3);
  expect("wait medium", 60);
  expect("suspended medium", 3'660 - 1'080);
  expect("delay medium", 1.26);  // 1,020 s of the first slice and 240 s of the second, of 1,000 s expected
  expect("delay long", 2'460.0 / 20'000);
  expect("delay 95 % all", 0.123 + 0.95 * (1.26 - 0.123));  // of two
  expect("past the end", 20.0);
  expect("groups", 1);
  expect("group size", 2);
  expect("in group", 1);
  expect("groups 1", 1);
  expect("groups 2", 0);
  expect("groups 3", 0);
  expect("high load", 0);  // never twelve jobs wait
  EXPECT_TRUE(std::isnan(figures.at("core use high")));
}

// ---- the study ----

TEST(GlomarcStudy, EveryPolicyOfItsCellsCanBeMade) {
  std::set<std::string> texts;
  for (const Cell& cell : glomarc_cells(kGlomarcOptions)) texts.insert(cell.policy);
  EXPECT_EQ(texts.size(), 7u + 2 + 6 + 3 * 7);  // variants, overheads, slack factors, block sizes of three
  for (const std::string& text : texts) EXPECT_NO_THROW(static_cast<void>(make_policy(text))) << text;
}

TEST(GlomarcStudy, IsTheSameWithTwoJobs) {
  constexpr SeededOptions kSmall{.seeds = 2, .jobs = 60, .quick = true};
  const auto result = [&](const Surroundings& surroundings) { return reproduce_glomarc(kSmall, surroundings); };
  const Result one = result({}), two = result({.jobs = 2});
  EXPECT_EQ(to_html(one), to_html(two));
  EXPECT_EQ(to_csv(one), to_csv(two));
  EXPECT_EQ(to_csv(one).find("inf"), std::string::npos);
}

// Our own reference: the figures of an independent implementation of the same policies on the same jobs, arithmetic means
// over three seeds.
struct GlomarcReference {
  std::string_view variant;
  double medium, long_jobs, all, all_600, high_load;
};
constexpr std::array<GlomarcReference, 4> kGlomarcReferences{{{"SSP", 9.72, 6.23, 15.65, 4.23, 0.511},
                                                              {"CSTWS", 7.06, 3.45, 12.65, 3.12, 0.585},
                                                              {"CST", 6.69, 3.31, 12.44, 3.02, 0.595},
                                                              {"GLTS", 6.50, 3.35, 12.35, 2.99, 0.603}}};

class GlomarcW1 : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<Cell> cells = glomarc_cells(kGlomarcOptions);
    std::erase_if(cells, [](const Cell& cell) {
      return std::ranges::none_of(kGlomarcReferences,
                                  [&](const auto& of) { return cell.name == fmt::format("W1/{}", of.variant); });
    });
    found_ = new Findings{run_glomarc_study(kGlomarcOptions, cells, {.jobs = 2})};
  }
  static void TearDownTestSuite() { delete found_; }

  static double mean(std::string_view variant, std::string_view figure) {
    return found_->mean("W1/{}/{}", variant, figure);
  }
  static inline Findings* found_ = nullptr;
};

TEST_F(GlomarcW1, IsWhatAnIndependentImplementationFound) {
  constexpr double kWithin = 0.1;
  for (const GlomarcReference& reference : kGlomarcReferences) {
    const auto expect_near = [&](const char* figure, double expected) {
      EXPECT_NEAR(mean(reference.variant, figure), expected, kWithin * expected) << reference.variant << " " << figure;
    };
    expect_near("relative 30 medium", reference.medium);
    expect_near("relative 30 long", reference.long_jobs);
    expect_near("relative 30 all", reference.all);
    expect_near("relative 600 all", reference.all_600);
    expect_near("core use high", reference.high_load);
  }
}

TEST_F(GlomarcW1, SharingNodesIsBetterThanSpaceSharingAndTheBestMatchThanTheFirst) {
  for (const char* figure : {"relative 600 medium", "relative 600 long", "relative 600 all"}) {
    SCOPED_TRACE(figure);
    EXPECT_GT(mean("SSP", figure), mean("CSTWS", figure));
    EXPECT_GT(mean("CSTWS", figure), mean("CST", figure));
    EXPECT_GT(mean("CSTWS", figure), mean("GLTS", figure));
    EXPECT_LE(mean("GLTS", figure), 1.03 * mean("CST", figure));
  }
}

TEST_F(GlomarcW1, GroupsAndDelaysAreThoseOfTheReference) {
  EXPECT_NEAR(mean("GLTS", "groups"), 700, 70);
  EXPECT_NEAR(mean("GLTS", "group size"), 2.40, 0.1);
  EXPECT_NEAR(mean("GLTS", "in group"), 0.42, 0.03);
  EXPECT_NEAR(mean("GLTS", "delay medium and long"), 0.96, 0.05);
  EXPECT_NEAR(mean("GLTS", "delay 75 % medium and long"), 1.25, 0.05);
  EXPECT_NEAR(mean("GLTS", "delay 95 % medium and long"), 1.37, 0.05);
  EXPECT_EQ(mean("SSP", "groups"), 0);
}

}  // namespace
}  // namespace replay::study
