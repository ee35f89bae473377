// Updates the row of a job by a record of the event log, for the classes that keep rows.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// For log::visit(). `Rows` is the class that derives from this: add(JobId) is a new row, find(JobId) is nullptr if
/// there is none, on_end(row) is called when the job has ended.
template <class Rows>
class RowUpdate {
 public:
  void operator()(const log::Submitted& what) const {
    const auto& [job, truth] = what;
    if (rows().find(job.id) != nullptr)
      throw InputError(fmt::format("event log: job {} is submitted twice, again at {} s",
                                   static_cast<std::int64_t>(job.id), to_text(at_)));
    JobRow& row = rows().add(job.id);
    row.job = job.id;
    row.submitted = at_;
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
    JobRow& row = row_of(what.job, "launched");
    row.launched = at_;
    row.first_cores = what.allocation.cores;
    row.last_cores = what.allocation.cores;
    row.most_cores = what.allocation.cores;
    row.mpl = what.allocation.mpl;
    row.mpl_time = 0;
    enter_cores(row);
  }

  void operator()(const log::RanksSeen& what) const {
    if (what.malleable) {  // the usual, or its ranks registered late
      if (const auto declared = texts_.forget_rigid(what.job)) row_of(what.job, "seen").flexibility = *declared;
      return;
    }
    JobRow& row = row_of(what.job, "seen");
    texts_.set_rigid(what.job, std::exchange(row.flexibility, Flexibility::kRigid), what.reason);
  }

  void operator()(const log::ResizeDone& what) const {
    JobRow& row = row_of(what.job, "resized");
    const bool was_on_cores = leave_cores(row);
    if (what.allocation.cores < row.last_cores) ++row.shrinks;
    if (what.allocation.cores > row.last_cores) ++row.expands;
    row.last_cores = what.allocation.cores;
    row.most_cores = std::max(row.most_cores, row.last_cores);
    row.mpl = what.allocation.mpl;
    if (was_on_cores) enter_cores(row);
  }

  void operator()(const log::SuspendDone& what) const {
    JobRow& row = row_of(what.job, "suspended");
    if (leave_cores(row)) row.suspended -= at_.time_since_epoch();  // a resume or the end completes it
  }

  void operator()(const log::ResumeDone& what) const {
    JobRow& row = row_of(what.job, "resumed");
    if (row.is_on_cores) return;
    row.suspended += at_.time_since_epoch();
    enter_cores(row);
  }

  void operator()(const log::Finished& what) const {
    JobRow& row = row_of(what.job, "finished");
    if (row.has_ended())
      throw InputError(fmt::format("event log: job {} ends twice, again at {} s", static_cast<std::int64_t>(what.job),
                                   to_text(at_)));
    if (row.has_started() && !leave_cores(row)) row.suspended += at_.time_since_epoch();
    row.finished = at_;
    row.outcome = what.end.outcome;
    row.exit_code = what.end.exit_code;
    row.verification = what.end.verification;
    row.cpu_use = what.end.cpu_use;
    if (!what.end.reason.empty()) texts_.set_reason(what.job, what.end.reason);
    rows().on_end(row);
  }

 protected:
  RowUpdate(Instant at, JobTexts& texts) : at_(at), texts_(texts) {}

 private:
  [[nodiscard]] const Rows& rows() const { return static_cast<const Rows&>(*this); }
  JobRow& row_of(JobId job, std::string_view event) const {
    JobRow* const row = rows().find(job);
    if (row == nullptr)
      throw InputError(
          fmt::format("event log: job {} is {}, but it was never submitted", static_cast<std::int64_t>(job), event));
    return *row;
  }
  void enter_cores(JobRow& row) const {
    row.mpl_time -= at_.time_since_epoch().count() * row.mpl;
    row.is_on_cores = true;
  }
  // False if it was not there.
  bool leave_cores(JobRow& row) const {
    if (!row.is_on_cores) return false;
    row.mpl_time += at_.time_since_epoch().count() * row.mpl;
    row.is_on_cores = false;
    return true;
  }

  Instant at_;
  JobTexts& texts_;
};

}  // namespace replay::metrics
