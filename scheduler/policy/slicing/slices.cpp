#include "scheduler/policy/slicing/slices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

constexpr SliceShare kShareOfThePaper{30, 70};
constexpr std::int64_t kGreatestWeight = 1'000'000;

template <class Number>
std::optional<std::array<Number, 2>> parse_two(std::string_view text, char separator, Number most) {
  const std::vector<std::string_view> parts = split(text, separator);
  if (parts.size() != 2) return std::nullopt;
  const auto first = parse_number<Number>(parts[0], Number{0}, most);
  const auto second = parse_number<Number>(parts[1], Number{0}, most);
  if (!first || !second) return std::nullopt;
  return std::array{*first, *second};
}

[[noreturn]] void refuse(std::string_view text, std::string_view part) {
  throw UsageError(
      fmt::format("shares '{}': expected weights of medium and long jobs such as 30/70, or hours before them such as "
                  "8-18=50/50, found '{}'",
                  text, part));
}

// `share` of `whole`, rounded down to a microsecond.
Duration part_of(Duration whole, SliceShare share) {
  __extension__ using Wide = __int128;
  return Duration{static_cast<Duration::rep>(Wide{whole.count()} * share.medium / (share.medium + share.long_))};
}

}  // namespace

SliceShares::SliceShares(std::string_view text) {
  std::optional<SliceShare> rest;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view weights = equals == std::string_view::npos ? part : part.substr(equals + 1);
    const auto share = parse_two<std::int64_t>(weights, '/', kGreatestWeight);
    if (!share || (*share)[0] + (*share)[1] == 0) refuse(text, part);
    const SliceShare given{(*share)[0], (*share)[1]};
    if (equals == std::string_view::npos) {
      if (rest) refuse(text, part);
      rest = given;
      continue;
    }
    const auto hours = parse_two<int>(part.substr(0, equals), '-', 24);
    if (!hours || (*hours)[0] == (*hours)[1]) refuse(text, part);
    hours_.push_back({(*hours)[0], (*hours)[1], given});
  }
  hours_.push_back({0, 24, rest.value_or(kShareOfThePaper)});
}

SliceShare SliceShares::at(Duration time_of_day) const {
  const auto fits = [time_of_day](const Hours& hours) {
    const bool from = time_of_day >= std::chrono::hours{hours.from};
    const bool to = time_of_day < std::chrono::hours{hours.to};
    return hours.from < hours.to ? from && to : from || to;
  };
  return std::ranges::find_if(hours_, fits)->share;
}

Instant interval_of(const SliceSettings& settings, Instant now) {
  const Duration since = now.time_since_epoch() % settings.interval;
  return now - (since < Duration::zero() ? since + settings.interval : since);
}

std::vector<Slice> slices_of(const SliceSettings& settings, Instant start, Duration time_of_day,
                             const ClassesWithJobs& with_jobs, const Slice* before) {
  const auto has = [&with_jobs](JobClass of) { return with_jobs[static_cast<std::size_t>(of)]; };
  const bool only_short = has(JobClass::kShort) && !has(JobClass::kMedium) && !has(JobClass::kLong);
  const Instant end = start + settings.interval;
  const Instant short_end = only_short ? end : has(JobClass::kShort) ? start + settings.short_slice : start;
  Instant medium_end = short_end;
  if (has(JobClass::kMedium) == has(JobClass::kLong))
    medium_end += part_of(end - short_end, settings.shares.at(time_of_day));
  else if (has(JobClass::kMedium))
    medium_end = end;

  std::vector<Slice> slices;
  const auto add = [&](JobClass of, Instant from, Instant to) {
    if (from == to) return;
    const bool has_overhead = settings.overhead_at_every_slice || before == nullptr || before->job_class != of;
    slices.push_back({of, from, has_overhead ? std::min(from + settings.overhead, to) : from, to});
    before = &slices.back();
  };
  slices.reserve(kJobClasses);  // `before` points into it
  add(JobClass::kShort, start, short_end);
  add(JobClass::kMedium, short_end, medium_end);
  add(JobClass::kLong, medium_end, end);
  return slices;
}

void expect_useful_slices(const SliceSettings& settings) {
  if (settings.interval <= Duration::zero() || settings.short_slice <= Duration::zero())
    throw UsageError("policy 'scojo-pect': expected an interval and a slice for short jobs longer than 0 s");
  if (settings.short_slice > settings.interval)
    throw UsageError(
        fmt::format("policy 'scojo-pect': the slice for short jobs, {} s, is longer than the interval, {} s",
                    to_text(settings.short_slice), to_text(settings.interval)));
  constexpr std::array<ClassesWithJobs, 3> kAll{{{false, true, true}, {true, true, true}, {true, false, false}}};
  for (const SliceShares::Hours& hours : settings.shares.all())
    for (const ClassesWithJobs& with_jobs : kAll) {
      SliceSettings one = settings;
      one.shares = SliceShares{fmt::format("{}/{}", hours.share.medium, hours.share.long_)};
      for (const Slice& slice : slices_of(one, Instant{}, Duration::zero(), with_jobs, nullptr))
        if (slice.begins == slice.ends)
          throw UsageError(
              fmt::format("policy 'scojo-pect': a slice of {} s for {} jobs is not longer than the overhead of {} s",
                          to_text(slice.ends - slice.starts), to_text(slice.job_class), to_text(settings.overhead)));
    }
}

}  // namespace replay
