// Figures made of vmlib's measurements: medians, ratios, tables, and whether the targets are met. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replay::bench {

/// The middle value, or the mean of the two in the middle. REQUIRES: values.
[[nodiscard]] double median(std::vector<double> values);

/// How a program is run: with what, on what. "Shared": two ranks on one core.
enum class Setting : std::uint8_t {
  kStock,        ///< 2 ranks on 2 cores
  kVmlib,        ///< the same with vmlib preloaded
  kStockShared,  ///< 2 ranks on 1 core
  kYieldShared,
  kTokenShared,
  kOneRank,    ///< 1 rank on 1 core, stock
  kStockFour,  ///< 4 ranks on 2 cores
  kYieldFour,
  kTokenFour
};
inline constexpr Setting kSettings[] = {Setting::kStock,       Setting::kVmlib,       Setting::kStockShared,
                                        Setting::kYieldShared, Setting::kTokenShared, Setting::kOneRank,
                                        Setting::kStockFour,   Setting::kYieldFour,   Setting::kTokenFour};

/// One program in all settings. The i-th values of two settings were taken one after the other.
struct Series {
  std::string name;  ///< "cg W"
  std::string unit;  ///< "s" or "us"
  std::map<Setting, std::vector<double>> rounds;

  /// Nothing: not measured.
  [[nodiscard]] std::optional<double> value(Setting setting) const;
  /// Of medians: `above` / `below`.
  [[nodiscard]] std::optional<double> ratio(Setting above, Setting below) const;
  /// What preloading vmlib costs where no core is shared: the median of the differences within a round.
  [[nodiscard]] std::optional<double> overhead() const;
};

/// Two jobs on the same cores, together, over one after the other: makespans.
struct PairSeries {
  std::string name;
  std::vector<double> one_after_the_other;              ///< s
  std::map<std::string, std::vector<double>> together;  ///< by back end
};

struct Measurements {
  std::vector<Series> series;
  std::map<std::string, std::vector<double>> moves;  ///< s, by back end
  int moves_wanted = 0;                              ///< of each back end
  std::vector<double> start_to_end_agent;            ///< s
  std::vector<double> start_to_end_bare;
  std::vector<PairSeries> pairs;
  bool is_disturbed = false;  ///< other processes used the machine: no target is met or missed by such figures
  std::vector<std::string> notes;
};

/// Keeps the fastest round of each setting. A load on the same processor core from outside this machine slows us
/// without showing in any load figure: medians then include it, the fastest rounds do not.
[[nodiscard]] Measurements fastest_of(Measurements measured);

struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  ///< the first one is the header

  /// Columns as wide as their widest cells.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;
};

/// Times, ratios, four ranks, moves, start to end, pairs, targets; those that have rows.
[[nodiscard]] std::vector<Table> tables_of(const Measurements& measured);

}  // namespace replay::bench
