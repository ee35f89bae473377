// Properties of jobs that share cores, are suspended and resumed, for any jobs and machine. The policies are the test
// policies that do this; the run time of each job is computed again from the log alone.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "scheduler/log/text.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing_policies.hpp"

namespace replay::test {
namespace {

std::unique_ptr<Policy> policy_named(const std::string& name) {
  if (name == "beside") return std::make_unique<Beside>();
  return std::make_unique<Slices>(name == "odd slices" ? 7'500'001us : 10s, name == "shared slices");
}

rc::Gen<std::string> any_policy() {
  return rc::gen::element<std::string>("beside", "slices", "odd slices", "shared slices");
}

struct Example {
  Machine machine;
  std::vector<TracedJob> jobs;
  std::string policy;

  [[nodiscard]] MemoryLog run() const { return simulate(*policy_named(policy), machine, jobs); }
};

Example any_example(bool overruns) {
  const Machine machine = Machine::parse(*any_machine());
  return {machine, *any_jobs(machine.size(), overruns), *any_policy()};
}

TEST(SharingProperties, NoCoreHasThreeJobsOrTwoThatDoNotShareAndNoJobIsLost) {
  EXPECT_TRUE(rc::check([] {
    const Example example = any_example(true);
    RC_ASSERT(what_is_wrong(example.run(), example.machine) == std::string{});
  }));
}

TEST(SharingProperties, TheSameRunGivesTheSameLog) {
  EXPECT_TRUE(rc::check([] {
    const Example example = any_example(true);
    const auto text = [&example] {
      std::string all;
      const MemoryLog log = example.run();
      for (const log::Record& record : log.records()) all += log::to_line(record) + '\n';
      return all;
    };
    RC_ASSERT(text() == text());
  }));
}

// The work of each job under `isolated`, computed from which jobs were on which cores when.
class Work {
 public:
  explicit Work(const MemoryLog& log) {
    for (const log::Record& record : log.records()) {
      pass_until(record.at);
      std::visit([this](const auto& what) { on(what); }, record.what);
    }
  }
  [[nodiscard]] double seconds_of(JobId job) const { return done_.at(job); }

 private:
  void on(const log::Submitted& what) { cpu_use_[what.job.id] = what.truth.behaviour.cpu_use; }
  void on(const log::Launched& what) { awake_[what.job] = what.allocation, done_[what.job] = 0; }
  void on(const log::ResizeDone& what) { awake_[what.job] = what.allocation; }
  void on(const log::SuspendDone& what) { asleep_.insert(awake_.extract(what.job)); }
  void on(const log::ResumeDone& what) { awake_.insert(asleep_.extract(what.job)); }
  void on(const log::Finished& what) { awake_.erase(what.job), asleep_.erase(what.job); }
  void on(const auto& /*what*/) {}

  void pass_until(Instant until) {
    std::map<CoreId, double> load;
    for (const auto& [job, allocation] : awake_)
      for (const CoreLoad& on : allocation.named) load[on.core] += on.processes * cpu_use_[job];
    for (const auto& [job, allocation] : awake_) {
      double most = 1;
      for (const CoreLoad& on : allocation.named) most = std::max(most, load[on.core]);
      done_[job] += seconds(until - now_) / most;
    }
    now_ = until;
  }

  Instant now_{};
  std::map<JobId, double> cpu_use_;
  std::map<JobId, Allocation> awake_;
  std::map<JobId, Allocation> asleep_;
  std::map<JobId, double> done_;
};

TEST(SharingProperties, AJobEndsWhenItsWorkIsDoneAtTheRatesThatItsNeighboursLeftIt) {
  EXPECT_TRUE(rc::check([] {
    const Example example = any_example(true);
    const MemoryLog log = example.run();
    const Work work{log};
    for (const TracedJob& traced : example.jobs) {
      const bool overrun = log.outcome(traced.job.id) == Outcome::kOverrun;
      const double expected = seconds(overrun ? traced.job.estimate : traced.truth.runtime);
      // Ends are rounded up to whole microseconds.
      RC_ASSERT(std::abs(work.seconds_of(traced.job.id) - expected) < 3e-6);
      RC_ASSERT(overrun == (traced.job.estimate < traced.truth.runtime));
    }
  }));
}

// Compares, before each pass, the plan with the state given by the log. In the simulator cores change hands within the
// instant, so a pass never sees a difference, except for a job that is being killed.
class Witness final : public Policy, public log::Sink {
 public:
  Witness(const Machine& machine, Policy& inner) : machine_(machine), inner_(inner), physical_(machine) {}

  void decide(const ClusterView& view, Decisions& out) override {
    for (const CoreId core : machine_.cores()) {
      RC_ASSERT(view.free.is_free(core) == physical_.is_free(core));
      RC_ASSERT(view.free.can_be_joined(core) == physical_.can_be_joined(core));
    }
    CoreCount held = 0;
    FreeCores again{machine_};
    for (const RunningJob* job : view.running.by_start()) {
      if (job->is_suspended()) continue;
      RC_ASSERT(held_.at(job->job->id) == job->allocation);
      again.take(job->allocation);
      ++held;
    }
    RC_ASSERT(again.total() == view.free.total());
    RC_ASSERT(static_cast<std::size_t>(held) == held_.size());
    inner_.decide(view, out);
  }

  void header(const log::Header&) override {}
  void record(const log::Record& record) override {
    std::visit([this](const auto& what) { on(what); }, record.what);
  }

 private:
  void on(const log::Launched& what) { take(what.job, what.allocation); }
  void on(const log::ResizeDone& what) { release(what.job), take(what.job, what.allocation); }
  void on(const log::SuspendDone& what) { asleep_[what.job] = held_.at(what.job), release(what.job); }
  void on(const log::ResumeDone& what) { take(what.job, asleep_.at(what.job)); }
  void on(const log::Finished& what) { release(what.job); }
  void on(const auto& /*what*/) {}

  void take(JobId job, const Allocation& allocation) {
    physical_.take(allocation);
    held_[job] = allocation;
  }
  void release(JobId job) {
    if (const auto held = held_.find(job); held != held_.end()) {
      physical_.release(held->second);
      held_.erase(held);
    }
  }

  const Machine& machine_;
  Policy& inner_;
  FreeCores physical_;
  std::map<JobId, Allocation> held_;
  std::map<JobId, Allocation> asleep_;
};

TEST(SharingProperties, PhysicalCoresAreWhatTheJobsHoldAndAgreeWithThePlanAtEachInstant) {
  EXPECT_TRUE(rc::check([] {
    const Example example = any_example(false);
    const auto policy = policy_named(example.policy);
    Witness witness{example.machine, *policy};
    replay::simulate(example.machine, Workload{example.jobs}, witness, *make_runtime_model("isolated"), witness);
  }));
}

}  // namespace
}  // namespace replay::test
