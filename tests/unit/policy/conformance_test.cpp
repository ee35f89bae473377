// The rules that every policy of the table has to keep: no core twice, no job lost, no start before its submission, the
// same log twice, one pass an instant, moldable jobs at sizes that they offer. Random workloads on a pool and on nodes,
// with overruns killed and extended.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
#include "tests/support/adopting_body.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing/occupation.hpp"

namespace replay::test {
namespace {

std::vector<std::string> every_policy() {
  std::vector<std::string> all;
  for (const PolicyEntry& entry : deciding_policies()) all.emplace_back(entry.name);
  // Parameters that change the course of a run.
  for (const char* variant :
       {"easy:pass=instant", "easy:reservations=3", "easy:reservations=all:pass=instant", "easy:backfill=shortest",
        "conservative:compress=start-order", "conservative:compress=replan", "conservative:pass=instant",
        "conservative:compress-at=every-end", "easy-malleable:estimate=conservative", "easy-malleable:expand=eager",
        "plan:pass=event", "dynp:metric=utilisation", "slack:heuristic=du", "slack:sf=0",
        "dynp:decider=preferred:step=submit", "fcfs-malleable:max_mpl=4", "fcfs-malleable:expand=eager:max_mpl=3",
        "fcfs-malleable:criterion=longest", "fcfs-malleable:share=first", "fcfs-malleable:share=last:expand=eager",
        "fcfs-malleable:share=first:max_mpl=4:max_slowdown=4", "fcfs-malleable:criterion=shortest",
        "fcfs-malleable:criterion=least-cpu-util", "greedy-moldable:order=class", "g-lomarc-ts:short=1s",
        "g-lomarc-ts:variant=ssp", "g-lomarc-ts:variant=cst:short=1s:medium=50s", "g-lomarc-ts:variant=cstws:short=1s",
        "g-lomarc-ts:variant=fbo:short=1s:block-size=3", "g-lomarc-ts:variant=ns:short=1s:f-slack=5",
        "g-lomarc-ts:variant=nh:short=1s",
        // many slices in the minutes that the jobs take
        "scojo-pect:interval=45s:short-slice=7s:overhead=0:short=20s:medium=60s:inner=easy",
        "scojo-pect:interval=50s:short-slice=7s:overhead=1s:overhead-at=switch:short=20s:medium="
        "60s:inner={slack}",
        "scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner={fcfs-"
        "malleable:max_mpl=4}",
        "scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner={fcfs-"
        "malleable:share=first}",
        "scojo-pect:interval=60s:short-slice=10s:overhead=1s:short=10s:medium=40s:inner={g-lomarc-"
        "ts:short=10s:medium=40s}"})
    all.emplace_back(variant);
  for (const PolicyEntry& entry : deciding_policies())
    if (entry.name != "scojo-pect")
      all.push_back(
          fmt::format("scojo-pect:interval=60s:short-slice=10s:overhead=2s:short=10s:medium=40s:inner={}", entry.name));
  return all;
}

// Whether it, or one that it wraps, puts two jobs on the same cores.
bool shares_cores(std::string_view policy) { return policy.find("share=") != policy.npos; }

// Whether it, or one that it wraps, runs only where nodes can be halved or cores have names.
bool needs_nodes(std::string_view policy) {
  return shares_cores(policy) || std::ranges::any_of(policies(), [policy](const PolicyEntry& entry) {
           return entry.needs_nodes && policy.find(entry.name) != policy.npos;
         });
}

std::vector<const char*> machines_for(std::string_view policy) {
  if (needs_nodes(policy)) return {"4x2x2", "1x1x16", "2x4x2"};
  return {"flat:16", "4x2x2", "1x1x16", "1x2x4+2x1x2+4x1x1"};
}

Machine machine_for(std::string_view policy, CoreCount size) {
  return needs_nodes(policy) ? Machine::cluster(size / 4, 2, 2) : cores(size);
}

// The last of the seeds that begin with 1. Programs have a quarter of them, because each pass is a message there and
// back, unless REPLAY_OWN_POLICIES lists them or REPLAY_ORACLE_RUNS is set (`./dev test --all`).
std::uint64_t last_seed(std::string_view policy, std::uint64_t all) {
  const bool is_long = std::getenv("REPLAY_OWN_POLICIES") != nullptr || std::getenv("REPLAY_ORACLE_RUNS") != nullptr;
  return policy.starts_with("exec:") && !is_long ? (all + 3) / 4 : all;
}

class EveryPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, UsesNoCoreTwiceAndLosesNoJob) {
  for (const char* machine : machines_for(GetParam()))
    for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 15); ++seed)
      for (const Overrun overrun : {Overrun::kKill, Overrun::kExtend, Overrun::kPolicy}) {
        SimulationOptions options;
        options.overrun = overrun;
        const auto log = simulate(GetParam(), Machine::parse(machine), random_jobs(seed, 200, 16), "utrera", options);
        ASSERT_EQ(what_is_wrong(log, Machine::parse(machine)), "") << machine << ", seed " << seed;
      }
}

// The first start at a size that the job does not offer, or on cores that are too few or too many for its processes.
std::string first_wrong_size(const MemoryLog& log, const std::vector<TracedJob>& jobs) {
  for (const log::Record& record : log.records()) {
    const auto* const launched = std::get_if<log::Launched>(&record.what);
    if (launched == nullptr) continue;
    const Job& job = jobs[static_cast<std::size_t>(number(launched->job)) - 1].job;
    const Allocation& allocation = launched->allocation;
    const ProcessCount size = processes_on(allocation, job.processes);
    ProcessCount placed = 0;
    for (const CoreLoad& load : allocation.named) placed += load.processes;
    if ((!offers(job, size) && size != job.processes) || (!allocation.named.empty() && placed != size) ||
        allocation.cores > cores_at(size, 1) || processes_at(allocation.cores, allocation.mpl) < size)
      return fmt::format("job {} starts with {} processes on {} cores", number(job.id), size, allocation.cores);
  }
  return "";
}

TEST_P(EveryPolicy, LetsJobsShareNodesButNoCoresUnlessToldTo) {
  const SharingRule rule{.cores = shares_cores(GetParam())};
  for (const char* machine : {"4x2x2", "1x1x16", needs_nodes(GetParam()) ? "2x2x4" : "16x1x1",
                              needs_nodes(GetParam()) ? "2x4x2" : "1x1x9+1x1x7"})
    for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 8); ++seed) {
      const auto log = simulate(GetParam(), Machine::parse(machine), random_moldable_jobs(seed, 150, 16), "utrera");
      ASSERT_EQ(sharing_error(log, Machine::parse(machine), rule), "") << machine << ", seed " << seed;
    }
}

TEST_P(EveryPolicy, StartsMoldableJobsAtSizesThatTheyOffer) {
  for (const char* machine : machines_for(GetParam()))
    for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 8); ++seed)
      for (const Overrun overrun : {Overrun::kKill, Overrun::kExtend, Overrun::kPolicy}) {
        SimulationOptions options;
        options.overrun = overrun;
        const std::vector<TracedJob> jobs = random_moldable_jobs(seed, 100, 16);
        const auto log = simulate(GetParam(), Machine::parse(machine), jobs, "utrera", options);
        ASSERT_EQ(what_is_wrong(log, Machine::parse(machine)), "") << machine << ", seed " << seed;
        ASSERT_EQ(first_wrong_size(log, jobs), "") << machine << ", seed " << seed;
        for (const TracedJob& traced : jobs) ASSERT_NE(log.end(traced.job.id), kNever) << "a job is lost";
      }
}

TEST_P(EveryPolicy, WritesTheSameLogTwice) {
  const auto bytes = [&] {
    const auto log = simulate(GetParam(), machine_for(GetParam(), 16), random_jobs(7, 300, 16), "utrera");
    std::string text;
    for (const log::Record& record : log.records()) text += log::to_line(record) + '\n';
    return text;
  };
  EXPECT_EQ(bytes(), bytes());
}

TEST_P(EveryPolicy, TellsOnlyFactsThatItsEntryOrThatOfAPolicyInItDeclares) {
  std::set<std::string_view> declared;
  for (const PolicyEntry& entry : policies())
    if (GetParam().find(entry.name) != std::string::npos) declared.insert(entry.tells.begin(), entry.tells.end());
  const auto log = simulate(GetParam(), machine_for(GetParam(), 16), random_jobs(7, 300, 16), "utrera");
  for (const log::Record& record : log.records())
    if (std::holds_alternative<Told>(record.what)) {
      ASSERT_TRUE(declared.contains(log::word_of(record.what))) << log::to_line(record);
    }
}

TEST_P(EveryPolicy, TakesJobsOfOneInstantByNumberWhateverTheOrderOfTheFile) {
  const auto lines_of = [](const std::vector<TracedJob>& jobs) {
    const auto log = simulate(GetParam(), machine_for(GetParam(), 16), jobs, "utrera");
    std::vector<std::string> lines;
    for (const log::Record& record : log.records()) lines.push_back(log::to_line(record));
    return lines;
  };
  for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 8); ++seed) {
    const std::vector<TracedJob> jobs = random_jobs(seed, 200, 16);
    std::vector<TracedJob> reversed{jobs.rbegin(), jobs.rend()};
    std::ranges::stable_sort(reversed, {}, [](const TracedJob& traced) { return traced.job.submitted; });
    ASSERT_EQ(lines_of(reversed), lines_of(jobs)) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, NeverStartsAndResizesAJobAtOneInstant) {
  for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 15); ++seed) {
    const auto log = simulate(GetParam(), machine_for(GetParam(), 16), random_jobs(seed, 200, 16), "utrera");
    std::map<JobId, Instant> decided;
    for (const log::Record& record : log.records()) {
      if (const auto* start = std::get_if<log::StartDecided>(&record.what)) decided[start->job] = record.at;
      if (std::holds_alternative<log::Finished>(record.what)) decided.clear();  // another pass at the same instant
      if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what);
          resize != nullptr && decided.contains(resize->job)) {
        ASSERT_NE(decided[resize->job], record.at) << "job " << static_cast<int>(resize->job) << ", seed " << seed;
      }
    }
  }
}

TEST_P(EveryPolicy, KillsAJobOnlyWhenItsBudgetOfWorkIsUsedUp) {
  // Shrunk jobs take longer by the wall clock than they requested; none of them may be killed for that.
  std::vector<TracedJob> jobs = random_jobs(3, 300, 16);
  for (TracedJob& traced : jobs) traced.job.estimate = std::max<Duration>(traced.truth.runtime, 1s);
  const auto log = simulate(GetParam(), machine_for(GetParam(), 16), jobs, "utrera");
  for (const TracedJob& traced : jobs) ASSERT_EQ(log.outcome(traced.job.id), Outcome::kCompleted);
}

TEST_P(EveryPolicy, PlansBeyondTheLastInstantWithoutWrappingAround) {
  // Twenty jobs of 20,000 years in a row, and instants end after 292,000.
  std::vector<TracedJob> jobs;
  for (std::int64_t i = 1; i <= 20; ++i)
    jobs.push_back(JobBuilder{JobId{i}}.cores(4).runs(1s).estimated(std::chrono::hours{24 * 365 * 20'000LL}).rigid());
  const Machine machine = machine_for(GetParam(), 4);
  const auto log = simulate(GetParam(), machine, jobs, "rigid");
  EXPECT_EQ(what_is_wrong(log, machine), "");
  for (const TracedJob& traced : jobs) EXPECT_EQ(log.outcome(traced.job.id), Outcome::kCompleted);
}

TEST_P(EveryPolicy, AnswersAWrappersQuestionsWithoutContradictingItself) {
  // On an empty machine no job can be delayed, and all of it stays free.
  const NamedPolicy named = make_policy(GetParam());
  const Hosting& hosting = hosting_of(*named.policy);
  const Machine machine = machine_for(GetParam(), 8);
  const FreeCores free{machine};
  WaitingQueue waiting;
  const RunningSet running;
  EXPECT_EQ(hosting.free_until({at(0s), machine, free, waiting, running, {}}, at(1h)), 8);
  const TracedJob head = job('A').cores(3);
  waiting.insert(head.job);
  EXPECT_TRUE(hosting.may_start_now({at(0s), machine, free, waiting, running, {}}, head.job));
}

// Passes all questions on, and looks for passes that ADR 6 rules out: at an instant at which the policy was asked
// before, and nothing has happened since but the ends of jobs whose cores were free in plan then, it decides on
// something. WakeAt decides on nothing.
class OnePassAnInstant final : public Policy {
 public:
  explicit OnePassAnInstant(Policy& inner) : Policy(inner.traits()), inner_(inner) {}
  void decide(const ClusterView& view, Decisions& out) override {
    const auto is_counted = [&](const Trigger& trigger) {
      return trigger.kind == TriggerKind::kFinish && counted_.contains(trigger.job->id);
    };
    const bool is_new = view.now != asked_ || !std::ranges::all_of(view.triggers, is_counted);
    if (!is_new) ++repeats_;
    const std::size_t before = out.size();
    inner_.decide(view, out);
    const auto decides = [](const Decision& decision) { return !std::holds_alternative<WakeAt>(decision); };
    if (!is_new && std::any_of(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), decides))
      seconds_.push_back(view.now);
    asked_ = view.now;
    counted_.clear();
    for (const RunningJob* job : view.running.by_start())
      if (job->is_gone_in_plan()) counted_.insert(job->job->id);
  }
  Duration more_time(const ClusterView& view, const RunningJob& job) override { return inner_.more_time(view, job); }

  /// How often it was asked with nothing new, and the instants at which it decided on something then.
  int repeats() const { return repeats_; }
  const std::vector<Instant>& seconds() const { return seconds_; }

 private:
  Policy& inner_;
  Instant asked_ = Instant::min();
  std::set<JobId> counted_;
  int repeats_ = 0;
  std::vector<Instant> seconds_;
};

// Times of a few whole seconds, and jobs that are shrunk to a whole share of their speed: much happens at one instant.
std::vector<TracedJob> random_jobs_in_step(std::uint64_t seed) {
  const auto coarse = [](Duration time) -> Duration { return std::chrono::floor<std::chrono::seconds>(time / 12); };
  std::vector<TracedJob> jobs = random_jobs(seed, 200, 12);
  for (TracedJob& traced : jobs) {
    traced.job.submitted = at(coarse(traced.job.submitted.time_since_epoch() / 5));
    traced.truth.runtime = std::max<Duration>(coarse(traced.truth.runtime), 1s);
    traced.job.estimate = std::max<Duration>(coarse(traced.job.estimate), 1s);
    traced.truth.behaviour = traced.job.declared = {1, 0};
  }
  return jobs;
}

TEST_P(EveryPolicy, MakesNoSecondPassAtAnInstantForEndsThatTheFirstHasCounted) {
  const std::string& policy = GetParam();
  if (make_policy(policy).policy->traits().pass_rule == PassRule::kEvent)
    GTEST_SKIP() << "a pass follows each single event";
  std::vector<Overrun> overruns{Overrun::kKill, Overrun::kExtend, Overrun::kPolicy};
  if (policy.starts_with("scojo-pect") && policy.find("slack") != policy.npos) overruns.pop_back();  // as its page says
  int repeats = 0;
  for (const char* machine : machines_for(policy))
    for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 8); ++seed)
      for (const std::vector<TracedJob>& jobs : {random_moldable_jobs(seed, 100, 16), random_jobs_in_step(seed)})
        for (const Overrun overrun : overruns) {
          SimulationOptions options;
          options.overrun = overrun;
          const NamedPolicy named = make_policy(policy);
          OnePassAnInstant asked{*named.policy};
          simulate(asked, Machine::parse(machine), jobs, "isolated", options);
          ASSERT_TRUE(asked.seconds().empty())
              << "at " << to_text(asked.seconds().front()) << " s, " << machine << ", seed " << seed;
          repeats += asked.repeats();
        }
  EXPECT_GT(repeats, 0);
}

// It has not started them, and knows them by the view alone.
TEST_P(EveryPolicy, GoesOnWithJobsThatAnotherHasStarted) {
  const bool is_sliced = GetParam().starts_with("scojo-pect");
  EXPECT_EQ(make_policy(GetParam()).policy->traits().adopts, !is_sliced);
  if (is_sliced) return;  // refused, where there are such jobs
  for (const char* name : machines_for(GetParam()))
    for (std::uint64_t seed = 1; seed <= last_seed(GetParam(), 12); ++seed) {
      const Machine machine = Machine::parse(name);
      std::vector<TracedJob> jobs = seed % 2 == 0 ? random_jobs(seed, 60, 16) : random_moldable_jobs(seed, 60, 16);
      for (TracedJob& traced : jobs) {
        traced.job.submitted += 1h;
        traced.job.estimate = std::max<Duration>({traced.job.estimate, traced.truth.runtime, 1s});
      }
      const std::vector<Adopted> adopted = adopt_some(jobs, machine, at(1h), seed);
      const NamedPolicy named = make_policy(GetParam());
      MemoryLog log;
      ASSERT_NO_THROW(log = run_on(*named.policy, machine, jobs, adopted, at(1h))) << name << ", seed " << seed;
      ASSERT_EQ(what_is_wrong(log, machine), "") << name << ", seed " << seed;
      for (const TracedJob& traced : jobs) ASSERT_NE(log.end(traced.job.id), kNever) << name << ", seed " << seed;
      for (const Adopted& one : adopted) {
        const JobId id = one.traced->job.id;
        ASSERT_EQ(log.outcome(id), one.is_ending ? Outcome::kKilled : Outcome::kCompleted) << name << ", seed " << seed;
        ASSERT_EQ(log.decisions(id).find("resize"), std::string::npos) << log.decisions(id);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPolicy, testing::ValuesIn(every_policy()),
                         [](const testing::TestParamInfo<std::string>& policy) {
                           std::string name = policy.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

// A wrapper: it lets the inner policy see half of the machine and passes its answers on.
class HalfTheMachine final : public Policy {
 public:
  explicit HalfTheMachine(std::unique_ptr<Policy> inner, Machine half)
      : Policy(inner->traits()), inner_(std::move(inner)), half_(std::move(half)) {}
  void decide(const ClusterView& view, Decisions& out) override {
    FreeCores free{half_};
    for (const RunningJob* job : view.running.by_start())
      if (!job->is_gone_in_plan() && !job->is_suspended()) free.take(job->allocation);
    inner_->decide({view.now, half_, free, view.waiting, view.running, view.triggers}, out);
  }

 private:
  std::unique_ptr<Policy> inner_;
  Machine half_;
};

// Counted at the end of an instant: within it cores change hands in steps, for which the controller has the other half.
CoreCount most_cores_in_use(const MemoryLog& log) {
  std::map<JobId, Allocation> held, asleep;
  CoreCount most = 0;
  Instant now{};
  for (const log::Record& record : log.records()) {
    if (record.at != now) {
      CoreCount used = 0;
      std::set<CoreId> named;  // two jobs may be on one core
      for (const auto& [job, allocation] : held) {
        if (allocation.named.empty()) used += allocation.cores;
        for (const CoreLoad& load : allocation.named) named.insert(load.core);
      }
      most = std::max(most, used + static_cast<CoreCount>(named.size()));
      now = record.at;
    }
    if (const auto* launch = std::get_if<log::Launched>(&record.what)) held[launch->job] = launch->allocation;
    if (const auto* resize = std::get_if<log::ResizeDone>(&record.what)) held[resize->job] = resize->allocation;
    if (const auto* suspend = std::get_if<log::SuspendDone>(&record.what))
      asleep[suspend->job] = std::exchange(held[suspend->job], {});
    if (const auto* resume = std::get_if<log::ResumeDone>(&record.what)) held[resume->job] = asleep[resume->job];
    if (const auto* finish = std::get_if<log::Finished>(&record.what)) held.erase(finish->job);
  }
  return most;
}

TEST(Wrapping, AnyPolicyRunsInsideAViewThatIsNotTheControllers) {
  std::vector<TracedJob> jobs = random_jobs(11, 200, 8);
  for (TracedJob& traced : jobs) traced.job.estimate = std::max<Duration>(traced.job.estimate, traced.truth.runtime);
  for (const std::string& policy : every_policy()) {
    HalfTheMachine wrapper{make_policy(policy).policy, machine_for(policy, 8)};
    MemoryLog log;
    replay::simulate(machine_for(policy, 16), Workload{jobs}, wrapper, *make_runtime_model("isolated"), log);
    EXPECT_LE(most_cores_in_use(log), 8) << policy << " uses more than the half it was shown";
  }
}

}  // namespace
}  // namespace replay::test
