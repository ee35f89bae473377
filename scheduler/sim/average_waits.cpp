#include "scheduler/sim/average_waits.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/slack/average_wait.hpp"

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

// The waits of jobs, all together and by size.
class Waits final : public log::Sink {
 public:
  void header(const log::Header& /*header*/) override {}
  void record(const log::Record& record) override {
    if (const auto* arrived = std::get_if<log::Submitted>(&record.what)) {
      waiting_.add(arrived->job.id) = {arrived->job.submitted, arrived->job.processes};
    } else if (const auto* launched = std::get_if<log::Launched>(&record.what)) {
      const auto [submitted, processes] = waiting_.at(launched->job);
      const double wait = seconds(record.at - submitted);
      const std::size_t which = size_class(processes);
      if (which >= of_size_.size()) of_size_.resize(which + 1);
      all_.add(wait);
      of_size_[which].add(wait);
      waiting_.erase(launched->job);
    }
  }
  [[nodiscard]] std::vector<double> means(bool by_size) const {
    const double all = all_.or_else(kLeastAverageWait);
    if (!by_size || of_size_.empty()) return {all};
    std::vector<double> means;
    for (const Mean& mean : of_size_) means.push_back(mean.or_else(all));
    return means;
  }

 private:
  JobMap<std::pair<Instant, ProcessCount>> waiting_;
  Mean all_;
  std::vector<Mean> of_size_;
};

}  // namespace

std::optional<std::string> with_average_waits(std::string_view policy, const Machine& machine, const Workload& workload,
                                              const RuntimeModel& model, const SimulationOptions& options) {
  if (!policy.starts_with("slack:")) return std::nullopt;
  const PolicyText text = parse_policy(policy);
  const std::pair<std::string, std::string> all{"awt", "conservative"}, by_size{"awt", "conservative-by-size"};
  const bool is_by_size = std::ranges::count(text.given, by_size) > 0;
  if (!is_by_size && std::ranges::count(text.given, all) == 0) return std::nullopt;

  const NamedPolicy conservative = make_policy(std::string(kConservative));
  Waits waits;
  simulate(machine, workload, *conservative.policy, model, waits, options);
  std::string result = text.name;
  for (const auto& [key, value] : text.given) {
    if (key == "awt")
      result += fmt::format(":awt={:.6g}", fmt::join(waits.means(is_by_size), "/"));
    else
      result += fmt::format(":{}={}", key, value);
  }
  return result;
}

}  // namespace replay
