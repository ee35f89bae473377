#include "scheduler/calibrate/program/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "scheduler/base/percentile.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/experiment/disturbance.hpp"

namespace replay::calibrate {
namespace {

std::string number(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// One decimal below 100, else none.
std::string rate(const std::optional<double>& value) { return number(value, value && *value < 100 ? 1 : 0); }

std::string ending(const ProgramHistory& history) {
  if (!history.lost.empty()) return "lost: " + history.lost;
  if (!history.end) return "given up";
  std::string text{to_text(history.end->outcome)};
  if (history.end->verification == Verification::kPassed) text += ", verified";
  if (history.end->verification == Verification::kFailed) text += ", verification failed";
  return text;
}

/// "cores 0,1", or of several hosts "cores 0,1 of node1, core 0 of node2".
std::string cores_text(const ProgramSettings& settings) {
  std::vector<std::string> places;
  for (std::size_t rank = 0; rank < settings.core_of_rank.size();) {
    const auto host_of = [&settings](std::size_t of) {
      return settings.host_of_rank.empty() ? std::string{} : settings.host_of_rank[of];
    };
    const std::string host = host_of(rank);
    std::set<std::int32_t> cores;
    for (; rank < settings.core_of_rank.size() && host_of(rank) == host; ++rank)
      cores.insert(settings.core_of_rank[rank]);
    places.push_back(fmt::format("{} {}{}{}", noun_for(cores.size(), "core"), fmt::join(cores, ","),
                                 host.empty() ? "" : " of ", host));
  }
  return fmt::format("{}", fmt::join(places, ", "));
}

std::string title(const ProgramSettings& settings, const ProgramHistory& history) {
  return fmt::format("{}: {} on {}, {}; {} after {:.2f} s\n", fmt::join(settings.command, " "),
                     counted(settings.core_of_rank.size(), "rank"), cores_text(settings),
                     settings.with_vmlib ? "with vmlib" : "stock MPI", ending(history), history.ran);
}

std::string phase_table(std::span<const PhaseTotals> phases, const RunFigures& figures) {
  std::vector<std::vector<std::string>> rows{{"phase", "from s", "for s", "MPI calls/s", "useful CPU", "hand-offs/s",
                                              "CPU use", "speed", "slowdown", "formula (3)"}};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const PhaseTotals& phase = phases[i];
    const PhaseFigures& f = figures.phases[i];
    const std::string times = phase.times == 1 ? "" : fmt::format(" ({} times)", phase.times);
    rows.push_back({phase_name(phase.kind) + times, fmt::format("{:.2f}", phase.from),
                    fmt::format("{:.2f}", phase.seconds), rate(f.calls_per_s), number(f.useful_per_s, 2),
                    rate(f.handoffs_per_s), number(f.cpu_use, 2), number(f.speed, 2), number(f.slowdown, 2),
                    number(f.expected, 2)});
  }
  return aligned(rows);
}

/// Explains the columns that have values.
std::string legend(const RunFigures& figures, std::size_t phases) {
  std::string text;
  if (figures.measure != Measure::kNone && phases > 1)
    text +=
        fmt::format("speed       {}, relative to the first phase; slowdown is its inverse\n", to_text(figures.measure));
  if (figures.measure == Measure::kNone && phases > 1)
    text += fmt::format("speed       not known: fewer than {} MPI calls in a phase, and useful CPU not known in each\n",
                        kEnoughCalls);
  text += "useful CPU  CPU time of all ranks per second, less their waiting for messages; - where that is not known\n";
  if (!figures.cpu_use) return text;
  text += fmt::format(
      "CPU use     share of the time not blocked in MPI, with a core for each rank; sleeping counts: u = {:.2f}\n",
      *figures.cpu_use);
  if (phases > 1) text += "formula (3) the slowdown to expect with m ranks on a core: max(1, m*u)\n";
  return text;
}

std::string change_line(const ChangeRecord& change) {
  if (!change.refused.empty())
    return fmt::format("{} at {:.2f} s refused: {}", to_text(change.planned.kind), change.at, change.refused);
  return fmt::format("{} at {:.2f} s took {:.2f} ms", to_text(change.planned.kind), change.at, change.took * 1e3);
}

std::vector<double> times_taken(const std::vector<ChangeRecord>& changes) {
  std::vector<double> taken;
  for (const ChangeRecord& change : changes)
    if (change.refused.empty()) taken.push_back(change.took);
  return taken;
}

/// The changes and their times, from the order to the agent's answer.
std::string change_text(const ProgramHistory& history) {
  constexpr std::string_view kFirst = "changes     ";
  constexpr std::string_view kNext = "            ";
  std::string text;
  std::vector<double> taken = times_taken(history.changes);
  const bool all = history.changes.size() < kMostRows;
  if (!all && !taken.empty())
    text += fmt::format("{}{} took {:.2f} ms in the median, {:.2f} ms at most\n", kFirst, taken.size(),
                        percentile(taken, 0.5) * 1e3, std::ranges::max(taken) * 1e3);
  for (const ChangeRecord& change : history.changes)
    if (all || !change.refused.empty())
      text += fmt::format("{}{}\n", text.empty() ? kFirst : kNext, change_line(change));
  return text;
}

/// One line: the mode, the back end, rigid or not and why.
std::string vmlib_line(const ProgramSettings& settings, const ProgramHistory& history) {
  if (!settings.with_vmlib) return "vmlib       not used\n";
  if (!history.started)
    return "vmlib       no rank had come out of MPI_Init when the program ended: is it an MPI program?\n";
  std::string text = fmt::format("vmlib       mode {}", history.mode);
  if (history.mode != "none") text += fmt::format(", back end {}", history.back_end);
  if (history.started->malleable)
    text += history.started->reason.empty() ? ", malleable\n" : ", malleable, but not from the start\n";
  else
    text += fmt::format(", rigid: {}\n", history.started->reason);
  if (history.has_skipped) text += "            so it was not shrunk\n";
  return text;
}

nlohmann::ordered_json as_json(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nullptr;
}

nlohmann::ordered_json phases_json(std::span<const PhaseTotals> phases, const RunFigures& figures) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const PhaseTotals& phase = phases[i];
    const PhaseFigures& f = figures.phases[i];
    list.push_back({{"phase", phase_name(phase.kind)},
                    {"cores", phase.kind.cores},
                    {"ranks_per_core", phase.kind.ranks_per_core},
                    {"suspended", phase.kind.is_suspended},
                    {"from_s", phase.from},
                    {"seconds", phase.seconds},
                    {"mpi_calls_per_s", as_json(f.calls_per_s)},
                    {"handoffs_per_s", as_json(f.handoffs_per_s)},
                    {"cpu_per_s", as_json(f.cpu_per_s)},
                    {"useful_cpu_per_s", as_json(f.useful_per_s)},
                    {"cpu_use", as_json(f.cpu_use)},
                    {"others_cpu_share", as_json(f.others)},
                    {"speed", as_json(f.speed)},
                    {"slowdown", as_json(f.slowdown)},
                    {"formula_3", as_json(f.expected)}});
    if (phase.is_known)
      list.back().update({{"mpi_calls", phase.calls},
                          {"idle_polls", phase.polls},
                          {"handoffs", phase.handoffs},
                          {"naps", phase.naps}});
  }
  return list;
}

}  // namespace

std::string phase_name(const PhaseKind& kind) {
  const std::string suspended = kind.is_suspended ? "suspended, " : "";
  const std::string cores = counted(kind.cores, "core");
  if (kind.ranks_per_core == 1) return suspended + "expanded on " + cores;
  const std::string ranks =
      fmt::format("{}{} ranks on {}", kind.cores * kind.ranks_per_core == kind.ranks ? "" : "up to ",
                  kind.ranks_per_core, kind.cores == 1 ? "it" : "each");
  return fmt::format("{}{} {}, {}", suspended, kind.is_base ? "on" : "shrunk to", cores, ranks);
}

std::string report_text(const ProgramSettings& settings, const ProgramHistory& history) {
  std::string text = title(settings, history);
  if (history.end && history.end->outcome != Outcome::kCompleted && !history.end->reason.empty())
    text += fmt::format("reason      {}\n", history.end->reason);
  const std::vector<PhaseTotals> phases = history.phases.size() > kMostRows ? add_up(history.phases) : history.phases;
  const RunFigures figures = run_figures(phases, settings.computing);
  if (!phases.empty() && std::ranges::any_of(phases, &PhaseTotals::is_known))
    text += fmt::format("\n{}\n{}", phase_table(phases, figures), legend(figures, phases.size()));
  text += change_text(history) + vmlib_line(settings, history);
  for (const std::string& note : history.notes) text += fmt::format("note        {}\n", note);
  if (figures.others && *figures.others >= experiment::kDisturbed)
    text += fmt::format("disturbed   others used {:.0f} % of this machine meanwhile: figures are theirs, too\n",
                        *figures.others * 100);
  return text;
}

nlohmann::ordered_json report_json(const ProgramSettings& settings, const ProgramHistory& history) {
  const RunFigures figures = run_figures(history.phases, settings.computing);
  nlohmann::ordered_json json{
      {"command", settings.command},
      {"ranks", settings.core_of_rank.size()},
      {"core_of_rank", settings.core_of_rank},
      {"core_of_rank_shrunk", settings.shrunk_to},
      {"host_of_rank", settings.host_of_rank},
      {"vmlib", settings.with_vmlib},
      {"mode", history.mode},
      {"back_end", history.back_end.empty() ? nullptr : nlohmann::ordered_json(history.back_end)},
      {"malleable", history.started && history.started->malleable},
      {"rigid_because", history.started && !history.started->malleable ? history.started->reason : ""},
      {"ran_s", history.ran},
      {"outcome", history.end ? to_text(history.end->outcome) : "lost"},
      {"reason", history.end ? history.end->reason : history.lost},
      {"verification", to_text(history.end ? history.end->verification : Verification::kNone)},
      {"speed_is", to_text(figures.measure)},
      {"cpu_use", as_json(figures.cpu_use)},
      {"others_cpu_share", as_json(figures.others)},
      {"phases", phases_json(history.phases, figures)}};
  json["notes"] = history.notes;
  auto& changes = json["changes"] = nlohmann::ordered_json::array();
  for (const ChangeRecord& change : history.changes)
    changes.push_back({{"change", to_text(change.planned.kind)},
                       {"planned_s", seconds(change.planned.at)},
                       {"at_s", change.at},
                       {"took_ms", change.took * 1e3},
                       {"refused", change.refused}});
  return json;
}

}  // namespace replay::calibrate
