#include "scheduler/service/board.hpp"

#include <utility>

namespace replay::service {

// Updates the board from one record.
struct Board::Reader {
  Board& board;
  Instant at;

  void operator()(const log::Submitted& what) const { board.jobs_[what.job.id] = {}; }
  void operator()(const log::Launched& what) const {
    Entry& job = board.jobs_[what.job];
    if (!job.launched) ++board.launched_;
    job = {JobState::kRunning, what.allocation.cores, at, false};
  }
  void operator()(const log::ResizeDone& what) const { board.jobs_[what.job].cores = what.allocation.cores; }
  void operator()(const log::SuspendDone& what) const { board.jobs_[what.job].state = JobState::kSuspended; }
  void operator()(const log::ResumeDone& what) const { board.jobs_[what.job].state = JobState::kRunning; }
  void operator()(const log::Failed& what) const {
    if (what.action == "start") board.unstarted_.insert(what.job);
  }
  void operator()(const log::RanksSeen& what) const { board.unstarted_.erase(what.job); }
  void operator()(const log::KillDecided& what) const {
    if (what.reason == KillReason::kInterrupted) board.jobs_[what.job].is_stopped = true;
  }
  void operator()(const log::Finished& what) const {
    const Entry job = std::exchange(board.jobs_[what.job], {});
    board.jobs_.erase(what.job);
    if (job.launched) --board.launched_;
    const bool could_not_start =
        board.unstarted_.erase(what.job) > 0 && what.end.outcome != Outcome::kCompleted && what.end.exit_code == 0;
    const bool was_launched = job.launched.has_value() && !could_not_start;
    const bool is_cancelled = board.cancelled_.erase(what.job) > 0;
    // A job that was ended by the service and completed all the same has completed.
    const bool ended_by_service = job.is_stopped && what.end.outcome == Outcome::kKilled;
    const bool was_lost = board.is_lost_ && what.end.outcome == Outcome::kFailed;
    const bool left_queue = !was_launched && what.end.outcome == Outcome::kCancelled;
    const bool by_service =
        !is_cancelled && (ended_by_service || (was_launched && was_lost) || left_queue || could_not_start);
    board.left_.push_back({{what.job, at, what.end}, by_service, was_launched});
  }
};

void Board::header(const log::Header& /*header*/) {}

void Board::record(const log::Record& record) { log::visit(Reader{*this, record.at}, record.what); }

log::Kinds Board::kinds() const { return log::kinds_of<Reader>(); }

const Board::Entry* Board::find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<LeftJob> Board::take_left() { return std::exchange(left_, {}); }

}  // namespace replay::service
