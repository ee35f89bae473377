#include "scheduler/metrics/job_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/model/error.hpp"

namespace replay::metrics {
namespace {

constexpr std::size_t kAtOnce = 256;  // rows; who writes them one by one forgets each time how to

}  // namespace

double JobTimes::slowdown() const {
  if (runtime == Duration::zero()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(response().count()) / static_cast<double>(runtime.count());
}

double JobTimes::bounded_slowdown(Duration bound) const {
  return std::max(1.0, static_cast<double>(response().count()) / static_cast<double>(std::max(runtime, bound).count()));
}

double JobRow::mean_mpl() const {
  const Duration on_cores = execution() - suspended;
  if (on_cores <= Duration::zero()) return mpl;
  return static_cast<double>(mpl_time) / static_cast<double>(on_cores.count());
}

struct JobTable::OnRecord {
  JobTable& table;
  Instant at;

  void operator()(const log::Submitted& what) const {
    const auto& [job, truth] = what;
    if (table.index_.find(job.id) != JobIndex::kNone)
      throw InputError(fmt::format("event log: job {} is submitted twice, again at {} s",
                                   static_cast<std::int64_t>(job.id), to_text(at)));
    table.index_.add(job.id);
    table.on_cores_since_.push_back(kNever);
    JobRow& row = table.rows_.emplace_back();
    row.job = job.id;
    row.submitted = at;
    row.runtime = truth.runtime;
    row.estimate = job.estimate;
    row.processes = job.processes;
    row.user = job.user;
    row.group = job.group;
    row.queue = job.queue;
    row.executable = truth.executable;
    row.flexibility = job.flexibility;
  }

  void operator()(const log::Launched& what) const {
    JobRow& row = table.row(what.job, "launched");
    row.launched = at;
    row.first_cores = what.allocation.cores;
    row.last_cores = what.allocation.cores;
    row.most_cores = what.allocation.cores;
    row.mpl = what.allocation.mpl;
    on_cores_since(row) = at;
  }

  void operator()(const log::RanksSeen& what) const {
    if (what.malleable) return;
    table.row(what.job, "seen").flexibility = Flexibility::kRigid;
    table.rigid_reasons_.insert_or_assign(static_cast<std::int64_t>(what.job), what.reason);
  }

  void operator()(const log::ResizeDone& what) const {
    JobRow& row = table.row(what.job, "resized");
    add_mpl_time(row);
    if (what.allocation.cores < row.last_cores) ++row.shrinks;
    if (what.allocation.cores > row.last_cores) ++row.expands;
    row.last_cores = what.allocation.cores;
    row.most_cores = std::max(row.most_cores, row.last_cores);
    row.mpl = what.allocation.mpl;
  }

  void operator()(const log::SuspendDone& what) const {
    JobRow& row = table.row(what.job, "suspended");
    if (on_cores_since(row) == kNever) return;
    add_mpl_time(row);
    row.suspended -= at.time_since_epoch();  // resuming or the end puts it right
    on_cores_since(row) = kNever;
  }

  void operator()(const log::ResumeDone& what) const {
    JobRow& row = table.row(what.job, "resumed");
    if (on_cores_since(row) != kNever) return;
    row.suspended += at.time_since_epoch();
    on_cores_since(row) = at;
  }

  void operator()(const log::Finished& what) const {
    JobRow& row = table.row(what.job, "finished");
    if (row.has_ended())
      throw InputError(
          fmt::format("event log: job {} ends twice, again at {} s", static_cast<std::int64_t>(what.job), to_text(at)));
    if (row.has_started()) {
      if (on_cores_since(row) == kNever)
        row.suspended += at.time_since_epoch();
      else
        add_mpl_time(row);
      on_cores_since(row) = kNever;
    }
    row.finished = at;
    row.outcome = what.end.outcome;
    row.exit_code = what.end.exit_code;
    row.verification = what.end.verification;
    row.cpu_use = what.end.cpu_use;
    if (!what.end.reason.empty()) table.reasons_.emplace(static_cast<std::int64_t>(what.job), what.end.reason);
    if (table.reader_ != nullptr) table.hand_over_ended();
  }

  // Decisions, and what a row does not tell.
  template <class Other>
  void operator()(const Other& /*what*/) const {}

 private:
  Instant& on_cores_since(const JobRow& row) const {
    return table.on_cores_since_[static_cast<std::size_t>(&row - table.rows_.data())];
  }

  void add_mpl_time(JobRow& row) const {
    Instant& since = on_cores_since(row);
    if (since == kNever) return;
    row.mpl_time += (at - since).count() * row.mpl;
    since = at;
  }
};

void JobTable::record(const log::Record& record) { log::visit(OnRecord{*this, record.at}, record.what); }

void JobTable::hand_over(const JobRow& row) {
  reader_->row(row, {reason(row.job), rigid_reason(row.job)});
  index_.erase(row.job);
  if (!reasons_.empty()) reasons_.erase(static_cast<std::int64_t>(row.job));
  if (!rigid_reasons_.empty()) rigid_reasons_.erase(static_cast<std::int64_t>(row.job));
}

void JobTable::hand_over_ended() {
  if (++ended_ < kAtOnce) return;
  ended_ = 0;
  while (first_ < rows_.size() && rows_[first_].has_ended()) hand_over(rows_[first_++]);
  if (first_ < rows_.size() / 2) return;
  // Half of the memory at least: moving the others costs O(1) per row.
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(first_));
  on_cores_since_.erase(on_cores_since_.begin(), on_cores_since_.begin() + static_cast<std::ptrdiff_t>(first_));
  forgotten_ += static_cast<std::uint32_t>(std::exchange(first_, 0));
}

void JobTable::hand_over_rest() {
  while (first_ < rows_.size()) hand_over(rows_[first_++]);
}

const JobRow* JobTable::find(JobId job) const {
  const std::uint32_t row = index_.find(job);
  return row == JobIndex::kNone ? nullptr : &rows_[row - forgotten_];
}

std::string_view JobTable::reason(JobId job) const {
  if (reasons_.empty()) return {};
  const auto found = reasons_.find(static_cast<std::int64_t>(job));
  return found == reasons_.end() ? std::string_view{} : std::string_view{found->second};
}

std::string_view JobTable::rigid_reason(JobId job) const {
  if (rigid_reasons_.empty()) return {};
  const auto found = rigid_reasons_.find(static_cast<std::int64_t>(job));
  return found == rigid_reasons_.end() ? std::string_view{} : std::string_view{found->second};
}

JobRow& JobTable::row(JobId job, std::string_view event) {
  const std::uint32_t row = index_.find(job);
  if (row == JobIndex::kNone)
    throw InputError(
        fmt::format("event log: job {} is {}, but it was never submitted", static_cast<std::int64_t>(job), event));
  return rows_[row - forgotten_];
}

}  // namespace replay::metrics
