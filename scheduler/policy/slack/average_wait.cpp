#include "scheduler/policy/slack/average_wait.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/powers_of_two.hpp"

namespace replay {
namespace {

constexpr std::string_view kConservative = "conservative:compress=start-order";  // as the paper has it, section 3.2

class Mean {
 public:
  void add(double value) { sum_ += value, ++count_; }
  [[nodiscard]] double or_else(double otherwise) const {
    return count_ == 0 ? otherwise : std::max(kLeastAverageWait, sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

// The mean waits of a trial run, of all jobs or of each size class.
std::vector<double> mean_waits(const TrialRun& trial, bool by_size) {
  Mean all;
  std::vector<Mean> of_size;
  trial(kConservative, [&](ProcessCount processes, Duration wait) {
    const std::size_t which = log2_above(processes);
    if (which >= of_size.size()) of_size.resize(which + 1);
    all.add(seconds(wait));
    of_size[which].add(seconds(wait));
  });
  const double of_all = all.or_else(kLeastAverageWait);
  if (!by_size || of_size.empty()) return {of_all};
  std::vector<double> means;
  for (const Mean& mean : of_size) means.push_back(mean.or_else(of_all));
  return means;
}

}  // namespace

std::optional<std::string> with_average_waits(const PolicyText& written, const TrialRun& trial) {
  const std::pair<std::string, std::string> all{"awt", "conservative"}, by_size{"awt", "conservative-by-size"};
  const bool is_by_size = std::ranges::count(written.given, by_size) > 0;
  if (!is_by_size && std::ranges::count(written.given, all) == 0) return std::nullopt;
  const std::vector<double> waits = mean_waits(trial, is_by_size);
  std::string result = written.name;
  for (const auto& [key, value] : written.given)
    result += key == "awt" ? fmt::format(":awt={:.6g}", fmt::join(waits, "/")) : fmt::format(":{}={}", key, value);
  return result;
}

void AverageWait::Recent::add(Duration wait) {
  constexpr std::size_t kKept = 1000;
  waits_.push_back(seconds(wait));
  sum_ += waits_.back();
  if (waits_.size() <= kKept) return;
  sum_ -= waits_.front();
  waits_.pop_front();
}

double AverageWait::Recent::mean_s() const {
  return waits_.empty() ? kLeastAverageWait : std::max(kLeastAverageWait, sum_ / static_cast<double>(waits_.size()));
}

AverageWait::AverageWait(const Parameters& parameters) {
  if (std::optional<std::vector<double>> numbers = parameters.numbers("awt")) {
    given_ = std::move(*numbers);
    return;
  }
  const std::string& word = parameters.text("awt");
  by_size_ = word == "auto-by-size";
  if (word.starts_with("conservative")) unknown_ = word;
}

void AverageWait::add(const Job& job, Duration wait) {
  if (!given_.empty()) return;
  all_.add(wait);
  if (!by_size_) return;
  const std::size_t which = log2_above(job.processes);
  if (which >= of_size_.size()) of_size_.resize(which + 1);
  of_size_[which].add(wait);
}

double AverageWait::seconds_of(const Job& job) const {
  if (!unknown_.empty())
    throw PolicyError(
        fmt::format("policy 'slack': awt={} takes a simulation before the run, which a policy inside another one does "
                    "not get; expected a number or auto",
                    unknown_));
  const std::size_t which = log2_above(job.processes);
  if (!given_.empty()) return given_[std::min(which, given_.size() - 1)];
  return which < of_size_.size() && !of_size_[which].is_empty() ? of_size_[which].mean_s() : all_.mean_s();
}

}  // namespace replay
