#include "traces/declare/flexibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/model/allocation.hpp"
#include "traces/declare/chance.hpp"
#include "traces/declare/moldability.hpp"
#include "traces/declare/text.hpp"

namespace replay {
namespace {

constexpr std::array<std::string_view, 3> kClassNames{"short", "medium", "long"};

// A curve, and the sizes that a job would have if it were moldable; empty sizes: the whole range.
struct Shape {
  SpeedupCurve curve{};
  ProcessCount optimum = 1;
  SizeRange range{};
  std::vector<ProcessCount> sizes{};
  bool rigid = false;
};

// SCOJO-P, 4.6: the logged size is the optimum; N_min = N/2, N_max = 2N.
Shape three_point_shape(const LoggedJob& job, ProcessCount full) {
  return {.curve = SpeedupCurve{ThreePointSpeedup{.optimum = job.size}},
          .optimum = job.size,
          .range = {(job.size + 1) / 2, job.size > full / 2 ? full : 2 * job.size},
          .sizes = {},
          .rigid = job.size == 1};
}

Shape linear_shape(const LoggedJob& job, ProcessCount full) {
  return {.curve = SpeedupCurve{}, .optimum = job.size, .range = {1, full}, .sizes = {}};
}

SizeConstraint constraint_of(OfferedSizes offered, ProcessCount logged, UniformSource& source) {
  if (offered == OfferedSizes::kSurvey) return draw_surveyed_constraint(source);
  return std::has_single_bit(static_cast<std::uint32_t>(logged)) ? SizeConstraint::kPowerOfTwo : SizeConstraint::kNone;
}

Shape downey_shape(const LoggedJob& job, const FlexibilityRule& rule, ProcessCount full, Seed seed) {
  Rng curve_source = job_rng(seed, "speedup", job.number);
  const Moldability drawn = draw_moldability(curve_source, rule.sigma_factor);
  Shape shape{.curve = SpeedupCurve{drawn.curve}, .optimum = 1, .range = size_range(drawn, full), .sizes = {}};
  shape.optimum = shape.curve.working_set(full);
  if (rule.sizes == OfferedSizes::kAll) return shape;

  Rng source = job_rng(seed, "sizes", job.number);
  const SizeConstraint constraint = constraint_of(rule.sizes, job.size, source);
  const int requests = draw_request_count(source);
  shape.sizes = draw_sizes(source, AllowedSizes(shape.range, constraint), requests, job.size);
  shape.range = {shape.sizes.front(), shape.sizes.back()};
  shape.rigid = shape.sizes.size() == 1;
  return shape;
}

Shape shape_of(const LoggedJob& job, const FlexibilityRule& rule, ProcessCount full, Seed seed) {
  switch (*rule.speedup) {
    case SpeedupModel::kThreePoint: return three_point_shape(job, full);
    case SpeedupModel::kLinear: return linear_shape(job, full);
    case SpeedupModel::kDowney: break;
  }
  return downey_shape(job, rule, full, seed);
}

// Moldable jobs from the lower end, malleable ones from the upper: a larger share keeps all jobs of a smaller one.
// Of a time that is not rounded to microseconds.
JobClass class_of_seconds(double at_optimum) {
  if (at_optimum < seconds(kShortBelow)) return JobClass::kShort;
  return at_optimum < seconds(kLongFrom) ? JobClass::kMedium : JobClass::kLong;
}

Flexibility draw_flexibility(std::int64_t number, const FlexibilityRule& rule, JobClass of, Seed seed) {
  const double u = job_rng(seed, "flexibility", number).uniform();
  if (u < rule.moldable[of]) return Flexibility::kMoldable;
  return u >= 1 - rule.malleable[of] ? Flexibility::kMalleable : Flexibility::kRigid;
}

double parse_share(std::string_view option, std::string_view text) {
  const auto share = parse_finite(text);
  if (!share || *share < 0 || *share > 1)
    throw UsageError(fmt::format("{}: expected a share 0..1, found '{}'", option, text));
  return *share;
}

}  // namespace

void declare_flexibility(JobTraits& traits, const LoggedJob& job, const FlexibilityRule& rule, CoreCount machine,
                         Seed seed) {
  traits.least = traits.most = std::nullopt;
  traits.sizes.clear();
  traits.speedup = std::nullopt;
  if (!rule.speedup) {
    traits.flexibility = draw_flexibility(job.number, rule, class_of(job.run), seed);
    return;
  }
  const ProcessCount full = processes_at(machine, 1);
  Shape shape = shape_of(job, rule, full, seed);
  const double at_optimum = seconds(job.run) * shape.curve.runtime_ratio(job.size, shape.optimum);
  traits.speedup = shape.curve;
  traits.flexibility = draw_flexibility(job.number, rule, class_of_seconds(at_optimum), seed);
  if (shape.rigid || job.size > full) traits.flexibility = Flexibility::kRigid;
  if (traits.flexibility == Flexibility::kRigid) return;
  traits.least = shape.range.least;
  traits.most = shape.range.most;
  traits.sizes = std::move(shape.sizes);
}

ClassShares parse_class_shares(std::string_view option, std::string_view text) {
  ClassShares shares;
  if (text.find('=') == std::string_view::npos) {
    shares.share.fill(parse_share(option, text));
    return shares;
  }
  std::array<bool, 3> given{};
  for (const std::string_view word : split(text, ',')) {
    const auto [key, value] = parse_key_value(word).value_or(KeyValue{word, {}});
    const auto place = static_cast<std::size_t>(std::ranges::find(kClassNames, key) - kClassNames.begin());
    if (place == kClassNames.size() || std::exchange(given[place], true))
      throw UsageError(fmt::format("{}: expected short=, medium= and long= once each, found '{}'", option, text));
    shares.share[place] = parse_share(option, value);
  }
  return shares;
}

std::string to_text(const ClassShares& shares) {
  const auto& s = shares.share;
  if (s[0] == s[1] && s[1] == s[2]) return fmt::format("{}", s[0]);
  return fmt::format("short={},medium={},long={}", s[0], s[1], s[2]);
}

}  // namespace replay
