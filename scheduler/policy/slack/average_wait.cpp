#include "scheduler/policy/slack/average_wait.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {

std::size_t size_class(ProcessCount processes) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(processes - 1)));
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
  const std::size_t which = size_class(job.processes);
  if (which >= of_size_.size()) of_size_.resize(which + 1);
  of_size_[which].add(wait);
}

double AverageWait::seconds_of(const Job& job) const {
  if (!unknown_.empty())
    throw PolicyError(
        fmt::format("policy 'slack': awt={} takes a simulation before the run, which a policy inside another one does "
                    "not get; expected a number or auto",
                    unknown_));
  const std::size_t which = size_class(job.processes);
  if (!given_.empty()) return given_[std::min(which, given_.size() - 1)];
  return which < of_size_.size() && !of_size_[which].is_empty() ? of_size_[which].mean_s() : all_.mean_s();
}

}  // namespace replay
