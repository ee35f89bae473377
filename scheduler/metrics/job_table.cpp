#include "scheduler/metrics/job_table.hpp"

#include <algorithm>
#include <limits>

#include "scheduler/metrics/row_update.hpp"

namespace replay::metrics {
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

struct JobTable::Update final : RowUpdate<JobTable::Update> {
  JobTable& table;

  Update(JobTable& of, Instant at) : RowUpdate(at, of.texts_), table(of) {}

  JobRow& add(JobId job) const {
    table.index_.add(job);
    return table.rows_.emplace_back();
  }
  [[nodiscard]] JobRow* find(JobId job) const {
    const std::uint32_t row = table.index_.find(job);
    return row == JobIndex::kNone ? nullptr : &table.rows_[row];
  }
  void on_end(const JobRow& /*row*/) const {}
};

void JobTable::record(const log::Record& record) { log::visit(Update{*this, record.at}, record.what); }

log::Kinds JobTable::kinds() const { return log::kinds_of<Update>(); }

const JobRow* JobTable::find(JobId job) const {
  const std::uint32_t row = index_.find(job);
  return row == JobIndex::kNone ? nullptr : &rows_[row];
}

}  // namespace replay::metrics
