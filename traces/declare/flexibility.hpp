// The declarations of how jobs can change their size, and how fast they are at each: a speedup curve for every job, and
// sizes for the share of jobs that is moldable or malleable. The models are those of SCOJO-P (section 4.6) and of Cirne
// and Berman.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/base/text/choice.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/job_traits.hpp"
#include "traces/models/random.hpp"

namespace replay {

enum class SpeedupModel : std::uint8_t { kThreePoint, kDowney, kLinear };

/// Which sizes Downey's jobs are offered: all from N_min to N_max (SCOJO-P), or some that Cirne and Berman draw: powers
/// of two for jobs logged at one and any for others, or by the answers of their survey.
enum class OfferedSizes : std::uint8_t { kAll, kPowerOfTwoBias, kSurvey };

inline constexpr Choice<SpeedupModel> kSpeedupModels[] = {
    {"three-point", SpeedupModel::kThreePoint}, {"downey", SpeedupModel::kDowney}, {"linear", SpeedupModel::kLinear}};
inline constexpr Choice<OfferedSizes> kOfferedSizes[] = {
    {"none", OfferedSizes::kAll}, {"power-of-two", OfferedSizes::kPowerOfTwoBias}, {"survey", OfferedSizes::kSurvey}};

/// A share of the jobs, by class.
struct ClassShares {
  std::array<double, kJobClasses> share{};
  [[nodiscard]] double operator[](JobClass of) const { return share[static_cast<std::size_t>(of)]; }
};

struct FlexibilityRule {
  std::optional<SpeedupModel> speedup{};  ///< nothing: no curve and no sizes, for jobs that are malleable or rigid
  OfferedSizes sizes = OfferedSizes::kAll;
  double sigma_factor = 1;              ///< Downey: on every sigma
  ClassShares moldable{}, malleable{};  ///< sum of each class <= 1; the rest is rigid
};

/// What the log says about a job that has run.
struct LoggedJob {
  std::int64_t number = 0;
  ProcessCount size = 1;
  Duration run{};
};

/// Sets flexibility, speedup, least, most and sizes of the traits, whatever they were. A job that is wider than the
/// machine is rigid, and so is a serial one under three points.
void declare_flexibility(JobTraits& traits, const LoggedJob& job, const FlexibilityRule& rule, CoreCount machine,
                         Seed seed);

/// "0.8" or "short=0,medium=0.5,long=1". Throws UsageError.
[[nodiscard]] ClassShares parse_class_shares(std::string_view option, std::string_view text);
[[nodiscard]] std::string to_text(const ClassShares& shares);

}  // namespace replay
