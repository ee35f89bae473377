#include "traces/tools/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

constexpr std::size_t kWorst = 10;

// Distance on a log scale, without the logarithm: its exponential.
double factor_between(double a, double b) { return a > b ? a / b : b / a; }

// Edges of the bins: 1.01^i, by multiplication only, so that they are the same everywhere.
const std::vector<double>& edges() {
  static const std::vector<double> all = [] {
    std::vector<double> list(MatchReport::kBins);
    double edge = 1;
    for (double& one : list) one = edge *= 1.01;
    return list;
  }();
  return all;
}

}  // namespace

double MatchReport::factor_at(double share) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : factors) all += count;
  const double wanted = share * static_cast<double>(all);
  std::uint64_t so_far = 0;
  for (std::size_t bin = 0; bin < factors.size(); ++bin)
    if (so_far += factors[bin]; so_far > 0 && static_cast<double>(so_far) >= wanted) return edges()[bin];
  return 1;
}

double MatchReport::share_within(double relative_error) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : factors) all += count;
  const auto found = std::ranges::find(kErrors, relative_error);
  INVARIANT(found != kErrors.end(), "no share was counted for {}", relative_error);
  return all == 0 ? 0
                  : static_cast<double>(within[static_cast<std::size_t>(found - kErrors.begin())]) /
                        static_cast<double>(all);
}

Matcher::Matcher(const std::vector<MatchCandidate>& candidates, MatchOptions options) : options_(options) {
  if (candidates.empty())
    throw InputError("the profile has no benchmark to match jobs to: replay calibrate measures them");
  std::map<std::string, std::int32_t> numbers;
  for (const MatchCandidate& candidate : candidates) {
    const auto [entry, is_new] = numbers.emplace(candidate.command, static_cast<std::int32_t>(programs_.size()));
    if (is_new) programs_.push_back(candidate.command);
    by_size_[candidate.processes].push_back({candidate.runtime_s, entry->second});
  }
  for (auto& [size, choices] : by_size_) std::ranges::stable_sort(choices, {}, &Choice::runtime_s);
  report_.jobs_of_program.resize(programs_.size());
}

void Matcher::set_programs(SwfHeader& header) const {
  header.remove("Program");
  for (std::size_t i = 0; i < programs_.size(); ++i) header.add("Program", fmt::format("{} {}", i, programs_[i]));
}

// Of two equally near sizes the smaller one, which needs no more processors than the job has.
ProcessCount Matcher::nearest_size(ProcessCount wanted) const {
  const auto above = by_size_.lower_bound(wanted);
  if (above == by_size_.end()) return std::prev(above)->first;
  if (above == by_size_.begin() || above->first == wanted) return above->first;
  const ProcessCount below = std::prev(above)->first;
  return factor_between(below, wanted) <= factor_between(above->first, wanted) ? below : above->first;
}

const Matcher::Choice& Matcher::nearest(const std::vector<Choice>& ascending, double wanted_s) {
  const auto above = std::ranges::lower_bound(ascending, wanted_s, {}, &Choice::runtime_s);
  if (above == ascending.begin()) return *above;
  // Of equal run times the one that stands first in the profile.
  const auto below = std::ranges::lower_bound(ascending, std::prev(above)->runtime_s, {}, &Choice::runtime_s);
  if (above == ascending.end() || wanted_s <= 0) return *below;
  return factor_between(below->runtime_s, wanted_s) <= factor_between(above->runtime_s, wanted_s) ? *below : *above;
}

void Matcher::apply(TraceEntry& entry) {
  SwfRecord& record = entry.record;
  ++report_.records;
  record.executable = -1;
  const ProcessCount size = record.allocated > 0 ? record.allocated : record.requested;
  if (record.run < Duration::zero()) {
    ++report_.without_runtime;
    return;
  }
  if (size <= 0) {
    ++report_.without_size;
    return;
  }
  const double wanted = seconds(record.run) * options_.time_scale;
  const ProcessCount measured_at = nearest_size(size);
  const Choice& choice = nearest(by_size_.at(measured_at), wanted);
  record.executable = choice.program;
  ++report_.matched;
  ++report_.jobs_of_program[static_cast<std::size_t>(choice.program)];
  if (measured_at != size) ++report_.at_other_size;
  if (wanted <= 0) {
    ++report_.zero_runtimes;
    return;
  }
  count({.job = record.job,
         .processes = size,
         .matched_processes = measured_at,
         .wanted_s = wanted,
         .runtime_s = choice.runtime_s,
         .factor = factor_between(wanted, choice.runtime_s),
         .program = choice.program});
}

void Matcher::count(const BadMatch& match) {
  const auto bin = static_cast<std::size_t>(std::ranges::lower_bound(edges(), match.factor) - edges().begin());
  ++report_.factors[std::min(bin, MatchReport::kBins - 1)];
  const double error = (match.runtime_s - match.wanted_s) / match.wanted_s;
  for (std::size_t i = 0; i < MatchReport::kErrors.size(); ++i)
    if (std::abs(error) <= MatchReport::kErrors[i]) ++report_.within[i];
  ++measured_;
  sum_relative_ += error;
  sum_absolute_ += std::abs(error);
  report_.mean_relative_error = sum_relative_ / static_cast<double>(measured_);
  report_.mean_absolute_error = sum_absolute_ / static_cast<double>(measured_);
  report_.total_wanted_s += match.wanted_s;
  report_.total_runtime_s += match.runtime_s;
  std::vector<BadMatch>& worst = report_.worst;
  if (worst.size() == kWorst && match.factor <= worst.back().factor) return;
  worst.insert(std::ranges::upper_bound(worst, match.factor, std::ranges::greater{}, &BadMatch::factor), match);
  if (worst.size() > kWorst) worst.pop_back();
}

}  // namespace replay
