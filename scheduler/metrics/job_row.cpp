#include "scheduler/metrics/job_row.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace replay::metrics
