#include "traces/declare/tsafrir.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/base/error.hpp"
#include "traces/models/portable_math.hpp"

namespace replay {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// The popularity of the twenty popular estimates of four logs, by length, the limit first. Limits are those of the
// paper's table of logs; a few estimates beyond them are in the logs.
constexpr TsafrirParameters kParameters[] = {
    {"sdsc", "SDSC SP2", hours{18}, {3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20}},
    {"ctc", "CTC SP2", hours{18}, {1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19}},
    {"kth", "KTH SP2", hours{60}, {1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11}},
    {"blue", "SDSC Blue Horizon", hours{36}, {1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12}}};

struct Point {
  double jobs, estimates;
};
constexpr Point kDistinct[] = {{0, 0}, {20, 10}, {200, 20}, {1000, 35}, {10000, 90}, {70000, 340}, {250000, 565}};

constexpr double kHeadPercent = 89, kTailPercent = 11;

// Takes out of `pool` the popularity of time rank `row`: the most popular one that occurs in no later row of any log,
// else the more popular of two at random.
int take_popularity(std::vector<int>& pool, std::size_t row, UniformSource& source) {
  const auto is_due = [row](int popularity) {
    return std::ranges::all_of(kParameters, [&](const TsafrirParameters& log) {
      const auto at = std::ranges::find(log.popularity, popularity) - log.popularity.begin();
      return static_cast<std::size_t>(at) <= row;
    });
  };
  int taken = static_cast<int>(kHeadSize) + 1;
  for (const int popularity : pool)
    if (popularity < taken && is_due(popularity)) taken = popularity;
  if (taken > static_cast<int>(kHeadSize)) {
    const auto draw = [&] { return pool[source.below(pool.size())]; };
    const int first = draw();
    taken = std::min(first, draw());
  }
  std::erase(pool, taken);
  return taken;
}

// Fills `times` up to `count` with the multiples of some round time below the limit, the longest first.
void add_multiples(std::vector<Duration>& times, std::size_t count, Duration limit, Duration of) {
  for (std::int64_t factor = limit / of; factor > 0 && times.size() < count; --factor)
    if (std::ranges::find(times, factor * of) == times.end()) times.push_back(factor * of);
}

// Where the i-th of `tail` less popular estimates lies, as a share of the limit: many short ones, few long ones.
double tail_position(int i, int tail, double bend) {
  const double x = static_cast<double>(i) / tail;
  return (bend - 1) * x / (bend - x);
}

std::vector<Duration> tail_times(int distinct, Duration limit, std::vector<Duration> taken) {
  const int tail = distinct - static_cast<int>(taken.size());
  const double bend = 1 + 12.1039 * portable::pow(distinct, -0.6026);
  std::vector<Duration> times;
  std::ranges::sort(taken);
  for (int i = 1; i <= tail; ++i) {
    const double share = tail_position(i, tail, bend);
    const auto whole = minutes{std::llround(share * static_cast<double>(limit.count()) / 6e7)};
    for (const auto shift : {0, 30, -30, 20, -20, 10, -10}) {
      const Duration time = whole + seconds{shift};
      const auto place = std::ranges::lower_bound(taken, time);
      if (time <= Duration::zero() || time >= limit || (place != taken.end() && *place == time)) continue;
      taken.insert(place, time);
      times.push_back(time);
      break;
    }
  }
  return times;
}

std::vector<double> tail_percentages(std::size_t count) {
  std::vector<double> percent(count);
  for (std::size_t i = 0; i < count; ++i)
    percent[i] = 795.6 * portable::pow(static_cast<double>(kHeadSize + 1 + i), -2.267);
  const double sum = std::accumulate(percent.begin(), percent.end(), 0.0);
  for (double& p : percent) p *= kTailPercent / sum;
  return percent;
}

template <class Value>
void shuffle(std::vector<Value>& values, UniformSource& source) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[source.below(i)]);
}

// Rounding leaves the sum a little off: bins change by their share of the difference, then one by one, the largest
// first.
void make_counts_sum_to(std::size_t jobs, std::vector<EstimateBin>& bins) {
  std::vector<EstimateBin*> by_size;
  std::int64_t sum = 0;
  for (EstimateBin& bin : bins) {
    by_size.push_back(&bin);
    bin.jobs =
        static_cast<std::uint64_t>(std::max(1.0, std::floor(bin.percent * static_cast<double>(jobs) / 100 + 0.5)));
    sum += static_cast<std::int64_t>(bin.jobs);
  }
  std::ranges::stable_sort(by_size, std::ranges::greater{}, [](const EstimateBin* bin) { return bin->jobs; });
  const auto add = [&sum](EstimateBin& bin, std::int64_t change) {
    change = std::max(change, 1 - static_cast<std::int64_t>(bin.jobs));
    bin.jobs = static_cast<std::uint64_t>(static_cast<std::int64_t>(bin.jobs) + change);
    sum += change;
  };
  const auto wanted = static_cast<std::int64_t>(jobs);
  const double growth = static_cast<double>(wanted - sum) / static_cast<double>(sum);
  for (EstimateBin* bin : by_size) add(*bin, static_cast<std::int64_t>(growth * static_cast<double>(bin->jobs)));
  while (sum != wanted)
    for (EstimateBin* bin : by_size)
      if (sum != wanted) add(*bin, sum < wanted ? 1 : -1);
}

// Every estimate as often as its bin has it, longest first.
std::vector<Duration> spread_out(std::span<const EstimateBin> bins) {
  std::vector<Duration> estimates;
  for (const EstimateBin& bin : bins) estimates.insert(estimates.end(), bin.jobs, bin.estimate);
  std::ranges::sort(estimates, std::ranges::greater{});
  return estimates;
}

// Where even the k-th longest estimate is shorter than the k-th longest run time, the next longer bin replaces it.
std::uint64_t raise_to_runtimes(std::vector<Duration>& estimates, std::span<const Duration> runtimes,
                                std::span<const EstimateBin> bins, Duration limit) {
  std::vector<Duration> known{limit};
  for (const EstimateBin& bin : bins) known.push_back(bin.estimate);
  std::ranges::sort(known);
  std::uint64_t raised = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    if (estimates[i] >= runtimes[i]) continue;
    estimates[i] = *std::ranges::lower_bound(known, runtimes[i]);
    ++raised;
  }
  return raised;
}

Duration limit_of(std::span<const Duration> runtimes, const TsafrirRule& rule) {
  if (rule.limit) return *rule.limit;
  if (rule.parameters != nullptr) return rule.parameters->limit;
  Duration longest = kLeastLimit;
  for (const Duration run : runtimes) longest = std::max(longest, run);
  return std::chrono::ceil<hours>(longest);
}

}  // namespace

std::span<const TsafrirParameters> tsafrir_parameters() { return kParameters; }

PopularityOrder draw_popularity(UniformSource& source) {
  PopularityOrder order{};
  std::vector<int> pool;
  const auto is_used = [&order](int popularity) { return std::ranges::find(order, popularity) != order.end(); };
  order[0] = 1;
  for (std::size_t row = 0; row < kHeadSize; ++row) {
    for (const TsafrirParameters& log : kParameters)
      if (!is_used(log.popularity[row])) pool.push_back(log.popularity[row]);
    if (row > 0) order[row] = take_popularity(pool, row, source);
  }
  return order;
}

int distinct_estimates(std::size_t jobs) {
  const auto n = static_cast<double>(jobs);
  for (std::size_t i = 1; i < std::size(kDistinct); ++i) {
    const auto& [from, to] = std::pair(kDistinct[i - 1], kDistinct[i]);
    if (n > to.jobs) continue;
    const double share = (n - from.jobs) / (to.jobs - from.jobs);
    const double distinct = from.estimates + share * (to.estimates - from.estimates);
    return std::max(jobs > 0 ? 1 : 0, static_cast<int>(std::lround(distinct)));
  }
  return static_cast<int>(kDistinct[std::size(kDistinct) - 1].estimates);
}

std::array<double, kHeadSize> head_percentages() {
  std::array<double, kHeadSize> percent{};
  percent[0] = kHeadPercent;
  for (std::size_t i = 1; i < kHeadSize; ++i) {
    percent[i] = 14.0491 * portable::exp(-0.177531 * static_cast<double>(i + 1)) + 0.462513;
    percent[0] -= percent[i];
  }
  return percent;
}

std::array<Duration, kHeadSize> head_times(Duration limit) {
  constexpr minutes kRound[] = {minutes{5}, minutes{10}, minutes{15}, minutes{20}, minutes{30},
                                hours{1},   hours{2},    hours{3},    hours{4},    hours{5},
                                hours{6},   hours{8},    hours{10},   hours{12},   hours{18}};
  // The last one is our addition: five minutes do not give twenty times for limits below 100 minutes.
  constexpr minutes kFillers[] = {hours{200}, hours{100},  hours{50},   hours{10},  hours{5},  hours{2},
                                  hours{1},   minutes{20}, minutes{10}, minutes{5}, minutes{1}};
  INVARIANT(limit >= kLeastLimit, "limit of {} s", to_text(limit));
  std::vector<Duration> times{limit};
  for (const minutes time : kRound)
    if (time < limit) times.push_back(time);
  for (const minutes of : kFillers) add_multiples(times, kHeadSize, limit, of);
  std::sort(times.begin() + 1, times.end());
  std::array<Duration, kHeadSize> head{};
  std::ranges::copy(times, head.begin());
  return head;
}

std::vector<EstimateBin> draw_estimate_bins(std::size_t jobs, Duration limit, const PopularityOrder& order,
                                            UniformSource& source) {
  const int distinct = distinct_estimates(jobs);
  const auto times = head_times(limit);
  const auto percent = head_percentages();
  std::vector<EstimateBin> bins(kHeadSize);
  for (std::size_t rank = 0; rank < kHeadSize; ++rank) {
    const auto popularity = static_cast<std::size_t>(order[rank] - 1);
    bins[popularity] = {times[rank], percent[popularity]};
  }
  bins.resize(std::min<std::size_t>(kHeadSize, static_cast<std::size_t>(distinct)));
  if (distinct > static_cast<int>(kHeadSize)) {
    const std::vector<Duration> tail = tail_times(distinct, limit, {times.begin(), times.end()});
    std::vector<double> tail_percent = tail_percentages(tail.size());
    shuffle(tail_percent, source);
    for (std::size_t i = 0; i < tail.size(); ++i) bins.push_back({tail[i], tail_percent[i]});
  }
  make_counts_sum_to(jobs, bins);
  return bins;
}

// From the longest job to the shortest, each takes at random one of the estimates that are left and long enough: with
// both lists in descending order these are j .. end - 1, and the j-th moves to the place of the one taken.
AssignedEstimates assign_estimates(std::span<const Duration> runtimes, std::span<const EstimateBin> bins,
                                   Duration limit, UniformSource& source) {
  const std::size_t count = runtimes.size();
  AssignedEstimates result;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t job) { return runtimes[job]; });
  std::vector<Duration> sorted(count);
  for (std::size_t j = 0; j < count; ++j) {
    result.beyond_limit += runtimes[order[j]] > limit ? 1U : 0U;
    sorted[j] = std::min(runtimes[order[j]], limit);
  }
  std::vector<Duration> left = spread_out(bins);
  INVARIANT(left.size() == count, "{} estimates for {} jobs", left.size(), count);
  result.raised = raise_to_runtimes(left, sorted, bins, limit);

  const std::vector<Duration> descending = left;
  result.estimates.resize(count);
  std::size_t end = 0;  // one past the last estimate that is long enough
  for (std::size_t j = 0; j < count; ++j) {
    while (end < count && descending[end] >= sorted[j]) ++end;
    const std::size_t k = j + source.below(end - j);
    result.estimates[order[j]] = left[k];
    left[k] = left[j];
  }
  return result;
}

AssignedEstimates model_estimates(std::span<const Duration> runtimes, const TsafrirRule& rule, Seed seed) {
  if (runtimes.empty()) return {};
  Rng source{seed, "tsafrir"};
  const Duration limit = limit_of(runtimes, rule);
  const PopularityOrder order = rule.parameters != nullptr ? rule.parameters->popularity : draw_popularity(source);
  return assign_estimates(runtimes, draw_estimate_bins(runtimes.size(), limit, order, source), limit, source);
}

}  // namespace replay
