// What a study found: the figures of its simulations by name, over seeds, and the paper's numbers. A path names a figure:
// "W1/SCOJO-P/wait short" is the wait of short jobs of the workload W1 under SCOJO-P.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/study/printed.hpp"
#include "scheduler/study/simulation.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"

namespace replay::study {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Of one simulation, by name.
using Figures = sweep::Results;

/// A policy that is compared.
struct Compared {
  std::string_view name, policy;  ///< in the tables, and as written
};

/// One simulation.
struct Cell {
  std::string name;    ///< workload and policy, as the tables call them: "W1/SCOJO-P"
  std::string policy;  ///< as written
  std::uint64_t seed = 1;

  [[nodiscard]] std::string workload() const { return name.substr(0, name.find('/')); }
};

/// NaN of none.
[[nodiscard]] double mean_of(const std::vector<double>& values);
/// For times that a few high values must not outweigh. Zero if some value is zero; NaN of none.
[[nodiscard]] double geometric_mean_of(const std::vector<double>& values);

class Findings {
 public:
  using Mean = double (*)(const std::vector<double>&);
  /// `mean`: over the seeds.
  explicit Findings(const Printed& printed, Mean mean = mean_of) : printed_(&printed), mean_(mean) {}

  void add(const std::string& cell, std::uint64_t seed, const Figures& figures);
  /// The figures of `cell` are found as those of `alias` too, if there are any.
  void add_alias(const std::string& alias, std::string_view cell);

  [[nodiscard]] bool has(std::string_view cell) const { return cells_.contains(cell); }
  [[nodiscard]] std::uint64_t seeds() const { return seeds_; }
  [[nodiscard]] const Printed& printed() const { return *printed_; }
  /// Empty if the cell was not run. INVARIANT: one that was run has the figure.
  [[nodiscard]] const std::vector<double>& by_seed(std::string_view path) const;

  /// NaN if it was not run.
  template <class... Parts>
  [[nodiscard]] double mean(fmt::format_string<Parts...> path, Parts&&... parts) const {
    return mean_(by_seed(fmt::format(path, std::forward<Parts>(parts)...)));
  }
  /// The arithmetic mean.
  template <class... Parts>
  [[nodiscard]] double average(fmt::format_string<Parts...> path, Parts&&... parts) const {
    return mean_of(by_seed(fmt::format(path, std::forward<Parts>(parts)...)));
  }
  /// By how many per cent the mean of a figure is lower in `cell` than in `base`.
  [[nodiscard]] double less(std::string_view cell, std::string_view base, std::string_view figure) const;
  /// By how many it is higher; no negative zero.
  [[nodiscard]] double more(std::string_view cell, std::string_view base, std::string_view figure) const {
    return 0 - less(cell, base, figure);
  }
  [[nodiscard]] std::vector<double> less_by_seed(std::string_view cell, std::string_view base,
                                                 std::string_view figure) const;

 private:
  const Printed* printed_;
  Mean mean_;
  std::uint64_t seeds_ = 0;
  std::map<std::string, std::map<std::string, std::vector<double>, std::less<>>, std::less<>> cells_;
};

/// Adds the figures of all cells, simulate(cell), each in a process of its own. Cells that take long come first, so that
/// no core has a long one left at the end; the findings depend on neither order nor cores. Throws as sweep::run_batch().
template <class SomeCell, class Simulate>
void run_cells(Findings& findings, const std::vector<SomeCell>& cells, const Surroundings& surroundings,
               const Simulate& simulate) {
  const std::vector<std::string> figures =
      sweep::run_batch({.count = cells.size(),
                        .compute = [&](std::size_t i, const auto&) { return sweep::results_json(simulate(cells[i])); },
                        .name = [&](std::size_t i) { return fmt::format("{}, seed {}", cells[i].name, cells[i].seed); },
                        .jobs = surroundings.jobs},
                       surroundings.show);
  for (std::size_t i = 0; i < cells.size(); ++i)
    findings.add(cells[i].name, cells[i].seed, sweep::parse_results(figures[i]));
}

}  // namespace replay::study
