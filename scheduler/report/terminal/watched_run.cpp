#include "scheduler/report/terminal/watched_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"

namespace replay::report {
namespace {

std::string on_cores(const Allocation& allocation) {
  const std::string count = counted(allocation.cores, "core");
  if (allocation.named.empty()) return count;
  return fmt::format("{} ({} {})", count, noun_for(allocation.named.size(), "core"), cores_text(allocation));
}

std::string ending(const JobEnd& end) {
  std::string text{to_text(end.outcome)};
  if (end.exit_code != 0) text += fmt::format(", exit code {}", end.exit_code);
  if (end.verification == Verification::kFailed) text += ", verification failed";
  if (!end.reason.empty()) text += ": " + end.reason;
  return text;
}

bool has_failed(const JobEnd& end) {
  return end.outcome == Outcome::kFailed || end.verification == Verification::kFailed;
}

}  // namespace

// What is no change of a job. Decisions are not shown; their results are, when they occur.
struct RunWatcher::OnRecord {
  RunWatcher& watcher;
  WatchedRun& run;
  Instant at;

  void operator()(const log::RanksSeen& what) const {
    if (!what.malleable || !what.reason.empty())
      watcher.tell(
          at, fmt::format("job {} is {}: {}", number(what.job), what.malleable ? "malleable" : "rigid", what.reason));
  }
  void operator()(const log::Extended& what) const {
    watcher.tell(at, fmt::format("job {} may run on: estimate {} s", number(what.job), to_text(what.estimate)));
  }
  void operator()(const log::Failed& what) const {
    watcher.tell(at, fmt::format("job {}: {} failed: {}", number(what.job), what.action, what.reason), true);
  }
  void operator()(const log::Requeued& what) const {
    watcher.tell(at,
                 fmt::format("job {} waits again{}{}", number(what.job), what.reason.empty() ? "" : ": ", what.reason),
                 true);
  }
  void operator()(const NodeChange& what) const {
    watcher.tell(at, fmt::format("{} is {}", run.names_.of(what.node), to_text(what)), what.state == NodeState::kDown);
    if (what.state == NodeState::kDown) ++run.downs_[what.node];
    if (what.state == NodeState::kUp)
      run.closed_.erase(what.node);
    else
      run.closed_.insert_or_assign(what.node, what);
  }
  void operator()(const log::Note& what) const { watcher.tell(at, what.text); }
  void operator()(const GroupFormed& what) const {
    run.has_sharing_ = true;
    run.groups_.insert_or_assign(what.primary, what);
  }
  void operator()(const GroupEnded& what) const { run.groups_.erase(what.primary); }
  void operator()(const SliceBegun& what) const {
    run.has_sharing_ = true;
    run.slice_ = what;
  }
};

void RunWatcher::on_begin(const log::Header& header, const Machine& machine) {
  const std::string& policy = header.value("policy");
  const std::string& name = header.value("machine");
  run_.title_ = clean_line(fmt::format("{} on {}", policy, name));
  run_.short_title_ = clean_line(fmt::format("{} on {}", policy.substr(0, policy.find(':')), name));
  run_.machine_ = machine;
  run_.names_ = {header, machine};
}

void RunWatcher::on_record(const log::Record& record, const history::JobState* /*job*/) {
  advance(record.at);
  log::visit(OnRecord{*this, run_, record.at}, record.what);
}

void RunWatcher::on_submit(Instant at, const history::JobState& state) {
  WatchedJob& job = run_.jobs_[state.id];
  job.id = state.id;
  job.processes = state.requested;
  job.submitted = at;
  run_.waiting_.emplace(state.place, job.id);
}

void RunWatcher::on_change(Instant at, const history::Before& before, const history::JobState& state) {
  using enum history::Phase;
  WatchedJob& job = run_.jobs_.at(state.id);
  const std::span<const CoreRange> cores = names_.held(job.id);
  job.held.assign(cores.begin(), cores.end());
  job.state = state.phase;
  job.processes = state.processes();
  job.cores = state.held.cores;
  job.mpl = state.held.mpl;
  const std::int64_t id = number(job.id);
  if (state.phase == kWaiting) {  // told with the reason
    run_.waiting_.emplace(state.place, job.id);
    leave_cores(job);
  } else if (before.phase == kWaiting) {
    run_.waiting_.erase(state.place);
    job.turn = run_.next_turn_++;
    run_.launched_.emplace(job.turn, job.id);
    job.launched = at;
    take_letter(job);
    const std::string shrunk = state.held.is_expanded() ? "" : fmt::format(", shrunk: {} processes", job.processes);
    tell(at, fmt::format("job {} started on {}{}", id, on_cores(state.held), shrunk));
  } else if (before.phase != state.phase) {
    tell(at, fmt::format("job {} {}", id, state.phase == kSuspended ? "suspended" : "resumed"));
  } else if (const CoreCount had = before.held.cores; had == job.cores) {
    tell(at, fmt::format("job {} moved, {}", id, on_cores(state.held)));
  } else {
    tell(at, fmt::format("job {} {} {} -> {}", id, job.cores < had ? "shrunk" : "expanded", had, on_cores(state.held)));
  }
}

void RunWatcher::on_end(Instant at, const history::JobState& state, const JobEnd& end) {
  const bool is_lost = end.outcome == Outcome::kLost, bad = is_lost || has_failed(end);
  ++run_.done_;
  if (is_lost) ++run_.lost_;
  if (has_failed(end)) ++run_.failed_;
  WatchedJob& job = run_.jobs_.at(state.id);
  if (state.phase == history::Phase::kWaiting) {
    run_.waiting_.erase(state.place);
    tell(at, fmt::format("job {} {}, never started", number(job.id), ending(end)), bad);
  } else {
    leave_cores(job);
    tell(at,
         fmt::format("job {} ended after {:.1f} s (waited {:.1f} s): {}", number(job.id), seconds(at - job.launched),
                     seconds(job.launched - job.submitted), ending(end)),
         bad);
  }
  run_.jobs_.erase(state.id);
  names_.forget(state.id);
}

void RunWatcher::on_load(Instant /*at*/, const history::Load& load) {
  run_.waiting_processes_ = load.waiting_processors;
  run_.longest_queue_ = std::max(run_.longest_queue_, run_.waiting_.size());
}

void RunWatcher::take_letter(WatchedJob& job) {
  const auto free = std::ranges::find(run_.letters_taken_, false);
  if (free == run_.letters_taken_.end()) return;
  *free = true;
  job.letter = static_cast<int>(free - run_.letters_taken_.begin());
}

void RunWatcher::leave_cores(WatchedJob& job) {
  run_.launched_.erase(job.turn);
  if (job.letter >= 0) run_.letters_taken_[static_cast<std::size_t>(job.letter)] = false;
  job.letter = -1;
}

const WatchedJob* WatchedRun::find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void RunWatcher::tell(Instant at, std::string_view text, bool is_bad) {
  run_.events_.push_back({clean_line(fmt::format("[{:8.1f} s] {}", seconds(at), text)), is_bad});
  if (run_.events_.size() > WatchedRun::kKeptEvents) run_.events_.pop_front();
  ++run_.told_;
}

std::optional<std::pair<std::string, int>> WatchedRun::often_down() const {
  const auto most = std::ranges::max_element(downs_, {}, [](const auto& entry) { return entry.second; });
  if (most == downs_.end() || most->second < 2) return std::nullopt;
  return std::pair{names_.of(most->first), most->second};
}

std::vector<CoreUse> WatchedRun::cores() const {
  std::vector<CoreUse> cores(machine_ ? static_cast<std::size_t>(machine_->size()) : 0);
  for (const auto& [turn, id] : launched_) {
    const WatchedJob& job = jobs_.at(id);
    for (const CoreRange& range : job.held) {
      for (const CoreId core : range) {
        if (index_of(core) >= cores.size()) break;
        CoreUse& use = cores[index_of(core)];
        (use.first == nullptr ? use.first : use.second) = &job;
        ++use.jobs;
      }
    }
  }
  return cores;
}

}  // namespace replay::report
