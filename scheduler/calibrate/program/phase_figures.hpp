// Speed of a program in each phase of a run (expanded, shrunk, suspended), relative to its first phase, and the speed
// by formula (3). Computed from vmlib's counters at both ends of each phase; no I/O. Source of formula (3): Utrera,
// Tabik, Corbalan, Labarta 2012 (the FCFS-malleable paper).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::calibrate {

/// Placement of the ranks and whether they ran. Phases of one kind may be added up.
struct PhaseKind {
  int ranks = 1;
  int cores = 1;
  int ranks_per_core = 1;  ///< on the fullest core: m
  bool is_base = true;     ///< as launched; else shrunk
  bool is_suspended = false;
  bool operator==(const PhaseKind&) const = default;
};

/// Sums over all ranks, from the first statistics of a phase to the last.
struct PhaseTotals {
  PhaseKind kind;
  int times = 1;          ///< phases in it
  double from = 0;        ///< s after MPI_Init, of the first of them
  double seconds = 0;     ///< between the statistics: the last phase ends with the last sample, before the job's end
  bool is_known = false;  ///< every rank was registered; else the fields below are invalid
  std::uint64_t calls = 0;
  std::uint64_t polls = 0;
  std::uint64_t handoffs = 0;
  std::uint64_t naps = 0;
  double blocked = 0;       ///< s
  double cpu = 0;           ///< s
  double machine_busy = 0;  ///< s of CPU time used on the whole machine, by any process
  double machine_all = 0;   ///< s of CPU time that the machine had; 0: not known
};

[[nodiscard]] PhaseTotals totals_of(const PhaseKind& kind, double from, const protocol::JobStatistics& begin,
                                    const protocol::JobStatistics& end);

/// Phases of one kind as one, in the order of their first ones.
[[nodiscard]] std::vector<PhaseTotals> add_up(std::span<const PhaseTotals> phases);

/// The counter that speed is computed from.
enum class Measure : std::uint8_t {
  kNone,   ///< nothing is known, or there is nothing to compare
  kCalls,  ///< MPI calls per second: the program's own steps
  kCpu     ///< useful CPU time per second: where calls are too few
};
using replay::to_text;  // the overloads for times, which the next one would hide
[[nodiscard]] std::string_view to_text(Measure measure);

/// Calls that each phase must have for Measure::kCalls.
inline constexpr std::uint64_t kEnoughCalls = 50;

struct PhaseFigures {
  std::optional<double> calls_per_s;
  std::optional<double> handoffs_per_s;
  std::optional<double> cpu_per_s;     ///< CPU time of all ranks; the polling of waiting ranks is part of it
  std::optional<double> useful_per_s;  ///< the same less polling and handing off, where that is known
  std::optional<double> others;        ///< share of the machine's CPU time that went to other processes
  std::optional<double> cpu_use;       ///< share of the time not blocked in MPI; only with a core for each rank
  std::optional<double> speed;         ///< relative to the first phase
  std::optional<double> slowdown;      ///< 1 / speed
  std::optional<double> expected;      ///< slowdown by formula (3)
};

struct RunFigures {
  Measure measure = Measure::kNone;
  std::optional<double> cpu_use;  ///< of all expanded phases: u of formula (3)
  std::optional<double> others;   ///< of all phases
  std::vector<PhaseFigures> phases;
};

/// One row per phase, in their order.
/// What ranks do for their work: on emulated cores they sleep, and their CPU time says nothing of it.
enum class Computing : std::uint8_t { kOnCores, kAsleep };
[[nodiscard]] RunFigures run_figures(std::span<const PhaseTotals> phases, Computing computing = Computing::kOnCores);

}  // namespace replay::calibrate
