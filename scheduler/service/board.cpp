#include "scheduler/service/board.hpp"

#include <utility>

namespace replay::service {

// What is no change of a job.
struct Board::Reader {
  Board& board;

  void operator()(const log::Failed& what) const {
    if (what.action == "start") board.unstarted_.insert(what.job);
  }
  void operator()(const NodeChange& what) const {
    what.state == NodeState::kUp ? board.nodes_->open(what.node) : board.nodes_->close(what.node, what.until);
  }
  void operator()(const log::RanksSeen& what) const { board.unstarted_.erase(what.job); }
  void operator()(const log::KillDecided& what) const {
    if (what.reason == KillReason::kInterrupted) board.jobs_[what.job].is_stopped = true;
  }
};

void Board::on_begin(const log::Header& /*header*/, const Machine& machine) {
  machine_ = machine;
  nodes_.emplace(*machine_);
}

void Board::on_submit(Instant /*at*/, const history::JobState& job) { jobs_[job.id] = {}; }

void Board::on_change(Instant /*at*/, const history::Before& before, const history::JobState& job) {
  Entry& entry = jobs_[job.id];
  if (job.phase == history::Phase::kWaiting) {
    --launched_;
    unstarted_.erase(job.id);
    entry = {.is_stopped = entry.is_stopped};
    return;
  }
  if (before.phase == history::Phase::kWaiting) ++launched_;
  entry.state = job.phase == history::Phase::kSuspended ? JobState::kSuspended : JobState::kRunning;
  entry.cores = job.held.cores;
  entry.launched = job.launched;
}

void Board::on_end(Instant at, const history::JobState& job, const JobEnd& end) {
  const Entry entry = std::exchange(jobs_[job.id], {});
  jobs_.erase(job.id);
  if (entry.launched) --launched_;
  const bool could_not_start = unstarted_.erase(job.id) > 0 && end.outcome != Outcome::kCompleted && end.exit_code == 0;
  const bool was_launched = entry.launched.has_value() && !could_not_start;
  const bool is_cancelled = cancelled_.erase(job.id) > 0;
  // A job that was ended by the service and completed all the same has completed.
  const bool ended_by_service = entry.is_stopped && end.outcome == Outcome::kKilled;
  const bool was_lost = is_lost_ && end.outcome == Outcome::kFailed;
  const bool left_queue = !was_launched && end.outcome == Outcome::kCancelled;
  const bool by_service =
      !is_cancelled && (ended_by_service || (was_launched && was_lost) || left_queue || could_not_start);
  left_.push_back({{job.id, at, end}, by_service, was_launched});
}

void Board::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(Reader{*this}, record.what);
}

log::Kinds Board::records() const { return log::kinds_of<Reader>(); }

const Board::Entry* Board::find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<LeftJob> Board::take_left() { return std::exchange(left_, {}); }

}  // namespace replay::service
