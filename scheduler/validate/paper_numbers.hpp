// Numbers that the FCFS-malleable paper prints of its validation: Table 1 and the gains of its abstract. A test
// compares the table with tests/data/fcfs_malleable_table1.csv. Source: Utrera, Tabik, Corbalan, Labarta 2012, Table 1;
// abstract and section 6.
#pragma once

#include <array>
#include <string_view>

#include "scheduler/compare/figures.hpp"

namespace replay::validate {

struct PaperCell {
  int load_percent;
  std::string_view policy;                                         ///< our name
  std::array<compare::FigurePair, compare::kFigureCount> figures;  ///< {S, R}: wait s, response s, slowdown
};

inline constexpr std::array<PaperCell, 8> kPaperTable1 = {{
    {30, "easy", {{{55, 60}, {107, 113}, {2.1, 2.1}}}},
    {50, "easy", {{{69.6, 74}, {121.3, 125}, {6.5, 6.5}}}},
    {70, "easy", {{{93, 100}, {145.2, 152}, {10.7, 10.3}}}},
    {90, "easy", {{{175, 162}, {228, 214}, {19, 16}}}},
    {30, "fcfs-malleable", {{{1.6, 1.3}, {73.5, 73.3}, {1.2, 1.4}}}},
    {50, "fcfs-malleable", {{{13.2, 13.8}, {93.5, 93}, {3.2, 3.2}}}},
    {70, "fcfs-malleable", {{{36.8, 32}, {118.3, 113}, {6, 5.7}}}},
    {90, "fcfs-malleable", {{{118, 111}, {220, 198.9}, {10.8, 9.6}}}},
}};

inline constexpr double kPaperMeanError = 7;      ///< %, section 4.1
inline constexpr double kPaperResponseGain = 31;  ///< %, of FCFS-malleable over EASY, over logs of the archive
inline constexpr double kPaperSlowdownGain = 28;  ///< %, likewise

/// Null if the paper has no such cell.
[[nodiscard]] inline const PaperCell* paper_cell(int load_percent, std::string_view policy) {
  for (const PaperCell& cell : kPaperTable1)
    if (cell.load_percent == load_percent && cell.policy == policy) return &cell;
  return nullptr;
}

}  // namespace replay::validate
