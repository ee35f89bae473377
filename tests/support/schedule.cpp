#include "tests/support/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::test {
namespace {

std::string name(JobId job) {
  const auto number = static_cast<std::int64_t>(job);
  return number >= 'A' && number <= 'z' ? std::string(1, static_cast<char>(number)) : fmt::format("{}", number);
}

template <typename What>
const log::Record* find(const std::vector<log::Record>& records, JobId job) {
  for (const log::Record& record : records)
    if (const auto* what = std::get_if<What>(&record.what); what != nullptr && what->job == job) return &record;
  return nullptr;
}

}  // namespace

JobBuilder::JobBuilder(JobId number) {
  traced_.job.id = number;
  runs(1min);
  estimated_ = false;
}
JobBuilder& JobBuilder::cores(ProcessCount processes) {
  traced_.job.processes = processes;
  return *this;
}
JobBuilder& JobBuilder::arrives(Duration when) {
  traced_.job.submitted = Instant{when};
  return *this;
}
JobBuilder& JobBuilder::runs(Duration how_long) {
  traced_.truth.runtime = how_long;
  if (!estimated_) traced_.job.estimate = std::max<Duration>(how_long, Duration{1});
  return *this;
}
JobBuilder& JobBuilder::estimated(Duration how_long) {
  traced_.job.estimate = how_long;
  estimated_ = true;
  return *this;
}
JobBuilder& JobBuilder::rigid() {
  traced_.job.flexibility = Flexibility::kRigid;
  return *this;
}
JobBuilder& JobBuilder::moldable(SpeedupCurve curve, std::optional<ProcessCount> least,
                                 std::optional<ProcessCount> most) {
  traced_.job.flexibility = Flexibility::kMoldable;
  traced_.job.declaration =
      std::make_shared<const Declaration>(Declaration{.least = least, .most = most, .speedup = std::move(curve)});
  return *this;
}
JobBuilder& JobBuilder::cpu_use(double share) {
  traced_.job.declared.cpu_use = traced_.truth.behaviour.cpu_use = share;
  return *this;
}
JobBuilder& JobBuilder::follows(char other, Duration think_time) {
  traced_.follows = id(other);
  traced_.think_time = think_time;
  return *this;
}
JobBuilder& JobBuilder::cancelled_after(Duration wait) {
  traced_.cancelled_after = wait;
  return *this;
}
JobBuilder::operator TracedJob() const { return traced_; }

Instant MemoryLog::start(JobId job) const {
  const log::Record* record = find<log::Launched>(records_, job);
  return record == nullptr ? kNever : record->at;
}

Instant MemoryLog::end(JobId job) const {
  const log::Record* record = find<log::Finished>(records_, job);
  return record == nullptr ? kNever : record->at;
}

Outcome MemoryLog::outcome(JobId job) const {
  const log::Record* record = find<log::Finished>(records_, job);
  if (record == nullptr) throw std::out_of_range("job " + name(job) + " has no end in the log");
  return std::get<log::Finished>(record->what).end.outcome;
}

std::string MemoryLog::decisions(JobId job) const {
  std::vector<std::string> parts;
  for (const log::Record& record : records_) {
    if (const auto* start = std::get_if<log::StartDecided>(&record.what); start != nullptr && start->job == job)
      parts.push_back(fmt::format("start {}", start->allocation.cores));
    if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what); resize != nullptr && resize->job == job)
      parts.push_back(fmt::format("resize {}", resize->allocation.cores));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string MemoryLog::decisions() const {
  std::vector<std::string> parts;
  for (const log::Record& record : records_) {
    if (const auto* start = std::get_if<log::StartDecided>(&record.what))
      parts.push_back(fmt::format("start {} {}", name(start->job), start->allocation.cores));
    if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what))
      parts.push_back(fmt::format("resize {} {}", name(resize->job), resize->allocation.cores));
    if (const auto* kill = std::get_if<log::KillDecided>(&record.what))
      parts.push_back(fmt::format("kill {}", name(kill->job)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

int MemoryLog::verified() const {
  return static_cast<int>(std::ranges::count_if(records_, [](const log::Record& record) {
    const auto* finish = std::get_if<log::Finished>(&record.what);
    return finish != nullptr && finish->end.verification == Verification::kPassed;
  }));
}

MemoryLog::Resizes MemoryLog::resizes() const {
  Resizes found;
  std::map<JobId, CoreCount> cores;
  for (const log::Record& record : records_) {
    if (const auto* launch = std::get_if<log::Launched>(&record.what)) cores[launch->job] = launch->allocation.cores;
    if (const auto* resize = std::get_if<log::ResizeDone>(&record.what)) {
      (resize->allocation.cores < cores[resize->job] ? found.shrinks : found.expands) += 1;
      cores[resize->job] = resize->allocation.cores;
    }
  }
  return found;
}

MemoryLog simulate(Policy& policy, const Machine& machine, std::vector<TracedJob> jobs, std::string_view model,
                   const SimulationOptions& options) {
  std::ranges::stable_sort(jobs, {}, [](const TracedJob& traced) { return traced.job.submitted; });
  const Workload workload{std::move(jobs)};
  MemoryLog log;
  replay::simulate(machine, workload, policy, *make_runtime_model(model), log, options);
  return log;
}

MemoryLog simulate(std::string_view policy, const Machine& machine, std::vector<TracedJob> jobs, std::string_view model,
                   const SimulationOptions& options) {
  return simulate(*make_policy(policy).policy, machine, std::move(jobs), model, options);
}

namespace {

// The jobs on each core, updated record by record. Cores of a pool are numbered as they become free, lowest first.
class CoreRows {
 public:
  explicit CoreRows(CoreCount cores) : jobs_on_(static_cast<std::size_t>(cores), 0) {}

  void on(const log::Record& record) {
    if (const auto* launch = std::get_if<log::Launched>(&record.what)) give(launch->job, launch->allocation);
    if (const auto* resize = std::get_if<log::ResizeDone>(&record.what)) give(resize->job, resize->allocation);
    if (const auto* suspend = std::get_if<log::SuspendDone>(&record.what)) {
      asleep_[suspend->job] = last_[suspend->job];
      give(suspend->job, {});
    }
    if (const auto* resume = std::get_if<log::ResumeDone>(&record.what)) give(resume->job, asleep_[resume->job]);
    if (const auto* finish = std::get_if<log::Finished>(&record.what)) give(finish->job, {});
  }

  char letter(std::size_t core) const {
    char letter = '.';
    for (const auto& [job, cores] : held_)
      if (std::ranges::find(cores, core) != cores.end()) letter = letter == '.' ? name(job)[0] : '&';
    return letter;
  }

 private:
  void give(JobId job, const Allocation& allocation) {
    auto& on = held_[job];
    for (const std::size_t core : on) --jobs_on_[core];
    if (!allocation.named.empty()) {
      on.clear();
      for (const CoreLoad& load : allocation.named) on.push_back(index_of(load.core));
    } else {
      const auto wanted = static_cast<std::size_t>(allocation.cores);
      on.resize(std::min(on.size(), wanted));
      for (std::size_t core = 0; on.size() < wanted && core < jobs_on_.size(); ++core)
        if (jobs_on_[core] == 0 && std::ranges::find(on, core) == on.end()) on.push_back(core);
    }
    for (const std::size_t core : on) ++jobs_on_[core];
    last_[job] = allocation;
  }

  std::vector<int> jobs_on_;
  std::map<JobId, std::vector<std::size_t>> held_;
  std::map<JobId, Allocation> last_;
  std::map<JobId, Allocation> asleep_;
};

}  // namespace

std::string gantt(const MemoryLog& log, CoreCount cores, Duration unit) {
  std::vector<std::string> rows(static_cast<std::size_t>(cores));
  CoreRows on{cores};
  Instant drawn{};
  for (const log::Record& record : log.records()) {
    for (; drawn + unit <= record.at; drawn += unit)
      for (std::size_t core = 0; core < rows.size(); ++core) rows[core] += on.letter(core);
    on.on(record);
  }
  std::string text;
  for (const std::string& row : rows) text += row + '\n';
  return text;
}

std::string what_is_wrong(const MemoryLog& log, const Machine& machine) {
  std::map<JobId, Instant> submitted;
  std::map<JobId, Allocation> held;
  std::set<JobId> ended;
  Instant now = Instant::min();
  std::map<JobId, Allocation> asleep;
  const auto used_twice = [&]() -> std::string {
    CoreCount used = 0;
    std::map<CoreId, std::vector<const Allocation*>> on_core;
    for (const auto& [job, allocation] : held) {
      used += allocation.cores;
      for (const CoreLoad& load : allocation.named) {
        if (!machine.cores().contains(load.core)) return fmt::format("there is no core {}", load.core);
        on_core[load.core].push_back(&allocation);
      }
      if (machine.names_cores() && std::ssize(allocation.named) != allocation.cores)
        return fmt::format("job {} has {} cores but {} names", name(job), allocation.cores, allocation.named.size());
    }
    for (const auto& [core, allocations] : on_core) {
      if (allocations.size() > 2) return fmt::format("core {} has {} jobs", core, allocations.size());
      const bool all_share = std::ranges::all_of(allocations, [](const Allocation* a) { return a->shareable; });
      if (allocations.size() == 2 && !all_share) return fmt::format("core {} is used twice", core);
    }
    if (machine.names_cores()) return "";
    return used <= machine.size() ? "" : fmt::format("{} cores of {} are used", used, machine.size());
  };
  for (const log::Record& record : log.records()) {
    if (record.at < now) return fmt::format("time goes back to {}", to_text(record.at));
    now = record.at;
    if (const auto* submit = std::get_if<log::Submitted>(&record.what)) {
      if (!submitted.emplace(submit->job.id, now).second)
        return fmt::format("{} is submitted twice", name(submit->job.id));
      if (now < submit->job.submitted) return fmt::format("{} comes too early", name(submit->job.id));
    } else if (const auto* launch = std::get_if<log::Launched>(&record.what)) {
      if (!submitted.contains(launch->job) || ended.contains(launch->job))
        return fmt::format("{} starts but does not wait", name(launch->job));
      if (!held.emplace(launch->job, launch->allocation).second)
        return fmt::format("{} starts twice", name(launch->job));
    } else if (const auto* resize = std::get_if<log::ResizeDone>(&record.what)) {
      if (!held.contains(resize->job)) return fmt::format("{} is resized but does not run", name(resize->job));
      if (held[resize->job].shareable != resize->allocation.shareable)
        return fmt::format("{} changes whether it shares", name(resize->job));
      if (!ranks_keep_their_nodes(held[resize->job], resize->allocation, machine))
        return fmt::format("processes of {} change their node", name(resize->job));
      held[resize->job] = resize->allocation;
    } else if (const auto* suspend = std::get_if<log::SuspendDone>(&record.what)) {
      if (!held.contains(suspend->job)) return fmt::format("{} is suspended but does not run", name(suspend->job));
      asleep.insert(held.extract(suspend->job));
    } else if (const auto* resume = std::get_if<log::ResumeDone>(&record.what)) {
      if (!asleep.contains(resume->job)) return fmt::format("{} is resumed but does not sleep", name(resume->job));
      held.insert(asleep.extract(resume->job));
    } else if (const auto* finish = std::get_if<log::Finished>(&record.what)) {
      if (!submitted.contains(finish->job)) return fmt::format("{} ends but never came", name(finish->job));
      if (!ended.insert(finish->job).second) return fmt::format("{} ends twice", name(finish->job));
      held.erase(finish->job);
      asleep.erase(finish->job);
    } else if (const auto* again = std::get_if<log::Requeued>(&record.what)) {
      held.erase(again->job);
      asleep.erase(again->job);
    }
    if (std::string wrong = used_twice(); !wrong.empty()) return fmt::format("at {} s {}", to_text(now), wrong);
  }
  for (const auto& [job, when] : submitted)
    if (!ended.contains(job)) return fmt::format("{} never ends", name(job));
  return "";
}

}  // namespace replay::test
