#include "scheduler/sweep/read_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/sweep/cell_work.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"
#include "scheduler/sweep/engine/marks.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

// Which cell of the plan a line is of.
class Numbers {
 public:
  explicit Numbers(const Plan& plan) : plan_(plan) {}

  std::optional<std::size_t> of(CellId id, std::string_view version) {
    auto [found, is_new] = by_version_.try_emplace(std::string{version});
    if (is_new) {
      found->second.reserve(plan_.count());
      for (std::size_t cell = 0; cell < plan_.count(); ++cell)
        if (const auto one = plan_.id(cell, version)) found->second.emplace(*one, cell);
    }
    const auto cell = found->second.find(id);
    return cell == found->second.end() ? std::nullopt : std::optional{cell->second};
  }

 private:
  const Plan& plan_;
  std::map<std::string, std::unordered_map<CellId, std::size_t>> by_version_;
};

// Whether `a` is rather taken than `b`, of the same cell.
bool is_preferred(const CellResult& a, const CellResult& b) {
  if (a.failure.empty() != b.failure.empty()) return a.failure.empty();
  if (a.version != b.version)
    return a.version == Plan::version() || (b.version != Plan::version() && a.version > b.version);
  return a.failure < b.failure;
}

CellResult result_of(const CellLine& line, std::vector<std::size_t> values, const std::vector<std::string>& metrics) {
  CellResult result{id_text(line.id), std::move(values), line.version, line.failure, {}, {}};
  if (!line.failure.empty()) return result;
  for (const std::string& name : metrics) {
    const auto found = line.results.find(name);
    result.metrics[name] = found == line.results.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  }
  const auto count_of = [&line](const char* name) {
    const auto found = line.results.find(name);
    return found == line.results.end() ? 0 : found->second;
  };
  result.cleaned = {count_of(kLeftOut), count_of(kTooWide), count_of(kNarrowed)};
  return result;
}

}  // namespace

StudyResults read_results(const Plan& plan, const fs::path& folder, Versions versions) {
  const StudyFile& study = plan.study();
  StudyResults results;
  results.name = study.name;
  results.metrics = study.metrics;
  for (const StudyAxis& axis : study.axes) {
    Axis& made = results.axes.emplace_back(Axis{axis.word, {}});
    for (const StudyValue& value : axis.values) made.values.push_back(value.text);
  }
  results.planned = plan.cells();
  Numbers numbers{plan};
  std::map<std::size_t, CellResult> cells;
  std::map<std::string, std::size_t> seen;
  CellFiles files{folder / "cells"};
  files.read_new([&](const LineHead& head, std::string_view text) {
    const auto cell = numbers.of(head.id, head.version);
    if (!cell) return;
    ++seen[std::string{head.version}];
    CellResult result = result_of(parse_line(text), plan.values_of(*cell), study.metrics);
    const auto [there, is_new] = cells.try_emplace(*cell, std::move(result));
    if (!is_new && is_preferred(result, there->second)) there->second = std::move(result);
  });
  if (seen.size() > 1 && versions == Versions::kOne) {
    std::vector<std::string> texts;
    for (const auto& [version, lines] : seen) texts.push_back(fmt::format("{} ({} cells)", version, lines));
    throw InputError(
        fmt::format("{}: expected cells of one version of replay, found those of {}; --mixed-versions takes them all",
                    folder.string(), fmt::join(texts, ", ")));
  }
  for (auto& [cell, result] : cells) results.cells.push_back(std::move(result));
  return results;
}

SweepStatus read_status(const Plan& plan, const fs::path& folder,
                        const std::function<void(std::size_t, CellId)>& missing) {
  SweepStatus status;
  struct Known {
    bool is_done = false;
    std::string failure{};
  };
  std::unordered_map<CellId, Known> known;
  std::map<std::string, std::pair<double, std::size_t>> of_policy;
  CellFiles files{folder / "cells"};
  files.read_new([&](const LineHead& head, std::string_view text) {
    if (head.version != Plan::version()) {
      ++status.other_versions;
      return;
    }
    Known& one = known[head.id];
    if (one.is_done) return;
    const CellLine line = parse_line(text);
    one.is_done = !head.has_failed;
    if (!one.is_done && (one.failure.empty() || line.failure < one.failure)) one.failure = line.failure;
    if (!one.is_done) return;
    status.seconds += line.seconds;
    status.bytes += static_cast<double>(text.size() + 1);
    const auto parameters = parse_json<nlohmann::json>(line.parameters);
    auto& [seconds, count] = of_policy[parameters.value("policy", std::string{})];
    seconds += line.seconds, ++count;
  });
  status.damaged = files.damaged();
  for (const auto& [policy, sum] : of_policy) status.mean_seconds[policy] = sum.first / static_cast<double>(sum.second);
  for (std::size_t cell = 0; cell < plan.count(); ++cell) {
    const auto id = plan.id(cell);
    if (!id) continue;
    ++status.cells;
    const auto found = known.find(*id);
    if (found == known.end()) {
      if (missing) missing(cell, *id);
    } else if (found->second.is_done) {
      ++status.done;
    } else {
      ++status.failed;
      status.failures[found->second.failure].push_back(*id);
    }
  }
  std::error_code error;
  for (fs::directory_iterator entry{folder / "running", error}; !error && entry != fs::directory_iterator{};
       entry.increment(error))
    status.running.push_back(entry->path().filename().string());
  std::erase_if(status.running, [&](const std::string& label) { return !seems_alive(folder, label); });
  std::ranges::sort(status.running);
  return status;
}

}  // namespace replay::sweep
