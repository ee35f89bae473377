#include "scheduler/compare/job_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "scheduler/base/percentile.hpp"

namespace replay::compare {
namespace {

ErrorSpread spread_of(std::vector<double> errors) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (errors.empty()) return {kNone, kNone, kNone, kNone, kNone};
  ErrorSpread spread;
  spread.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  for (double& error : errors) error = std::abs(error);
  spread.p50 = percentile(errors, 0.5);
  spread.p90 = percentile(errors, 0.9);
  spread.p95 = percentile(errors, 0.95);
  spread.max = std::ranges::max(errors);
  return spread;
}

}  // namespace

JobErrors job_errors(const metrics::JobTable& simulated, const metrics::JobTable& real) {
  JobErrors result;
  std::vector<double> wait, execution, response, relative;
  std::size_t ran_in_real = 0;
  for (const metrics::JobRow& row : real.rows()) ran_in_real += row.ran() ? 1u : 0u;
  for (const metrics::JobRow& s : simulated.rows()) {
    if (!s.ran()) continue;
    const metrics::JobRow* const r = real.find(s.job);
    if (r == nullptr || !r->ran()) {
      ++result.one_only;
      continue;
    }
    ++result.jobs;
    wait.push_back(seconds(s.wait() - r->wait()));
    execution.push_back(seconds(s.execution() - r->execution()));
    response.push_back(seconds(s.response() - r->response()));
    if (r->execution() > Duration::zero()) relative.push_back(execution.back() / seconds(r->execution()));
  }
  result.one_only += ran_in_real - result.jobs;
  result.wait = spread_of(std::move(wait));
  result.execution = spread_of(std::move(execution));
  result.response = spread_of(std::move(response));
  result.relative_execution = spread_of(std::move(relative));
  return result;
}

}  // namespace replay::compare
