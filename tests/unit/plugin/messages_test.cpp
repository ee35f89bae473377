// Tests of the protocol between replay and a policy that is a program, line by line: only changes are sent, and they
// are enough to reconstruct the view.

#include "scheduler/plugin/messages.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "scheduler/policy/registry.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

using nlohmann::json;

json running_of(const RunningJob& job) {
  return {{"processes", job.processes()},
          {"cores", job.allocation.cores},
          {"mpl", job.allocation.mpl},
          {"estimated_end", job.estimated_end == kNever ? json{} : json(seconds(job.estimated_end))},
          {"malleable", job.is_malleable()},
          {"launched", job.is_launched()},
          {"suspended", job.is_suspended()}};
}

// Passes another policy's answers on, and checks that the view can be reconstructed from the lines alone.
class Listener final : public Policy {
 public:
  explicit Listener(const std::string& inner) : inner_(make_policy(inner).policy) {}

  void decide(const ClusterView& view, Decisions& out) override {
    const json pass = json::parse(told_.pass_line(view));
    for (const json& event : pass.at("events")) take(event);
    EXPECT_EQ(pass.at("now"), seconds(view.now));
    EXPECT_EQ(pass.at("free"), view.free.total());
    EXPECT_EQ(pass.at("triggers").size(), view.triggers.size());
    expect_same(view);
    inner_->decide(view, out);
    ++passes_;
  }
  int passes() const { return passes_; }
  int changes() const { return changes_; }

 private:
  void take(const json& event) {
    const std::int64_t job = event.at("id");
    const std::string kind = event.at("event");
    if (kind == "submitted") {
      EXPECT_FALSE(waiting_.contains(job) || running_.contains(job)) << job;
      waiting_[job] = event;
    } else if (kind == "started") {
      waiting_.erase(job);
      EXPECT_FALSE(running_.contains(job)) << job;
      running_[job] = event;
    } else if (kind == "changed") {
      EXPECT_TRUE(running_.contains(job)) << job;
      running_[job] = event;
      ++changes_;
    } else {
      EXPECT_EQ(kind, "ended");
      EXPECT_EQ(waiting_.erase(job) + running_.erase(job), 1u) << job;
    }
  }
  void expect_same(const ClusterView& view) const {
    ASSERT_EQ(waiting_.size(), view.waiting.size());
    for (const Job* job : view.waiting) {
      const json& told = waiting_.at(static_cast<std::int64_t>(job->id));
      EXPECT_EQ(told.at("processes"), job->processes);
      EXPECT_EQ(told.at("estimate"), seconds(job->estimate));
      EXPECT_EQ(told.at("submitted"), seconds(job->submitted));
    }
    std::size_t running = 0;
    for (const RunningJob* job : view.running.by_start()) {
      if (job->is_gone_in_plan()) continue;  // it is ending: its cores count as free already
      ++running;
      const json& told = running_.at(static_cast<std::int64_t>(job->job->id));
      const json expected = running_of(*job);
      for (const auto& [key, value] : expected.items())
        EXPECT_EQ(told.at(key), value) << key << " of job " << static_cast<std::int64_t>(job->job->id);
    }
    EXPECT_EQ(running_.size(), running);
  }

  std::unique_ptr<Policy> inner_;
  plugin::ToldSoFar told_;
  std::map<std::int64_t, json> waiting_, running_;
  int passes_ = 0;
  int changes_ = 0;
};

TEST(PassLine, ChangesAreEnoughToKnowTheView) {
  for (const char* policy : {"fcfs-malleable:expand=eager", "plan:order=sjf"})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Listener listener{policy};
      (void)simulate(listener, cores(16), random_jobs(seed, 200, 16), "utrera");
      EXPECT_GT(listener.passes(), 100);
      if (std::string_view{policy}.starts_with("fcfs")) {
        EXPECT_GT(listener.changes(), 0) << "jobs were resized";
      }
    }
}

// A view of two cores with one waiting job and one running job.
class OnePass : public testing::Test {
 protected:
  OnePass() {
    waiting_.insert(waits_.job);
    free_.take({2, 1, {}});
    RunningJob running;
    running.job = &runs_.job;
    running.allocation = {2, 1, {}};
    running.estimated_end = at(2500ms);
    running.state.physical = Physical::kOnCores;
    running.malleability = Malleability::kMalleable;
    runs_now_ = &running_.insert(RunningJob{running});
  }
  std::string pass(Instant now) {
    const Trigger triggers[] = {{TriggerKind::kSubmit, &waits_.job}, {TriggerKind::kWake, nullptr}};
    return told_.pass_line({now, machine_, free_, waiting_, running_, triggers});
  }
  std::string refusal(const std::string& line) {
    Decisions out;
    const ClusterView view{at(1s), machine_, free_, waiting_, running_, {}};
    plugin::AnswerBook book{view, out};
    try {
      plugin::read_answer(line, book);
    } catch (const plugin::Refused& refused) {
      return refused.what();
    }
    return "";
  }

  Machine machine_ = cores(4);
  FreeCores free_{machine_};
  const TracedJob runs_ = job(static_cast<char>(1)).cores(2).estimated(2500ms);
  const TracedJob waits_ = job(static_cast<char>(2)).cores(3).arrives(1s).runs(2s);
  WaitingQueue waiting_;
  RunningSet running_;
  RunningJob* runs_now_ = nullptr;
  plugin::ToldSoFar told_;
};

TEST_F(OnePass, LooksLikeThis) {
  EXPECT_EQ(
      pass(at(1s)),
      R"({"type":"pass","now":1.0,"free":2,"triggers":[{"kind":"submit","id":2},{"kind":"wake"}],"events":[)"
      R"({"event":"started","id":1,"started":0.0,"estimated_end":2.5,"processes":2,"cores":2,"mpl":1,"launched":true,)"
      R"("malleable":true,"suspended":false,"cpu_use":1.0,"adopted":true},)"
      R"({"event":"submitted","id":2,"submitted":1.0,"processes":3,"estimate":2.0,"flexibility":"malleable",)"
      R"("can_shrink":true,"cpu_use":1.0,"network_overhead":0.0,"user":-1,"group":-1,"queue":-1,)"
      R"("user_priority":0.0,"political_priority":0.0}]})");
}

TEST_F(OnePass, TellsNothingTwice) {
  (void)pass(at(1s));
  EXPECT_EQ(json::parse(pass(at(1s))).at("events"), json::array());
  running_.set_estimated_end(*runs_now_, kNever);
  const json changed = json::parse(pass(at(1s))).at("events");
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].at("event"), "changed");
  EXPECT_TRUE(changed[0].at("estimated_end").is_null());
  waiting_.remove(waits_.job);
  running_.erase(*runs_now_);
  EXPECT_EQ(json::parse(pass(at(2s))).at("events"),
            json::parse(R"([{"event":"ended","id":1},{"event":"ended","id":2}])"));
}

TEST_F(OnePass, TellsOnceWhatStandsInThePlaceOfAnAnswer) {
  (void)pass(at(1s));
  told_.tell_what_stands(R"([{"start":2}])");
  EXPECT_EQ(json::parse(pass(at(2s))).at("stands"), json::parse(R"([{"start":2}])"));
  EXPECT_FALSE(json::parse(pass(at(3s))).contains("stands"));
}

TEST(Answers, DecideTheSameWhateverTheyNote) {
  EXPECT_EQ(plugin::actions_of(R"({"actions":[{"note":"free: 2"},{"start": 1},{"start":2,"mpl":2}]})"),
            R"([{"start":1},{"start":2,"mpl":2}])");
  EXPECT_EQ(plugin::actions_of(R"({"type":"answer","actions":[]})"), "[]");
  for (const char* line : {"", "[]", R"({"actions":1})", R"({"error":"full"})", R"({"act":[]})"})
    EXPECT_EQ(plugin::actions_of(line), std::nullopt) << line;
}

TEST_F(OnePass, TakesEveryAction) {
  EXPECT_EQ(refusal(R"({"actions":[]})"), "");
  EXPECT_EQ(refusal(R"({"type":"answer","actions":[{"resize":1,"mpl":2},{"start":2}]})"), "");
  EXPECT_EQ(refusal(R"({"actions":[{"suspend":1},{"start":2},{"wake_at":1.5},{"note":"made room"}]})"), "");
  EXPECT_EQ(refusal(R"({"actions":[{"kill":1},{"start":2,"mpl":3}]})"), "");
}

TEST_F(OnePass, RefusesWhatCannotBe) {
  const auto expect = [&](const char* actions, const char* words) {
    const std::string text = refusal(std::string{R"({"actions":[)"} + actions + "]}");
    EXPECT_NE(text.find(words), std::string::npos) << actions << " says: " << text;
  };
  expect(R"({"start":2})", "it needs 3 cores, and 2 are free");
  expect(R"({"start":2,"mpl":4})", "expected mpl in 1..3, found 4");
  expect(R"({"start":2,"processes":2})", "expected 3 processes, as it declares no speedup curve; found 2");
  expect(R"({"start":1})", "expected a waiting job, this one runs");
  expect(R"({"start":99999999999})", "none of this number");
  expect(R"({"start":2.5})", "expected a whole number as 'start'");
  expect(R"({"start":2,"mpl":3000000000})", "expected a whole number as 'mpl'");
  expect(R"({"resize":1})", "expected a field 'mpl'");
  expect(R"({"resize":1,"mpl":0})", "expected mpl in 1..2, found 0");
  expect(R"({"resize":2,"mpl":2})", "expected a running job, this one waits");
  expect(R"({"resume":1})", "it is not suspended");
  expect(R"({"suspend":1},{"resume":1})", "found a second");
  expect(R"({"suspend":1},{"kill":1})", "found a second");
  expect(R"({"wake_at":1})", "after now");
  expect(R"({"wake_at":1e300})", "expected seconds as 'wake_at'");
  expect(R"({"note":7})", "expected a text as 'note'");
  expect(R"({"start":2,"resize":1})", "unknown field 'resize'");
  expect(R"(7)", "expected an action with one of start");
  expect(R"({})", "expected an action with one of start");
}

TEST_F(OnePass, ASuspendedJobHoldsNoCoresAndGetsThemBack) {
  runs_now_->state.planned = Planned::kSuspended;
  free_.release({2, 1, {}});
  EXPECT_EQ(refusal(R"({"actions":[{"resume":1}]})"), "");
  EXPECT_NE(refusal(R"({"actions":[{"suspend":1}]})").find("suspended already"), std::string::npos);
  EXPECT_NE(refusal(R"({"actions":[{"resize":1,"mpl":2}]})").find("it is suspended"), std::string::npos);
  EXPECT_NE(refusal(R"({"actions":[{"start":2},{"resume":1}]})").find("needs the 2 cores"), std::string::npos);
}

TEST_F(OnePass, RefusesLinesThatAreNoAnswer) {
  for (const char* line :
       {"", "{", "null", "[]", R"({"action":[]})", R"({"actions":{}})", R"({"actions":[],"more":1})", "\xff\xfe"})
    EXPECT_NE(refusal(line).find(R"(an answer {"actions":[...]})"), std::string::npos) << line;
}

TEST(Hello, NamesTheMachineAndWantsOurVersion) {
  EXPECT_EQ(plugin::hello_line(Machine::parse("2x1x4"), "exec:./p"),
            R"({"type":"hello","protocol":2,"policy":"exec:./p",)"
            R"("machine":{"cores":8,"nodes":2,"cores_per_node":4,"named_cores":true}})");
  EXPECT_EQ(plugin::hello_line(Machine::parse("2x1x4+1x2x1"), "exec:./p"),
            R"({"type":"hello","protocol":2,"policy":"exec:./p",)"
            R"("machine":{"cores":10,"nodes":3,"cores_of_nodes":[4,4,2],"named_cores":true}})");
  EXPECT_NO_THROW(plugin::check_hello(R"({"type":"hello","protocol":2,"name":"mine"})"));
  for (const char* line :
       {"", "hello", R"({"protocol":2})", R"({"type":"hello"})", R"({"type":"hello","protocol":"2"})"})
    EXPECT_THROW(plugin::check_hello(line), plugin::Refused) << line;
}

TEST(Hello, OfAnotherVersionIsRefusedWithBothAndWhatToDo) {
  const auto refusal = [](const std::string& version) -> std::string {
    try {
      plugin::check_hello(R"({"type":"hello","protocol":)" + version + "}");
    } catch (const plugin::Refused& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("1"),
            R"(it speaks version 1 of the protocol, this replay speaks version 2: in version 2 "processes" of a start )"
            R"(is the size and "cores" counts cores: adapt the program and answer "protocol":2 )"
            "(docs/formats/policy-protocol.md, Versions)");
  EXPECT_EQ(refusal("3"),
            "it speaks version 3 of the protocol, this replay speaks version 2: take a newer replay, or a program for "
            "this one");
  EXPECT_EQ(refusal("\"2\""),
            R"(it speaks version "2" of the protocol, this replay speaks version 2: answer "protocol":2)");
}

// Four free cores, and a job of 4 processes that waits.
class WaitingJob : public testing::Test {
 protected:
  Job& job() { return job_; }
  void declare(Declaration declared) { job_.declaration = std::make_shared<const Declaration>(std::move(declared)); }
  json told() {
    WaitingQueue waiting;
    waiting.insert(job_);
    return json::parse(plugin::ToldSoFar{}.pass_line({at(1s), machine_, free_, waiting, running_, {}}))
        .at("events")
        .at(0);
  }
  // What the controller would be asked for, as "processes on cores at mpl", or why not.
  std::string start(const std::string& fields) {
    WaitingQueue waiting;
    waiting.insert(job_);
    const ClusterView view{at(1s), machine_, free_, waiting, running_, {}};
    Decisions out;
    plugin::AnswerBook book{view, out};
    try {
      plugin::read_answer(R"({"actions":[{"start":5)" + fields + "}]}", book);
    } catch (const plugin::Refused& refused) {
      return refused.what();
    }
    const Allocation& allocation = std::get<Start>(out.at(0)).allocation;
    EXPECT_EQ(book.free(), 4 - allocation.cores);
    EXPECT_EQ(allocation.named.size(), 0U) << "the controller chooses the cores";
    return fmt::format("{} on {} at {}", allocation.processes, allocation.cores, allocation.mpl);
  }
  void expect_refused(const std::string& fields, const char* words) {
    EXPECT_NE(start(fields).find(words), std::string::npos) << fields << " says: " << start(fields);
  }

 private:
  Machine machine_ = Machine::parse("2x1x2");
  FreeCores free_{machine_};
  RunningSet running_;
  Job job_ = static_cast<TracedJob>(test::job(static_cast<char>(5)).cores(4)).job;
};

TEST_F(WaitingJob, SaysNothingOfWhatItDoesNotDeclare) {
  const auto expect_none = [](const json& told) {
    for (const char* field :
         {"least", "most", "sizes", "speedup", "curve", "same_cpu_slowdown", "same_node_slowdown", "pair_key"})
      EXPECT_FALSE(told.contains(field)) << field;
  };
  expect_none(told());
  declare({});
  expect_none(told());
}

TEST_F(WaitingJob, SaysWhatItDeclares) {
  declare({.least = 2,
           .most = 16,
           .sizes = {2, 4, 16},
           .speedup = SpeedupCurve{DowneySpeedup{10.5, 1.2}},
           .same_cpu_slowdown = 1.3,
           .same_node_slowdown = 0.95,
           .pair_key = 18446744073709551615U});
  const json job = told();
  EXPECT_EQ(job.at("least"), 2);
  EXPECT_EQ(job.at("most"), 16);
  EXPECT_EQ(job.at("sizes"), json::parse("[2,4,16]"));
  EXPECT_EQ(job.at("speedup"), "downey:a=10.5:sigma=1.2");
  EXPECT_EQ(job.at("curve"), json::parse(R"({"law":"downey","a":10.5,"sigma":1.2})"));
  EXPECT_EQ(job.at("same_cpu_slowdown"), 1.3);
  EXPECT_EQ(job.at("same_node_slowdown"), 0.95);
  EXPECT_EQ(job.at("pair_key"), "18446744073709551615") << "a text, as numbers of JSON readers end at 2^53";
}

TEST_F(WaitingJob, SaysEachLawByItsParameters) {
  declare({.speedup = SpeedupCurve{ThreePointSpeedup{8, {0.9, 0.7, 0.5}}}});
  EXPECT_EQ(told().at("speedup"), "three-point:n=8:e=0.9/0.7/0.5");
  EXPECT_EQ(told().at("curve"), json::parse(R"({"law":"three-point","n":8,"e":[0.9,0.7,0.5]})"));
  declare({.speedup = SpeedupCurve{ThreePointSpeedup{4}}});
  EXPECT_EQ(told().at("speedup"), "three-point:n=4");
  EXPECT_EQ(told().at("curve"), json::parse(R"({"law":"three-point","n":4,"e":[0.8,0.65,0.4]})"));
  declare({.speedup = SpeedupCurve{LinearSpeedup{}}});
  EXPECT_EQ(told().at("curve"), json::parse(R"({"law":"linear"})"));
}

TEST_F(WaitingJob, StartsWithTheProcessesOfTheAnswer) {
  job().flexibility = Flexibility::kMoldable;
  declare({.least = 2, .most = 3, .speedup = SpeedupCurve{LinearSpeedup{}}});
  EXPECT_EQ(start(""), "4 on 4 at 1");
  EXPECT_EQ(start(R"(,"processes":3)"), "3 on 3 at 1");
  EXPECT_EQ(start(R"(,"processes":2,"cores":2,"mpl":1)"), "2 on 2 at 1");
  EXPECT_EQ(start(R"(,"processes":4)"), "4 on 4 at 1") << "the submitted ones, though it offers others";
}

TEST_F(WaitingJob, StartsOnFewerCoresThanProcesses) {
  declare({.most = 4, .speedup = SpeedupCurve{LinearSpeedup{}}});
  EXPECT_EQ(start(R"(,"mpl":2)"), "4 on 2 at 2");
  EXPECT_EQ(start(R"(,"cores":2)"), "4 on 2 at 2");
  EXPECT_EQ(start(R"(,"processes":3,"cores":2,"mpl":2)"), "3 on 2 at 2");
}

TEST_F(WaitingJob, RefusesASizeThatItDoesNotOffer) {
  job().flexibility = Flexibility::kMoldable;
  expect_refused(R"(,"processes":3)", "start of job 5: expected 4 processes, as it declares no speedup curve; found 3");
  declare({.least = 2, .most = 8, .speedup = SpeedupCurve{LinearSpeedup{}}});
  expect_refused(R"(,"processes":1)", "start of job 5: expected 4 processes, as submitted, or 2..8; found 1");
  expect_refused(R"(,"processes":9)", "or 2..8; found 9");
  expect_refused(R"(,"processes":0)", "or 2..8; found 0");
  expect_refused(R"(,"processes":-3)", "or 2..8; found -3");
  expect_refused(R"(,"processes":8)", "expected at most 4 processes, one for each core; found 8");
  declare({.sizes = {1, 2, 8}, .speedup = SpeedupCurve{LinearSpeedup{}}});
  expect_refused(R"(,"processes":3)", "or 1|2|8; found 3");
  declare({.speedup = SpeedupCurve{LinearSpeedup{}}});
  expect_refused(R"(,"processes":0)", "or 1 or more; found 0");
  expect_refused(R"(,"processes":2147483647)", "at most 4 processes");
  job().flexibility = Flexibility::kRigid;
  expect_refused(R"(,"processes":3)", "expected 4 processes, as it is rigid; found 3");
}

TEST_F(WaitingJob, RefusesCoresThatDoNotFollow) {
  expect_refused(R"(,"cores":3)", "expected 2 cores, which 4 processes take at mpl 2; found 3");
  expect_refused(R"(,"cores":4,"mpl":2)", "expected 2 cores, which 4 processes take at mpl 2; found 4");
  expect_refused(R"(,"cores":1)", "expected 2 cores, which 4 processes take on the nodes that are free; found 1");
  expect_refused(R"(,"cores":0)", "expected cores in 1..4, at most one for each process; found 0");
  expect_refused(R"(,"cores":5)", "expected cores in 1..4");
  expect_refused(R"(,"processes":"two")", "expected a whole number as 'processes'");
  expect_refused(R"(,"processes":3000000000)", "expected a whole number as 'processes'");
  job().flexibility = Flexibility::kMoldable;
  expect_refused(R"(,"cores":2)", "expected mpl 1, found 2: the job is moldable with 4 processes");
}

TEST_F(OnePass, AJobThatRunsWithOtherProcessesIsResizedByThem) {
  runs_now_->allocation = {.cores = 4, .mpl = 1, .named = {}, .shareable = false, .processes = 4};
  free_.take({2, 1, {}});
  EXPECT_EQ(json::parse(pass(at(1s))).at("events").at(0).at("processes"), 4);
  EXPECT_EQ(refusal(R"({"actions":[{"resize":1,"mpl":4},{"start":2}]})"), "") << "on one core: three are free";
  EXPECT_NE(refusal(R"({"actions":[{"resize":1,"mpl":5}]})").find("expected mpl in 1..4"), std::string::npos);
}

TEST_F(OnePass, AnswersInAnyOrderOfTheQueueFindTheirJobs) {
  const TracedJob later = job(static_cast<char>(3)).cores(1).arrives(2s);
  waiting_.insert(later.job);
  running_.erase(*runs_now_);
  free_.release({2, 1, {}});
  EXPECT_EQ(refusal(R"({"actions":[{"start":3},{"start":2}]})"), "");
  EXPECT_EQ(refusal(R"({"actions":[{"start":2},{"start":3}]})"), "");
  EXPECT_NE(refusal(R"({"actions":[{"start":3},{"start":4}]})").find("none of this number"), std::string::npos);
}

TEST_F(OnePass, SaysWhenTheMachineIsTakenAwayIfThatIsKnown) {
  EXPECT_FALSE(json::parse(pass(at(1s))).contains("machine_until"));
  ClusterView view{at(2s), machine_, free_, waiting_, running_, {}};
  view.machine_until = at(90s);
  EXPECT_EQ(json::parse(told_.pass_line(view)).at("machine_until"), 90.0);
}

// Notes are written into the event log and to the terminal.
TEST(Answers, ANoteComesInAsOneLineWithoutEscapeSequences) {
  const Machine machine = Machine::pool(4);
  const FreeCores free{machine};
  const WaitingQueue waiting;
  const RunningSet none;
  Decisions out;
  const ClusterView view{at(1s), machine, free, waiting, none, {}};
  plugin::AnswerBook book{view, out};
  plugin::read_answer(R"({"actions":[{"note":"\u001b[31mred\u001b[0m\nand \u009b2Jmore"}]})", book);
  EXPECT_EQ(std::get<Note>(out.at(0)).text, "red and more");
}

}  // namespace
}  // namespace replay::test
