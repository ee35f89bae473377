#include "scheduler/calibrate/program/phase_figures.hpp"

#include <algorithm>

namespace replay::calibrate {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kHandoff = 1e-6;         // s: about the cost of one on any machine
constexpr double kMostHandingOff = 0.05;  // of a phase's CPU time; above it useful CPU time is unknown
constexpr double kShortest = 0.05;        // s: shorter phases, such as a program's end, give no speed

/// Counters only grow; one that decreases is ignored.
std::uint64_t difference(std::uint64_t before, std::uint64_t after) { return after > before ? after - before : 0; }

bool can_be_measured(const PhaseTotals& phase) { return phase.is_known && phase.seconds >= kShortest; }
bool is_expanded(const PhaseTotals& phase) { return phase.kind.ranks_per_core == 1 && !phase.kind.is_suspended; }

struct ExpandedTotals {
  double rank_seconds = 0;
  double blocked = 0;
  double cpu = 0;
  std::uint64_t polls = 0;

  /// CPU time spent on waiting. A rank on a core of its own polls while it is blocked, and computes while it is not;
  /// other processes on the core slow both alike.
  [[nodiscard]] double polling() const { return rank_seconds > 0 ? cpu * std::min(1.0, blocked / rank_seconds) : 0; }
};

ExpandedTotals expanded_totals(std::span<const PhaseTotals> phases) {
  ExpandedTotals sum;
  for (const PhaseTotals& phase : phases) {
    if (!can_be_measured(phase) || !is_expanded(phase)) continue;
    sum.rank_seconds += phase.seconds * phase.kind.ranks;
    sum.blocked += phase.blocked;
    sum.cpu += phase.cpu;
    sum.polls += phase.polls;
  }
  return sum;
}

/// CPU time spent on waiting. On a shared core another rank computes while this one is blocked, so polls are counted
/// there, at the cost per poll measured while expanded. The cost of a hand-off is not measured: with many hand-offs the
/// result is unknown.
std::optional<double> waiting(const PhaseTotals& phase, const ExpandedTotals& expanded) {
  if (is_expanded(phase)) return phase.cpu * std::min(1.0, phase.blocked / (phase.seconds * phase.kind.ranks));
  if (static_cast<double>(phase.handoffs) * kHandoff > kMostHandingOff * phase.cpu) return std::nullopt;
  if (expanded.polls == 0) return phase.polls == 0 ? std::optional{0.0} : std::nullopt;
  return static_cast<double>(phase.polls) * expanded.polling() / static_cast<double>(expanded.polls);
}

std::optional<double> others_share(double busy, double own, double all) {
  if (all <= 0) return std::nullopt;
  return std::clamp((busy - own) / all, 0.0, 1.0);
}

PhaseFigures rates_of(const PhaseTotals& phase, const ExpandedTotals& expanded) {
  PhaseFigures figures;
  if (!can_be_measured(phase)) return figures;
  figures.calls_per_s = static_cast<double>(phase.calls) / phase.seconds;
  figures.handoffs_per_s = static_cast<double>(phase.handoffs) / phase.seconds;
  figures.cpu_per_s = phase.cpu / phase.seconds;
  if (const auto waited = waiting(phase, expanded))
    figures.useful_per_s = std::max(0.0, phase.cpu - *waited) / phase.seconds;
  figures.others = others_share(phase.machine_busy, phase.cpu, phase.machine_all);
  if (is_expanded(phase))
    figures.cpu_use = std::clamp(1 - phase.blocked / (phase.seconds * phase.kind.ranks), 0.0, 1.0);
  return figures;
}

/// Ignores suspended phases and those that are too short.
Measure choose_measure(std::span<const PhaseTotals> phases, std::span<const PhaseFigures> figures) {
  bool has_calls = true;
  bool has_cpu = true;
  std::size_t running = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].kind.is_suspended || !can_be_measured(phases[i])) continue;
    ++running;
    has_calls = has_calls && phases[i].calls >= kEnoughCalls;
    has_cpu = has_cpu && figures[i].useful_per_s.has_value();
  }
  if (running == 0) return Measure::kNone;
  if (has_calls) return Measure::kCalls;
  return has_cpu ? Measure::kCpu : Measure::kNone;
}

double formula_3(const PhaseTotals& phase, double cpu_use) {
  return std::max(1.0, phase.kind.ranks_per_core * cpu_use);
}

}  // namespace

PhaseTotals totals_of(const PhaseKind& kind, double from, const protocol::JobStatistics& begin,
                      const protocol::JobStatistics& end) {
  PhaseTotals totals{.kind = kind, .from = from};
  totals.seconds = static_cast<double>(difference(begin.at_ns, end.at_ns)) * kNanosecond;
  totals.is_known =
      begin.ranks.size() == static_cast<std::size_t>(kind.ranks) && end.ranks.size() == begin.ranks.size();
  for (std::size_t rank = 0; totals.is_known && rank < begin.ranks.size(); ++rank) {
    const protocol::RankStatistics& before = begin.ranks[rank];
    const protocol::RankStatistics& after = end.ranks[rank];
    totals.is_known = before.pid != 0 && before.pid == after.pid;
    totals.calls += difference(before.calls, after.calls);
    totals.polls += difference(before.polls, after.polls);
    totals.handoffs += difference(before.handoffs, after.handoffs);
    totals.naps += difference(before.naps, after.naps);
    totals.blocked += static_cast<double>(difference(before.blocked_ns, after.blocked_ns)) * kNanosecond;
    totals.cpu += static_cast<double>(difference(before.cpu_ns, after.cpu_ns)) * kNanosecond;
  }
  return totals;
}

std::vector<PhaseTotals> add_up(std::span<const PhaseTotals> phases) {
  std::vector<PhaseTotals> sums;
  for (const PhaseTotals& phase : phases) {
    const auto same = std::ranges::find(sums, phase.kind, &PhaseTotals::kind);
    if (same == sums.end()) {
      sums.push_back(phase);
      continue;
    }
    same->times += phase.times;
    same->seconds += phase.seconds;
    same->is_known = same->is_known && phase.is_known;
    same->calls += phase.calls;
    same->polls += phase.polls;
    same->handoffs += phase.handoffs;
    same->naps += phase.naps;
    same->blocked += phase.blocked;
    same->cpu += phase.cpu;
    same->machine_busy += phase.machine_busy;
    same->machine_all += phase.machine_all;
  }
  return sums;
}

std::string_view to_text(Measure measure) {
  switch (measure) {
    case Measure::kNone: return "none";
    case Measure::kCalls: return "MPI calls per second";
    case Measure::kCpu: return "useful CPU time per second";
  }
  return "?";
}

RunFigures run_figures(std::span<const PhaseTotals> phases, Computing computing) {
  RunFigures run;
  const ExpandedTotals expanded = expanded_totals(phases);
  if (expanded.rank_seconds > 0) run.cpu_use = std::clamp(1 - expanded.blocked / expanded.rank_seconds, 0.0, 1.0);
  for (const PhaseTotals& phase : phases) run.phases.push_back(rates_of(phase, expanded));
  if (computing == Computing::kAsleep)
    for (PhaseFigures& figures : run.phases) figures.useful_per_s.reset();
  double busy = 0;
  double own = 0;
  double all = 0;
  for (const PhaseTotals& phase : phases) {
    if (!can_be_measured(phase)) continue;
    busy += phase.machine_busy;
    own += phase.cpu;
    all += phase.machine_all;
  }
  run.others = others_share(busy, own, all);
  run.measure = choose_measure(phases, run.phases);
  if (run.measure == Measure::kNone) return run;

  const auto speed = [&run](const PhaseFigures& f) {
    return (run.measure == Measure::kCalls ? f.calls_per_s : f.useful_per_s).value_or(0);
  };
  const double first = speed(run.phases.front());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    PhaseFigures& figures = run.phases[i];
    if (first <= 0 || !can_be_measured(phases[i])) continue;
    figures.speed = speed(figures) / first;
    if (phases[i].kind.is_suspended) continue;
    if (*figures.speed > 0) figures.slowdown = 1 / *figures.speed;
    if (run.cpu_use) figures.expected = formula_3(phases[i], *run.cpu_use) / formula_3(phases.front(), *run.cpu_use);
  }
  return run;
}

}  // namespace replay::calibrate
