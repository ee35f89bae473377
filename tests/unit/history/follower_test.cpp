// What a follower keeps of a run, what it tells observers, and what it refuses.
#include "scheduler/history/follower.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/history/job_numbers.hpp"
#include "tests/support/followed.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/metrics/records.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::history {
namespace {

using metrics::Records;
using test::core_loads;

std::string why_refused(const Records& records) {
  Follower follower;
  try {
    records.feed(follower);
  } catch (const log::BadRecord& error) {
    return error.why();
  }
  return "taken";
}

TEST(Follower, RefusesWhatCannotBeTrue) {
  const auto one = [] { return Records("flat:4").submit(0, 1, 2, 9); };
  const auto running = [&] { return one().launch(0, 1, 2); };
  const auto asleep = [&] { return running().suspended(1, 1); };
  const std::array<std::pair<Records, const char*>, 28> cases{{
      {Records("").submit(0, 1, 1, 1), "expected a header '#machine ...' such as flat:128, found none"},
      {Records("2x1x1").header("hosts", "left"),
       "header '#hosts': expected a host for each of the 2 nodes of 2x1x1, found 1"},
      {Records("2x1x1").header("hosts", "left  right"),
       "header '#hosts': expected names of hosts with a blank between them, found ''"},
      {Records("2x1x1").header("hosts", "left right\""),
       "header '#hosts': expected names of hosts with a blank between them, found 'right\"'"},
      {Records("flat:2").header("hosts", "left right"), "header '#hosts': expected a machine of nodes, found flat:2"},
      {Records("flat:2").header("stated-cores", "3"),
       "header '#stated-cores': expected a count of cores from 1 to those of flat:2, found '3'"},
      {Records("flat:2").header("stated-cores", "two"),
       "header '#stated-cores': expected a count of cores from 1 to those of flat:2, found 'two'"},
      {one().submit(1, 1, 2, 9), "job 1 is submitted twice, again at 1 s"},
      {running().finish(2, 1).submit(3, 1, 2, 9), "job 1 is submitted twice, again at 3 s"},
      {running().launch(1, 1, 2), "job 1 is launched twice, again at 1 s"},
      {one().add(1, log::Launched{JobId{1}, {2, 1, {}}, Instant{std::chrono::seconds{2}}}),
       "job 1 is adopted at 1 s, expected that it was started before, found 2 s"},
      {Records("flat:4").launch(1, 7, 2), "job 7 is launched at 1 s, but it was never submitted"},
      {running().finish(2, 1).launch(3, 1, 2), "job 1 is launched at 3 s, but it has ended"},
      {running().finish(2, 1).finish(3, 1), "job 1 is finished at 3 s, but it has ended"},
      {Records("flat:4").finish(3, 5), "job 5 is finished at 3 s, but it was never submitted"},
      {one().resized(1, 1, 1, 2), "job 1 is resized at 1 s, but it does not run"},
      {asleep().resized(2, 1, 1, 2), "job 1 is resized at 2 s, but it does not run"},
      {one().suspended(1, 1), "job 1 is suspended at 1 s, but it does not run"},
      {asleep().suspended(2, 1), "job 1 is suspended at 2 s, but it does not run"},
      {running().resumed(1, 1), "job 1 is resumed at 1 s, but it is not suspended"},
      {Records("flat:4").add(1, log::KillDecided{JobId{3}, {}}), "job 3 is killed at 1 s, but it was never submitted"},
      {running().finish(2, 1).add(3, log::Extended{JobId{1}, {}}), "job 1 is extended at 3 s, but it has ended"},
      {Records("flat:4").add(1, log::Failed{JobId{3}, "resize", "x"}),
       "job 3 is told of at 1 s, but it was never submitted"},
      {running().finish(2, 1).add(3, log::Failed{JobId{1}, "resize", "x"}), "taken"},
      {one().launch(0, 1, 5), "job 1 has 5 cores, the machine has 4"},
      {one().add(0, log::StartDecided{JobId{1}, {5, 1, {}}}), "job 1 has 5 cores, the machine has 4"},
      {running().submit(0, 2, 3, 9).launch(0, 2, 3), "job 2 gets 3 cores at 0 s; free: 2"},
      {asleep().submit(1, 2, 3, 9).launch(1, 2, 3).resumed(2, 1), "job 1 gets 2 cores at 2 s; free: 1"},
  }};
  for (const auto& [records, why] : cases) EXPECT_EQ(why_refused(records), why);
}

TEST(Follower, RefusesCoresThatOthersHold) {
  const auto jobs = [](int count) {
    Records records("1x1x4");
    for (int job = 1; job <= count; ++job) records.submit(0, job, 2, 9);
    return records;
  };
  EXPECT_EQ(why_refused(jobs(1).launch_on(0, 1, {{3, 1}, {4, 1}})), "job 1 has core 4, the machine has 4 cores");
  EXPECT_EQ(why_refused(jobs(2).launch_on(0, 1, {{0, 1}, {1, 1}}).launch_on(1, 2, {{1, 1}, {2, 1}})),
            "job 2 comes to core 1 at 1 s, which another job has");
  EXPECT_EQ(why_refused(jobs(2).launch_on(0, 1, {{0, 1}, {1, 1}}).launch_shared(1, 2, {{1, 1}, {2, 1}})),
            "job 2 comes to core 1 at 1 s, which another job has");
  EXPECT_EQ(why_refused(jobs(2).launch_shared(0, 1, {{0, 1}, {1, 1}}).launch_on(1, 2, {{1, 1}, {2, 1}})),
            "job 2 comes to core 1 at 1 s, which another job has");
  Records three = jobs(3);
  for (int job = 1; job <= 3; ++job) three.launch_shared(job, job, {{0, 2}});
  EXPECT_EQ(why_refused(three), "job 3 comes to core 0 at 3 s, which two jobs have");
  EXPECT_EQ(
      why_refused(
          jobs(2).launch_on(0, 1, {{0, 1}, {1, 1}}).suspended(1, 1).launch_on(1, 2, {{0, 1}, {1, 1}}).resumed(2, 1)),
      "job 1 comes to core 0 at 2 s, which another job has");
  EXPECT_EQ(why_refused(jobs(2)
                            .launch_on(0, 1, {{0, 1}, {1, 1}})
                            .resized_on(1, 1, {{1, 2}}, 2)
                            .launch_on(1, 2, {{0, 1}, {2, 1}})
                            .finish(2, 1)
                            .resized_on(3, 2, {{0, 1}, {1, 1}}, 1)
                            .finish(4, 2)),
            "taken");
}

TEST(Follower, RefusesNodesThatCannotBe) {
  const auto on_two_nodes = [] { return Records("2x1x2"); };
  const auto change = [](int node, NodeState state, double until, const char* reservation) {
    return NodeChange{NodeId{node}, state, until < 0 ? kNever : Instant{from_seconds(until)}, "", reservation};
  };
  using enum NodeState;
  const std::array<std::pair<Records, const char*>, 8> cases{{
      {Records("flat:4").node(3, 0, kDown), "node 0 is down at 3 s, the machine is flat:4"},
      {on_two_nodes().node(3, 2, kDrained), "node 2 is drained at 3 s, the machine is 2x1x2"},
      {on_two_nodes().node(3, 1, kReserved), "node 1 is reserved at 3 s: expected the name of a reservation, found ''"},
      {on_two_nodes().add(3, change(1, kReserved, -1, "a b")),
       "node 1 is reserved at 3 s: expected the name of a reservation, found 'a b'"},
      {on_two_nodes().add(3, change(1, kDown, -1, "course")),
       "node 1 is down at 3 s: expected no name of a reservation, found 'course'"},
      {on_two_nodes().add(3, change(1, kDown, 3, "")),
       "node 1 is down at 3 s: expected no end or a later one, found 3 s"},
      {on_two_nodes().add(3, change(1, kUp, 4, "")), "node 1 is up at 3 s: expected no end, found 4 s"},
      {on_two_nodes().add(3, change(1, kReserved, 4, "course")), "taken"},
  }};
  for (const auto& [records, why] : cases) EXPECT_EQ(why_refused(records), why);
}

TEST(Follower, RefusesJobsThatComeToClosedNodes) {
  using enum NodeState;
  const auto job = [](double drained_at) { return Records("2x1x2").submit(0, 1, 2, 9).node(drained_at, 0, kDrained); };
  const auto runs = [] { return Records("2x1x2").submit(0, 1, 2, 9).launch_on(0, 1, {{0, 1}, {1, 1}}); };
  EXPECT_EQ(why_refused(job(1).launch_on(2, 1, {{1, 1}, {2, 1}})),
            "job 1 comes to core 1 at 2 s, of node 0, which is drained");
  EXPECT_EQ(why_refused(job(1).launch_on(2, 1, {{2, 1}, {3, 1}})), "taken");
  EXPECT_EQ(why_refused(job(1).node(2, 0, kUp).launch_on(2, 1, {{0, 1}, {1, 1}})), "taken");
  EXPECT_EQ(why_refused(runs().node(1, 1, kSilent).resized_on(2, 1, {{1, 1}, {2, 1}}, 1)),
            "job 1 comes to core 2 at 2 s, of node 1, which is silent");
  EXPECT_EQ(why_refused(runs().node(1, 0, kDrained).resized_on(2, 1, {{1, 2}}, 2)), "taken");
  EXPECT_EQ(why_refused(runs().suspended(1, 1).node(1, 0, kDrained).resumed(2, 1)), "taken");
  EXPECT_EQ(why_refused(job(1).requeued(1, 1)), "job 1 is requeued at 1 s, but it waits");
}

// Closed cores, and those of them on which no job is, after each record of an instant.
class ClosedCores final : public Observer {
 public:
  void on_load(Instant at, const Load& load) override { seen[seconds(at)] = {load.closed_cores, load.absent_cores}; }
  std::map<double, std::pair<int, int>> seen;
};

TEST(Follower, CountsTheCoresThatAreNotThere) {
  using enum NodeState;
  ClosedCores cores;
  Records("2x1x2")
      .submit(0, 1, 2, 9)
      .launch_on(1, 1, {{1, 1}, {2, 1}})
      .node(2, 0, kDrained)
      .node(3, 0, kDown)
      .suspended(4, 1)
      .resumed(5, 1)
      .node(6, 1, kDown)
      .finish(7, 1, metrics::ended(Outcome::kLost))
      .node(8, 0, kUp)
      .node(9, 1, kUp)
      .feed(cores);
  EXPECT_EQ(cores.seen, (std::map<double, std::pair<int, int>>{{0, {0, 0}},
                                                               {1, {0, 0}},
                                                               {2, {2, 1}},
                                                               {3, {2, 1}},
                                                               {4, {2, 2}},
                                                               {5, {2, 1}},
                                                               {6, {4, 2}},
                                                               {7, {4, 4}},
                                                               {8, {2, 2}},
                                                               {9, {0, 0}}}));
}

// Writes down what it is told.
class Told final : public Observer {
 public:
  void on_begin(const log::Header& /*header*/, const Machine& machine) override { text += machine.to_text(); }
  void on_time(Instant now) override { text += fmt::format(" | {}:", to_text(now)); }
  void on_submit(Instant /*at*/, const JobState& job) override { text += fmt::format(" +{}", number(job.id)); }
  void on_change(Instant /*at*/, const Before& before, const JobState& job) override {
    constexpr std::string_view kPhases[] = {"waits", "runs", "sleeps"};
    text += fmt::format(" {}:{}/{}->{}/{}", number(job.id), kPhases[static_cast<std::size_t>(before.phase)],
                        before.held.cores, kPhases[static_cast<std::size_t>(job.phase)], job.held.cores);
  }
  void on_end(Instant /*at*/, const JobState& job, const JobEnd& /*end*/) override {
    text += fmt::format(" -{}", number(job.id));
  }
  void on_load(Instant /*at*/, const Load& load) override {
    text += fmt::format(" ({} {} {} {})", load.queued, load.running, load.suspended, load.busy_cores);
  }
  void on_record(const log::Record& record, const JobState* job) override {
    text += fmt::format(" {}{}", log::word_of(record.what), job == nullptr ? "" : "!");
  }
  [[nodiscard]] log::Kinds records() const override { return log::kinds<log::Finished, log::Note>(); }
  std::string text;
};

TEST(Follower, TellsOfARequeueAsAChangeToWaiting) {
  Told told;
  Records("2x1x2")
      .submit(0, 7, 2, 9)
      .launch_on(0, 7, {{0, 1}, {1, 1}})
      .node(2, 0, NodeState::kDown)
      .requeued(2, 7)
      .launch_on(3, 7, {{2, 1}, {3, 1}})
      .feed(told);
  EXPECT_EQ(told.text,
            "2x1x2 +7 (1 0 0 0) 7:waits/0->runs/2 (0 1 0 2) | 2: (0 1 0 2) 7:runs/2->waits/0 (1 0 0 0) | 3: "
            "7:waits/0->runs/2 (0 1 0 2)");
}

TEST(Follower, TellsOfTimeThenTheJobThenTheLoadThenTheRecord) {
  Told told;
  Records("flat:4")
      .submit(0, 7, 4, 9)
      .launch(0, 7, 4)
      .resized(2, 7, 2, 2)
      .suspended(3, 7)
      .add(3.5, log::Note{"so"})
      .resumed(4, 7)
      .finish(5, 7)
      .feed(told);
  EXPECT_EQ(told.text,
            "flat:4 +7 (1 0 0 0) 7:waits/0->runs/4 (0 1 0 4) | 2: 7:runs/4->runs/2 (0 1 0 2) | 3: 7:runs/2->sleeps/2 "
            "(0 0 1 0)"
            " | 3.5: note | 4: 7:sleeps/2->runs/2 (0 1 0 2) | 5: -7 (0 0 0 0) finish!");
}

// Has what any observer of loads has, and is called for nothing else.
class OnlyLoad final : public Observer {
 public:
  void on_load(Instant /*at*/, const Load& load) override { last = load; }
  Load last;
};

TEST(Follower, CallsWhatAnObserverHasAndNothingElse) {
  OnlyLoad load;
  const ObserverRef of{&load};
  EXPECT_TRUE(of.heeds_load);
  EXPECT_FALSE(of.heeds_jobs || of.heeds_time);
  Told told;
  const ObserverRef all{&told};
  EXPECT_TRUE(all.heeds_load && all.heeds_jobs && all.heeds_time);
}

// The load of each instant, counted anew from the jobs: by a loop over all records so far.
class Recounted {
 public:
  void take(const log::Record& record) { log::visit(Taker{*this}, record.what); }
  [[nodiscard]] Load load() const {
    Load sum;
    std::set<CoreId> busy;
    for (const auto& [id, job] : jobs_) {
      sum.queued += job.phase == Phase::kWaiting;
      sum.running += job.phase == Phase::kRunning;
      sum.suspended += job.phase == Phase::kSuspended;
      if (job.phase == Phase::kWaiting) sum.waiting_processors += job.processes;
      if (job.phase != Phase::kRunning) continue;
      sum.processes += job.held.processes != 0 ? job.held.processes : job.processes;
      if (job.held.named.empty()) sum.busy_cores += job.held.cores;
      for (const CoreLoad& core : job.held.named) busy.insert(core.core);
    }
    sum.busy_cores += static_cast<std::int32_t>(busy.size());
    return sum;
  }

 private:
  struct Seen {
    Phase phase = Phase::kWaiting;
    ProcessCount processes = 0;
    Allocation held;
  };
  struct Taker {
    Recounted& self;
    void operator()(const log::Submitted& what) const { self.jobs_[what.job.id].processes = what.job.processes; }
    void operator()(const log::Launched& what) const {
      self.jobs_[what.job] = {Phase::kRunning, self.jobs_[what.job].processes, what.allocation};
    }
    void operator()(const log::ResizeDone& what) const { self.jobs_[what.job].held = what.allocation; }
    void operator()(const log::SuspendDone& what) const { self.jobs_[what.job].phase = Phase::kSuspended; }
    void operator()(const log::ResumeDone& what) const { self.jobs_[what.job].phase = Phase::kRunning; }
    void operator()(const log::Requeued& what) const { self.jobs_[what.job].phase = Phase::kWaiting; }
    void operator()(const log::Finished& what) const { self.jobs_.erase(what.job); }
  };
  std::map<JobId, Seen> jobs_;
};

TEST(Follower, HasTheLoadThatACountOfAllJobsHas) {
  const std::array<std::pair<const char*, const char*>, 5> runs{{
      {"easy", "flat:16"},
      {"fcfs-malleable", "2x2x4"},
      {"easy-malleable:expand=eager", "flat:16"},
      {"g-lomarc-ts:short=1s", "2x2x4"},
      {"scojo-pect:interval=45s:short-slice=7s:overhead=2s:short=2s:medium=60s:inner={g-lomarc-ts:short=2s}", "2x2x4"},
  }};
  std::set<std::int32_t> suspended;
  for (const auto& [policy, machine] : runs)
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto log = test::simulate(policy, Machine::parse(machine), test::random_moldable_jobs(seed, 60, 16));
      Follower follower;
      log::Header header;
      header.set("machine", machine);
      follower.header(header);
      Recounted counted;
      for (const log::Record& record : log.records()) {
        follower.record(record);
        counted.take(record);
        ASSERT_EQ(follower.load(), counted.load()) << policy << " seed " << seed << " at " << to_text(record.at);
        suspended.insert(follower.load().suspended);
      }
      EXPECT_EQ(follower.load(), Load{});
    }
  EXPECT_GT(suspended.size(), 2u) << "or no job was suspended";
}

TEST(JobNumbers, AreASetWhateverTheirOrder) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 chance{seed};
    JobNumbers numbers;
    std::set<std::int64_t> known;
    for (int i = 0; i < 400; ++i) {
      const auto id = static_cast<std::int64_t>(chance() % 300) - 50;
      ASSERT_EQ(numbers.contains(JobId{id}), known.contains(id));
      ASSERT_EQ(numbers.add(JobId{id}), known.insert(id).second) << id;
      ASSERT_TRUE(numbers.contains(JobId{id}));
    }
  }
  JobNumbers ends;
  for (const std::int64_t id : {INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1}) EXPECT_TRUE(ends.add(JobId{id}));
  EXPECT_FALSE(ends.add(JobId{INT64_MAX}));
  EXPECT_FALSE(ends.contains(JobId{0}));
}

}  // namespace
}  // namespace replay::history
