#include "scheduler/service/adoption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/service/past_period.hpp"

namespace replay::service {
namespace {

namespace fs = std::filesystem;
using live::AdoptedJob;

// How much of their estimated work jobs have done, by the event log: with m processes on each core a job takes m times as long.
class WorkDone final : public history::Observer {
 public:
  /// `adopted`: how much those had done when that run began.
  explicit WorkDone(const std::vector<AdoptedJob>& adopted) {
    for (const AdoptedJob& job : adopted) before_[job.job] = {job.estimate, job.estimate - job.rest};
  }

  void on_begin(const log::Header& /*header*/, const Machine& machine) override { machine_ = machine; }
  void on_submit(Instant /*at*/, const history::JobState& job) override {
    const auto [estimate, done] = before_.contains(job.id) ? before_[job.id] : std::pair{job.estimate, Duration{}};
    jobs_[job.id] = {estimate, done, {}, 0};
  }
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override {
    Work& work = jobs_[job.id];
    work.go_on(at);
    if (job.phase == history::Phase::kWaiting) work.done = Duration{};  // it begins anew
    if (before.phase == history::Phase::kWaiting && !before_.contains(job.id)) work.done = Duration{};
    work.level = job.phase == history::Phase::kRunning ? job.held.mpl : 0;
  }
  void on_end(Instant /*at*/, const history::JobState& job, const JobEnd& /*end*/) override { ended_.insert(job.id); }
  void on_record(const log::Record& record, const history::JobState* job) override {
    if (const auto* more = std::get_if<log::Extended>(&record.what); more != nullptr && job != nullptr)
      jobs_[job->id].estimate = more->estimate;
  }
  [[nodiscard]] log::Kinds records() const override { return log::kinds<log::Extended>(); }

  /// The estimate and what is left of it at `now`, below zero in a job's grace; nothing: the log does not know the job.
  [[nodiscard]] std::optional<std::pair<Duration, Duration>> at(JobId job, Instant now) const {
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return std::nullopt;
    Work work = found->second;
    work.go_on(now);
    return std::pair{work.estimate, work.estimate - work.done};
  }
  [[nodiscard]] bool has_ended(JobId job) const { return ended_.contains(job); }
  [[nodiscard]] const std::optional<Machine>& machine() const { return machine_; }

 private:
  struct Work {
    Duration estimate{}, done{};
    Instant since{};
    int level = 0;  // 0: it does not run
    void go_on(Instant to) {
      if (level > 0) done += (to - since) / level;
      since = to;
    }
  };
  std::optional<Machine> machine_;
  std::map<JobId, std::pair<Duration, Duration>> before_;
  std::map<JobId, Work> jobs_;
  std::set<JobId> ended_;
};

// Two jobs may run on a core, if both are awake: they take turns there.
void mark_shared(std::vector<AdoptedJob>& jobs) {
  std::map<CoreId, std::vector<AdoptedJob*>> on_core;
  for (AdoptedJob& job : jobs) {
    if (job.left.end) continue;
    for (const auto* cores : {&job.left.core_of_rank, &job.left.moving_to})
      for (const CoreId core : *cores)
        if (auto& there = on_core[core]; std::ranges::find(there, &job) == there.end()) there.push_back(&job);
  }
  for (const auto& [core, there] : on_core) {
    if (there.size() == 1) continue;
    for (AdoptedJob* const job : there)
      if (job->left.is_asleep || there.size() > 2)
        throw InputError(fmt::format("job {} is suspended, or one of more than two, on core {}, where another one runs",
                                     number(job->job), core));
    for (AdoptedJob* const job : there) job->is_shared = true;
  }
}

}  // namespace

Adoption adopt_jobs_of(const fs::path& period, live::Executor& executor, const Machine& machine, const Journal& journal,
                       Instant now) {
  live::LeftRun left = live::read_left_run(period / results::kTurnsFile, executor);
  if (!left.lost.empty()) throw InputError(fmt::format("its agents were lost: {}", left.lost));
  WorkDone work{left.adopted};
  try {
    (void)history::follow(log_of(period), {&work});
  } catch (const InputError&) {  // then limits begin anew
  }
  if (work.machine() && work.machine()->to_text() != machine.to_text())
    throw InputError(fmt::format("it ran on {}, expected {}", work.machine()->to_text(), machine.to_text()));

  Adoption found;
  std::vector<AdoptedJob> jobs;
  for (const StoredJob& stored : journal.list(false, 0, std::numeric_limits<std::int32_t>::max())) {
    const JobId id = stored.job.id;
    const auto job = left.jobs.find(id);
    const bool waits_again =
        job != left.jobs.end() && job->second.end && stored.job.requeue && job->second.end->outcome == Outcome::kLost;
    if (!waits_again && job != left.jobs.end() && !(job->second.end && work.has_ended(id))) {
      const auto [estimate, rest] = work.at(id, now).value_or(std::pair{stored.job.time_limit, stored.job.time_limit});
      (void)live::allocation_of(job->second.core_of_rank, false, machine);
      jobs.push_back({id, job->second, stored.started.value_or(now), estimate, rest});
      found.jobs.push_back(id);
      if (!job->second.end) ++found.running;
    } else if (stored.started && (waits_again || job == left.jobs.end())) {
      found.unstarted.push_back(id);
    }
  }
  for (const auto& [id, job] : left.jobs)
    if (!job.end && std::ranges::find(found.jobs, id) == found.jobs.end())
      throw InputError(fmt::format("job {} runs, and has ended in the journal", number(id)));
  mark_shared(jobs);
  found.before = std::move(left.inputs);
  for (const AdoptedJob& job : jobs) found.before.push_back({live::TurnLog::Kind::kAdopt, job.to_text()});
  return found;
}

}  // namespace replay::service
