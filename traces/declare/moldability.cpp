#include "traces/declare/moldability.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "traces/models/gamma.hpp"
#include "traces/models/portable_math.hpp"

namespace replay {
namespace {

struct SurveyAnswer {
  SizeConstraint constraint;
  double share;
};
constexpr SurveyAnswer kSurvey[] = {{SizeConstraint::kRigid, 0.02},          {SizeConstraint::kPowerOfTwo, 0.10},
                                    {SizeConstraint::kSquare, 0.02},         {SizeConstraint::kEven, 0.08},
                                    {SizeConstraint::kMultipleOfFour, 0.08}, {SizeConstraint::kNone, 0.70}};

// A depends on c_min: its log-uniform law has a and b linear in log2 c_min ("joint uniform-log").
LogUniform parallelism_given(ProcessCount smallest) {
  const double log = portable::log2(smallest);
  return {0.009548 * log + 0.07468, -0.01877 * log - 0.009198};
}

// The i-th size that a constraint allows, from 0 on.
std::int64_t size_number(SizeConstraint constraint, std::int64_t i) {
  switch (constraint) {
    case SizeConstraint::kPowerOfTwo: return std::int64_t{1} << i;
    case SizeConstraint::kSquare: return (i + 1) * (i + 1);
    case SizeConstraint::kEven: return 2 * (i + 1);
    case SizeConstraint::kMultipleOfFour: return 4 * (i + 1);
    case SizeConstraint::kNone:
    case SizeConstraint::kRigid: break;
  }
  return i + 1;
}

// How many sizes up to `most` a constraint allows.
std::int64_t count_up_to(SizeConstraint constraint, ProcessCount most) {
  std::int64_t low = 0;
  std::int64_t high = constraint == SizeConstraint::kPowerOfTwo ? 31 : number(most);
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (size_number(constraint, middle - 1) <= most)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace

double LogUniform::draw(UniformSource& source) const { return portable::exp2((source.uniform() - b) / a); }

Moldability draw_moldability(UniformSource& source, double sigma_factor) {
  Moldability job;
  job.smallest = static_cast<ProcessCount>(std::max(1.0, std::ceil(kSmallestSize.draw(source))));
  job.curve.sigma = sigma_factor * std::max(0.0, kSigmaMean + kSigmaDeviation * draw_normal(source));
  job.curve.a = std::max(1.0, parallelism_given(job.smallest).draw(source));
  return job;
}

SizeRange size_range(const Moldability& job, ProcessCount full) {
  const ProcessCount most = std::min(full, SpeedupCurve{job.curve}.largest_useful().value_or(full));
  return {std::min(job.smallest, most), most};
}

int draw_request_count(UniformSource& source) {
  return static_cast<int>(std::max(2.0, std::ceil(kRequestCount.draw(source))));
}

SizeConstraint draw_surveyed_constraint(UniformSource& source) {
  double left = source.uniform();
  for (const auto& [constraint, share] : kSurvey) {
    if (left < share) return constraint;
    left -= share;
  }
  return SizeConstraint::kNone;
}

AllowedSizes::AllowedSizes(SizeRange range, SizeConstraint constraint) : constraint_(constraint) {
  if (constraint == SizeConstraint::kRigid) return;
  first_ = count_up_to(constraint, range.least - 1);
  count_ = count_up_to(constraint, range.most) - first_;
}

ProcessCount AllowedSizes::at(std::int64_t index) const {
  INVARIANT(index >= 0 && index < count_, "size {} of {}", index, count_);
  return static_cast<ProcessCount>(size_number(constraint_, first_ + index));
}

// Cirne's simulator shuffles the list of all sizes, keeps its head and overwrites the first; drawing without replacement
// is the same, and does not need the list.
std::vector<ProcessCount> draw_sizes(UniformSource& source, const AllowedSizes& allowed, int requests,
                                     ProcessCount logged) {
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(requests, allowed.count()));
  std::vector<ProcessCount> sizes;
  while (sizes.size() < wanted) {
    const ProcessCount size =
        allowed.at(static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(allowed.count()))));
    if (std::ranges::find(sizes, size) == sizes.end()) sizes.push_back(size);
  }
  if (sizes.empty()) sizes.resize(1);
  sizes.front() = logged;
  std::ranges::sort(sizes);
  const auto [from, to] = std::ranges::unique(sizes);
  sizes.erase(from, to);
  return sizes;
}

}  // namespace replay
