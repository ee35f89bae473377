// Properties of Scojo-PECT on random jobs: which jobs are on the machine when, what each class has in its own time, and that no
// slice and no guest delays a job beyond what its own class has planned for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing/occupation.hpp"

namespace replay::test {
namespace {

constexpr const char* kGrids[] = {
    "interval=60s:short-slice=10s:overhead=2s:short=10s:medium=60s",
    "interval=45s:short-slice=7s:overhead=0:short=20s:medium=60s:shares=1/1",
    "interval=100s:short-slice=20s:overhead=5s:overhead-at=switch:short=20s:medium=80s:shares=2/1",
    "interval=33s:short-slice=5s:overhead=1s:short=30s:medium=80s:shares={0-12=1/3,3/1}",
};

std::string pect(const std::string& grid, const std::string& inner) {
  return fmt::format("scojo-pect:{}:inner={{{}}}", grid, inner);
}

// What a log says of slices and of the jobs of each class, followed record by record.
class Course {
 public:
  Course(const MemoryLog& log, const Machine& machine) : machine_(machine) {
    for (const log::Record& record : log.records()) {
      if (record.at != now_) end_of_instant();
      now_ = record.at;
      log::visit([this](const auto& what) { on(what); }, record.what);
    }
    end_of_instant();
  }

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool has_guests() const { return has_guests_; }
  [[nodiscard]] bool has_resizes() const { return has_resizes_; }
  [[nodiscard]] JobClass class_of(JobId job) const { return classes_.at(job); }

  // The clock of a class: how long its slices have been open until `at`.
  [[nodiscard]] Duration clock(JobClass of, Instant at) const {
    Duration open{};
    for (const SliceBegun& slice : slices_)
      if (slice.job_class == of && slice.begins < at) open += std::min(slice.ends, at) - slice.begins;
    return open;
  }

 private:
  void on(const ClassAssigned& what) { classes_[what.job] = what.job_class; }
  void on(const SliceBegun& what) {
    if (!slices_.empty() && now_ < slices_.back().ends) fail("a slice is cut short");
    slices_.push_back(what);
  }
  void on(const log::Launched& what) { pinned_[what.job] = what.allocation, is_on_[what.job] = true; }
  void on(const log::ResizeDone& what) {
    pinned_[what.job] = what.allocation;
    has_resizes_ = true;
    if (!slices_.empty() && classes_.at(what.job) != slices_.back().job_class)
      fail(fmt::format("job {} is resized in the slice of another class", number(what.job)));
  }
  void on(const log::SuspendDone& what) { is_on_[what.job] = false; }
  void on(const log::ResumeDone& what) { is_on_[what.job] = true; }
  void on(const log::Finished& what) { pinned_.erase(what.job), is_on_.erase(what.job); }
  void on(const auto& /*what*/) {}

  void end_of_instant() {
    std::map<std::pair<JobClass, CoreId>, JobId> cores;
    std::map<JobClass, CoreCount> sums;
    for (const auto& [job, allocation] : pinned_) {
      if ((sums[classes_.at(job)] += allocation.cores) > machine_.size()) fail("a class has too many cores");
      for (const CoreLoad& load : allocation.named)
        if (!cores.emplace(std::pair{classes_.at(job), load.core}, job).second)
          fail(fmt::format("job {} is pinned to a core of another job of its class", number(job)));
    }
    for (const auto& [job, is_on] : is_on_) {
      for (const auto& [other, other_is_on] : is_on_)
        if (is_on != other_is_on && classes_.at(job) == classes_.at(other) &&
            have_a_common_node(pinned_[job], pinned_[other]))
          fail(fmt::format("jobs {} and {} are on one node, and one of them is suspended", number(job), number(other)));
      if (!is_on) continue;
      if (slices_.empty() || now_ < slices_.back().begins || now_ >= slices_.back().ends) {
        fail(fmt::format("job {} runs while jobs are exchanged", number(job)));
        continue;
      }
      if (classes_.at(job) == slices_.back().job_class) continue;
      has_guests_ = true;
      for (const auto& [other, other_is_on] : is_on_)
        if (other_is_on && classes_.at(other) != classes_.at(job) && have_a_common_node(pinned_[job], pinned_[other]))
          fail(fmt::format("jobs {} and {} of two classes are on one node", number(job), number(other)));
    }
  }

  [[nodiscard]] bool have_a_common_node(const Allocation& a, const Allocation& b) const {
    for (const CoreLoad& of_a : a.named)
      for (const CoreLoad& of_b : b.named)
        if (machine_.node_of(of_a.core) == machine_.node_of(of_b.core)) return true;
    return false;
  }

  void fail(const std::string& what) {
    if (error_.empty()) error_ = fmt::format("at {} s: {}", to_text(now_), what);
  }

  const Machine& machine_;
  Instant now_{};
  std::map<JobId, JobClass> classes_;
  std::map<JobId, Allocation> pinned_;
  std::map<JobId, bool> is_on_;
  std::vector<SliceBegun> slices_;
  bool has_guests_ = false;
  bool has_resizes_ = false;
  std::string error_;
};

std::vector<TracedJob> with_exact_estimates(std::vector<TracedJob> jobs) {
  for (TracedJob& traced : jobs) traced.truth.runtime = traced.job.estimate;
  return jobs;
}

// All policies that the page allows, as they are, and some with other parameters.
std::vector<std::string> inner_policies() {
  std::vector<std::string> all{"plan:order=sjf", "easy-malleable:expand=eager", "fcfs-malleable:max_mpl=4",
                               "g-lomarc-ts:short=20s"};
  for (const PolicyEntry& entry : deciding_policies())
    if (!make_policy(entry.name).policy->traits().suspends) all.emplace_back(entry.name);
  return all;
}

TEST(ScojoPectProperties, AClassHasItsCoresForItselfAndNothingRunsWhileJobsAreExchanged) {
  int with_guests = 0, with_resizes = 0;
  for (const char* machine_text : {"flat:16", "4x2x2", "16x1x1"})
    for (const char* grid : kGrids)
      for (const std::string& inner : inner_policies())
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          const Machine machine = Machine::parse(machine_text);
          if (inner.starts_with("g-lomarc-ts") && machine.cores_per_node() != 4) continue;
          const std::vector<TracedJob> jobs = random_jobs(seed, 150, 16);
          const auto log =
              simulate(pect(grid, inner), machine, jobs, machine.names_cores() ? "isolated+pairs" : "isolated");
          const std::string where = fmt::format("{} on {}, seed {}", pect(grid, inner), machine_text, seed);
          ASSERT_EQ(what_is_wrong(log, machine), "") << where;
          ASSERT_EQ(sharing_error(log, machine), "") << where;
          const Course course{log, machine};
          ASSERT_EQ(course.error(), "") << where;
          with_guests += course.has_guests() ? 1 : 0;
          with_resizes += course.has_resizes() ? 1 : 0;
          for (const TracedJob& traced : jobs) ASSERT_NE(log.end(traced.job.id), kNever) << where;
        }
  EXPECT_GT(with_guests, 100);
  EXPECT_GT(with_resizes, 50);
}

// A start in the plan of the class at submission is kept in the clock of the class, whatever guests there are.
TEST(ScojoPectProperties, NoGuestDelaysAJobBeyondThePlanOfItsClass) {
  for (const char* grid : kGrids)
    for (const char* variant : {"ssp", "glts"})
      for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const Machine machine = Machine::cluster(8, 2, 2);
        const auto jobs = with_exact_estimates(random_jobs(seed, 120, 32));
        const std::string policy = pect(grid, fmt::format("g-lomarc-ts:short=20s:medium=80s:variant={}", variant));
        const auto log = simulate(policy, machine, jobs, "isolated+pairs");
        const Course course{log, machine};
        for (const log::Record& record : log.records()) {
          const auto* const expected = content<ResponseExpected>(record);
          if (expected == nullptr) continue;
          const JobClass of = course.class_of(expected->job);
          const Duration response = course.clock(of, log.end(expected->job)) - course.clock(of, record.at);
          const double limit = 1.5 * static_cast<double>(expected->response.count());  // R_max
          ASSERT_LE(static_cast<double>(response.count()), limit + 10)
              << policy << ", seed " << seed << ": job " << number(expected->job) << " of " << to_text(record.at);
        }
      }
}

std::string starts_and_ends(const MemoryLog& log, const std::vector<TracedJob>& jobs) {
  std::string text;
  for (const TracedJob& traced : jobs)
    text += fmt::format("{} {}-{}\n", number(traced.job.id), to_text(log.start(traced.job.id)),
                        to_text(log.end(traced.job.id)));
  return text;
}

TEST(ScojoPectProperties, OneClassWithoutOverheadIsTheInnerPolicyByItself) {
  for (const char* inner : {"fcfs", "easy:pass=instant", "conservative:pass=instant", "slack", "dynp", "sjf",
                            "fcfs-malleable", "conservative:pass=instant:compress=start-order", "cirne-berman"})
    for (const char* machine : {"flat:16", "4x2x2"})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto jobs = random_jobs(seed, 150, 16);
        const auto alone = simulate(inner, Machine::parse(machine), jobs, "utrera");
        const auto inside = simulate(pect("interval=37s:short-slice=5s:overhead=0:short=0:medium=1d:shares=1/0", inner),
                                     Machine::parse(machine), jobs, "utrera");
        ASSERT_EQ(starts_and_ends(inside, jobs), starts_and_ends(alone, jobs))
            << inner << " on " << machine << ", seed " << seed;
      }
}

// With overhead, time stands for the only class at the beginning of each interval: what comes then, comes at one instant.
TEST(ScojoPectProperties, OneClassIsTheInnerPolicyInAClockThatStandsDuringOverheads) {
  constexpr Duration kInterval = 37s, kOverhead = 5s;
  const auto clock = [&](Instant at) {
    const Duration since = at.time_since_epoch();
    return Instant{since / kInterval * (kInterval - kOverhead) + std::max<Duration>(since % kInterval - kOverhead, 0s)};
  };
  for (const char* inner : {"fcfs", "easy:pass=instant", "plan", "sjf"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto jobs = random_jobs(seed, 150, 16);
      auto moved = jobs;
      for (TracedJob& traced : moved) traced.job.submitted = clock(traced.job.submitted);
      const auto alone = simulate(inner, cores(16), moved, "isolated");
      const auto inside = simulate(pect("interval=37s:short-slice=10s:overhead=5s:short=0:medium=1d:shares=1/0", inner),
                                   cores(16), jobs, "isolated");
      for (const TracedJob& traced : jobs) {
        ASSERT_EQ(clock(inside.start(traced.job.id)), alone.start(traced.job.id))
            << inner << ", seed " << seed << ", job " << number(traced.job.id);
        ASSERT_EQ(clock(inside.end(traced.job.id)), alone.end(traced.job.id))
            << inner << ", seed " << seed << ", job " << number(traced.job.id);
      }
    }
}

}  // namespace
}  // namespace replay::test
