#include "scheduler/report/terminal/watched_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

bool is_bad(const JobEnd& end) { return end.outcome == Outcome::kFailed || end.verification == Verification::kFailed; }

}  // namespace

// Decisions are not shown; their results are, when they occur.
struct RunWatcher::OnRecord {
  RunWatcher& watcher;
  WatchedRun& run;
  Instant at;

  void operator()(const log::Submitted& what) const {
    WatchedJob& job = run.jobs_[number(what.job.id)];
    job.id = what.job.id;
    job.processes = what.job.processes;
    job.submitted = at;
    job.turn = run.next_turn_++;
    run.waiting_.emplace(job.turn, job.id);
    run.waiting_processes_ += job.processes;
    run.longest_queue_ = std::max(run.longest_queue_, run.waiting_.size());
  }
  void operator()(const log::Launched& what) const {
    WatchedJob* const job = watcher.find(what.job);
    if (job == nullptr) return;
    watcher.stop_waiting(*job);
    job->turn = run.next_turn_++;
    run.launched_.emplace(job->turn, what.job);
    job->state = WatchedJob::State::kRunning;
    job->launched = at;
    job->cores = what.allocation.cores;
    job->mpl = what.allocation.mpl;
    job->processes = processes_on(what.allocation, job->processes);
    watcher.note_cores(*job);
    take_letter(*job);
    const std::string shrunk =
        what.allocation.is_expanded() ? "" : fmt::format(", shrunk: {} processes", job->processes);
    watcher.tell(at, fmt::format("job {} started on {}{}", number(what.job), on_cores(what.allocation), shrunk));
  }
  void operator()(const log::RanksSeen& what) const {
    if (!what.malleable || !what.reason.empty())
      watcher.tell(
          at, fmt::format("job {} is {}: {}", number(what.job), what.malleable ? "malleable" : "rigid", what.reason));
  }
  void operator()(const log::ResizeDone& what) const {
    WatchedJob* const job = watcher.find(what.job);
    if (job == nullptr) return;
    watcher.note_cores(*job);
    const CoreCount before = std::exchange(job->cores, what.allocation.cores);
    job->mpl = what.allocation.mpl;
    if (before == job->cores)
      watcher.tell(at, fmt::format("job {} moved, {}", number(what.job), on_cores(what.allocation)));
    else
      watcher.tell(at, fmt::format("job {} {} {} -> {}", number(what.job), job->cores < before ? "shrunk" : "expanded",
                                   before, on_cores(what.allocation)));
  }
  void operator()(const log::SuspendDone& what) const {
    if (WatchedJob* const job = watcher.find(what.job)) set_state(*job, WatchedJob::State::kSuspended);
    watcher.tell(at, fmt::format("job {} suspended", number(what.job)));
  }
  void operator()(const log::ResumeDone& what) const {
    if (WatchedJob* const job = watcher.find(what.job)) set_state(*job, WatchedJob::State::kRunning);
    watcher.tell(at, fmt::format("job {} resumed", number(what.job)));
  }
  void operator()(const log::Extended& what) const {
    watcher.tell(at, fmt::format("job {} may run on: estimate {} s", number(what.job), to_text(what.estimate)));
  }
  void operator()(const log::Finished& what) const {
    const bool bad = is_bad(what.end);
    ++run.done_;
    if (bad) ++run.failed_;
    const WatchedJob* const job = watcher.find(what.job);
    if (job == nullptr) return;
    if (job->state == WatchedJob::State::kWaiting) {
      watcher.stop_waiting(*job);
      watcher.tell(at, fmt::format("job {} {}, never started", number(what.job), ending(what.end)), bad);
    } else {
      run.launched_.erase(job->turn);
      if (job->letter >= 0) run.letters_taken_[static_cast<std::size_t>(job->letter)] = false;
      watcher.tell(at,
                   fmt::format("job {} ended after {:.1f} s (waited {:.1f} s): {}", number(what.job),
                               seconds(at - job->launched), seconds(job->launched - job->submitted), ending(what.end)),
                   bad);
    }
    run.jobs_.erase(number(what.job));
    watcher.names_.forget(what.job);
  }
  void operator()(const log::Failed& what) const {
    watcher.tell(at, fmt::format("job {}: {} failed: {}", number(what.job), what.action, what.reason), true);
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

 private:
  void set_state(WatchedJob& job, WatchedJob::State state) const {
    job.state = state;
    watcher.note_cores(job);
  }
  void take_letter(WatchedJob& job) const {
    const auto free = std::ranges::find(run.letters_taken_, false);
    if (free == run.letters_taken_.end()) return;
    *free = true;
    job.letter = static_cast<int>(free - run.letters_taken_.begin());
  }
};

void RunWatcher::header(const log::Header& header) {
  const std::string& policy = header.value("policy");
  const std::string& machine = header.value("machine");
  run_.title_ = clean_line(fmt::format("{} on {}", policy, machine));
  run_.short_title_ = clean_line(fmt::format("{} on {}", policy.substr(0, policy.find(':')), machine));
  run_.machine_ = Machine::parse(machine);
  names_.header(header);
}

void RunWatcher::record(const log::Record& record) {
  advance(record.at);
  names_.record(record);
  log::visit(OnRecord{*this, run_, record.at}, record.what);
}

const WatchedJob* WatchedRun::find(JobId job) const {
  const auto found = jobs_.find(number(job));
  return found == jobs_.end() ? nullptr : &found->second;
}

WatchedJob* RunWatcher::find(JobId job) {
  const auto found = run_.jobs_.find(number(job));
  return found == run_.jobs_.end() ? nullptr : &found->second;
}

void RunWatcher::stop_waiting(const WatchedJob& job) {
  if (run_.waiting_.erase(job.turn) > 0) run_.waiting_processes_ -= job.processes;
}

void RunWatcher::note_cores(WatchedJob& job) {
  const auto held = names_.held(job.id);
  job.held.assign(held.begin(), held.end());
}

void RunWatcher::tell(Instant at, std::string_view text, bool is_bad) {
  run_.events_.push_back({clean_line(fmt::format("[{:8.1f} s] {}", seconds(at), text)), is_bad});
  if (run_.events_.size() > WatchedRun::kKeptEvents) run_.events_.pop_front();
  ++run_.told_;
}

std::vector<CoreUse> WatchedRun::cores() const {
  std::vector<CoreUse> cores(machine_ ? static_cast<std::size_t>(machine_->size()) : 0);
  for (const auto& [turn, id] : launched_) {
    const WatchedJob& job = jobs_.at(number(id));
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
