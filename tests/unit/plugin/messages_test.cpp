// Tests of the protocol between replay and a policy that is a program, line by line: only changes are sent, and they
// are enough to reconstruct the view.

#include "scheduler/plugin/messages.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/policy/registry.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

using nlohmann::json;

json running_of(const RunningJob& job) {
  return {{"cores", job.allocation.cores},
          {"mpl", job.allocation.mpl},
          {"estimated_end", job.estimated_end == kNever ? json{} : json(seconds(job.estimated_end))},
          {"malleable", job.malleable},
          {"launched", job.launched},
          {"suspended", job.suspended}};
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
  CoreCount free_until(const ClusterView& view, Instant until) const override {
    return inner_->free_until(view, until);
  }
  bool may_start_now(const ClusterView& view, const Job& job) const override {
    return inner_->may_start_now(view, job);
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
      if (job->gone_in_plan) continue;  // it is ending: its cores count as free already
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
    running.launched = running.malleable = true;
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
  EXPECT_EQ(pass(at(1s)),
            R"({"type":"pass","now":1.0,"free":2,"triggers":[{"kind":"submit","id":2},{"kind":"wake"}],"events":[)"
            R"({"event":"started","id":1,"started":0.0,"estimated_end":2.5,"cores":2,"mpl":1,"launched":true,)"
            R"("malleable":true,"suspended":false,"cpu_use":1.0},)"
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
  expect(R"({"start":2,"cores":2})", "only moldable jobs choose their cores");
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
  runs_now_->suspended = true;
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
            R"({"type":"hello","protocol":1,"policy":"exec:./p",)"
            R"("machine":{"cores":8,"nodes":2,"cores_per_node":4,"named_cores":true}})");
  EXPECT_NO_THROW(plugin::check_hello(R"({"type":"hello","protocol":1,"name":"mine"})"));
  for (const char* line :
       {"", "hello", R"({"protocol":1})", R"({"type":"hello"})", R"({"type":"hello","protocol":"1"})"})
    EXPECT_THROW(plugin::check_hello(line), plugin::Refused) << line;
}

TEST(Moldable, AJobOfItsOwnSizeIsPlacedWithThatManyProcesses) {
  const Machine machine = Machine::parse("2x1x2");
  const FreeCores free{machine};
  TracedJob molded = job(static_cast<char>(5)).cores(4);
  molded.job.flexibility = Flexibility::kMoldable;
  WaitingQueue waiting;
  waiting.insert(molded.job);
  const RunningSet none;
  Decisions out;
  const ClusterView view{at(1s), machine, free, waiting, none, {}};
  plugin::AnswerBook book{view, out};
  plugin::read_answer(R"({"actions":[{"start":5,"cores":3}]})", book);
  EXPECT_EQ(book.free(), 1);
  EXPECT_EQ(std::get<Start>(out.at(0)).allocation.named.size(), 3u);
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
