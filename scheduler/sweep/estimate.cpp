#include "scheduler/sweep/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"
#include "scheduler/sweep/engine/children.hpp"
#include "scheduler/sweep/read_results.hpp"

namespace replay::sweep {
namespace {

constexpr std::chrono::seconds kMostTime{20};

// Of a policy, or of all cells where policies are no axis.
struct Group {
  std::size_t missing = 0;
  double seconds = 0;  // of those that were measured
  std::size_t measured = 0;

  [[nodiscard]] double mean() const { return measured == 0 ? 0 : seconds / static_cast<double>(measured); }
};

class Trial {
 public:
  Trial(const Plan& plan, std::vector<Group>& groups) : plan_(plan), groups_(groups) {}

  // Bytes of the mean line.
  double run(const std::vector<std::vector<std::size_t>>& cells, Estimate& made) {
    const HeedStops heeding;  // no child outlives this
    const auto compute = [this](std::size_t cell, const std::filesystem::path& scratch) {
      return results_json(plan_.compute(cell, scratch));
    };
    Children children{compute, {.time = kMostTime}};
    const auto until = std::chrono::steady_clock::now() + kMostTime;
    double bytes = 0;
    for (std::size_t round = 0; round < 3; ++round)
      for (std::size_t group = 0; group < cells.size(); ++group) {
        if (round >= cells[group].size() || stops_asked() > 0 || std::chrono::steady_clock::now() > until) continue;
        const std::size_t cell = cells[group][round];
        children.start(cell);
        std::vector<CellEnd> ends;
        while (ends.empty() && stops_asked() == 0) ends = children.wait(std::chrono::milliseconds{500});
        if (ends.empty()) return 0;
        groups_[group].seconds += ends.front().seconds;
        ++groups_[group].measured;
        ++made.tried;
        if (ends.front().kind != CellEnd::Kind::kDone && ++made.failed == 1) made.failure = ends.front().text;
        const CellLine line{
            .id = *plan_.id(cell), .version = Plan::version(), .failure = {}, .parameters = plan_.parameters(cell)};
        bytes += static_cast<double>(to_text(line, ends.front().text).size());
      }
    return made.tried == 0 ? 0 : bytes / static_cast<double>(made.tried);
  }

 private:
  const Plan& plan_;
  std::vector<Group>& groups_;
};

}  // namespace

Estimate estimate(const Plan& plan, const std::filesystem::path& folder) {
  const auto& axes = plan.study().axes;
  const auto policy = std::ranges::find(axes, "policy", &StudyAxis::word);
  const auto axis = static_cast<std::size_t>(policy - axes.begin());
  std::vector<Group> groups(policy == axes.end() ? 1 : policy->values.size());
  const auto group_of = [&](std::size_t cell) { return policy == axes.end() ? 0 : plan.values_of(cell)[axis]; };
  // The first, one in the middle and the last of each group: of the numbers that double, the last one is about in the middle.
  std::vector<std::vector<std::size_t>> trials(groups.size());
  const SweepStatus status = read_status(plan, folder, [&](std::size_t cell, CellId) {
    const std::size_t group = group_of(cell);
    const std::size_t number = ++groups[group].missing;
    auto& chosen = trials[group];
    if (chosen.size() < 3) return chosen.push_back(cell);
    if ((number & (number - 1)) == 0) chosen[1] = cell;
    chosen[2] = cell;
  });
  Estimate made{.cells = status.cells, .done = status.done, .missing = status.missing()};
  double line = 0;
  if (status.done > 0) {
    const double mean = status.seconds / static_cast<double>(status.done);
    line = status.bytes / static_cast<double>(status.done);
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto known =
          policy == axes.end() ? status.mean_seconds.begin() : status.mean_seconds.find(policy->values[group].text);
      groups[group].seconds = known == status.mean_seconds.end() ? mean : known->second;
      groups[group].measured = 1;
    }
  } else {
    line = Trial{plan, groups}.run(trials, made);
  }
  Group all;
  for (const Group& group : groups) all.seconds += group.seconds, all.measured += group.measured;
  for (const Group& group : groups)
    made.seconds += static_cast<double>(group.missing) * (group.measured > 0 ? group : all).mean();
  made.bytes = static_cast<double>(made.cells) * line;
  return made;
}

}  // namespace replay::sweep
