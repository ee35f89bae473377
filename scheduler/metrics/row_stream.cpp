#include "scheduler/metrics/row_stream.hpp"

#include <utility>

namespace replay::metrics {
namespace {

constexpr std::size_t kAtOnce = 256;                 // rows; batching keeps the writer's code in cache
constexpr std::size_t kMany = std::size_t{1} << 14;  // from so many held rows on it pays to pack them

}  // namespace

JobRow& RowStream::add(const history::JobState& job) {
  Open& open = open_.add(job.id, [&](Open& fresh) { fresh = {JobRow{}, job.place}; });
  order_.emplace_back(&open);
  return open.row;
}

RowStream::Plain::Plain(const JobRow& row)
    : job(row.job),
      submitted(row.submitted),
      launched(row.launched),
      finished(row.finished),
      runtime(row.runtime),
      estimate(row.estimate),
      processes(row.processes),
      user(row.user),
      group(row.group),
      queue(row.queue),
      executable(row.executable),
      outcome(row.outcome),
      flexibility(row.flexibility) {}

JobRow RowStream::Plain::row() const {
  JobRow row;
  row.job = job;
  row.submitted = submitted;
  row.launched = launched;
  row.finished = finished;
  row.runtime = runtime;
  row.estimate = estimate;
  row.processes = processes;
  row.user = user;
  row.group = group;
  row.queue = queue;
  row.executable = executable;
  row.outcome = outcome;
  row.flexibility = flexibility;
  if (row.ran()) {
    row.first_cores = row.last_cores = row.most_cores = cores_at(processes, 1);
    row.mpl_time = row.execution().count();
  }
  return row;
}

void RowStream::ended(const JobRow& row) {
  ended_.push_back(row.job);
  if (ended_.size() < kAtOnce) return;
  const auto first_is_complete = [this] {
    const auto* const open = std::get_if<const Open*>(&order_.front());
    return open == nullptr || (*open)->row.has_ended();
  };
  while (!order_.empty() && first_is_complete()) hand_over_first();
  if (order_.size() > kMany)
    for (const JobId job : ended_) make_plain(job);
  ended_.clear();
}

void RowStream::hand_over_rest() {
  while (!order_.empty()) hand_over_first();
}

void RowStream::hand_over_first() {
  const Place first = std::move(order_.front());
  order_.pop_front();
  ++handed_over_;
  const auto hand_over = [this](const JobRow& row) {
    reader_.row(row, {texts_.reason(row.job), texts_.rigid_reason(row.job)});
    texts_.forget(row.job);
  };
  if (const auto* const plain = std::get_if<std::unique_ptr<const Plain>>(&first)) return hand_over((*plain)->row());
  const JobRow& row = std::get<const Open*>(first)->row;
  hand_over(row);
  open_.erase(row.job);
}

// Packs the row, unless it was handed over already or does not fit a Plain.
void RowStream::make_plain(JobId job) {
  const Open* const open = open_.find(job);
  if (open == nullptr) return;
  auto plain = std::make_unique<const Plain>(open->row);
  if (plain->row() != open->row) return;
  order_[open->place - handed_over_] = std::move(plain);
  open_.erase(job);
}

}  // namespace replay::metrics
