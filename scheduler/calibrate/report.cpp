#include "scheduler/calibrate/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/calibrate/measurement.hpp"

namespace replay::calibrate {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string kernel_text(const std::string& name, const std::string& problem_class) {
  return problem_class.empty() ? name : name + " " + problem_class;
}

class Page {
 public:
  Page(const Profile& profile, double spread) : profile_(profile), spread_(spread) {}

  std::string text() {
    head();
    benchmarks();
    over_nodes();
    speedups();
    pairs();
    overheads();
    if (profile_.message_s)
      text_ += fmt::format("\na message under emulation   {} us\n", cell(profile_.message_s, Kind::kMessage, 0, 1e6));
    legend();
    return text_;
  }

 private:
  void head() {
    const ProfileMachine& m = profile_.machine;
    text_ += fmt::format("{}: {}{}{}{}; {}{}\n", m.name, counted(m.cores, "core"), m.cpu.empty() ? "" : ", " + m.cpu,
                         m.kernel.empty() ? "" : ", " + m.kernel, m.mpi.empty() ? "" : ", " + m.mpi, profile_.date,
                         profile_.is_sample ? "; a sample, of no real machine" : "");
  }

  // Value number `index` of a reading of that kind.
  std::string cell(const std::optional<Figure>& figure, Kind kind, std::size_t index, double unit = 1) {
    if (!figure) return "-";
    const Tolerance bound = tolerances(kind, spread_)[index];
    std::string mark;
    if (figure->disturbed)
      mark = "!";
    else if (!is_settled(*figure, bound))
      mark = "*";
    marks_.insert(mark);
    return fmt::format("{:.3g}{:<1}", figure->value * unit, mark);
  }
  std::string run_time(const Figure& figure) {
    return fmt::format("{} {:>6}", cell(figure, Kind::kRunTime, 0), fmt::format("{:.1f} %", 100 * figure.spread));
  }

  void benchmarks() {
    if (profile_.entries.empty()) return;
    Rows rows{{"benchmark", "processes", "run time s  spread", "CPU use ", "2 on a core ", "formula (3)"}};
    const auto self = self_columns();
    for (const auto& [title, member] : self) rows[0].push_back(title + " ");
    for (const ProfileEntry& entry : profile_.entries) {
      std::vector<std::string> row{
          kernel_text(entry.benchmark, entry.problem_class),
          fmt::format("{}", entry.processes),
          run_time(entry.runtime_s),
          cell(entry.cpu_use, Kind::kSharing, 1),
          cell(entry.slowdown_mpl_2, Kind::kSharing, 0),
          entry.cpu_use && entry.slowdown_mpl_2 ? fmt::format("{:.3g}", std::max(1.0, 2 * entry.cpu_use->value)) : "-"};
      for (const auto& [title, member] : self) row.push_back(cell(entry.self_slowdown.*member, Kind::kSelfSlowdown, 0));
      rows.push_back(std::move(row));
    }
    text_ += "\n" + aligned(rows);
  }

  void over_nodes() {
    std::set<int> nodes;
    for (const ProfileEntry& entry : profile_.entries)
      for (const RunTimeOnNodes& run : entry.on_more_nodes) nodes.insert(entry.nodes), nodes.insert(run.nodes);
    if (nodes.empty()) return;
    Rows rows{{"run time s over", "processes"}};
    for (const int count : nodes) rows[0].push_back(counted(count, "node") + "  spread");
    for (const ProfileEntry& entry : profile_.entries) {
      if (entry.on_more_nodes.empty()) continue;
      std::vector<std::string> row{kernel_text(entry.benchmark, entry.problem_class),
                                   fmt::format("{}", entry.processes)};
      for (const int count : nodes) {
        const auto more = std::ranges::find(entry.on_more_nodes, count, &RunTimeOnNodes::nodes);
        if (count == entry.nodes)
          row.push_back(run_time(entry.runtime_s));
        else
          row.push_back(more == entry.on_more_nodes.end() ? "-" : run_time(more->runtime_s));
      }
      rows.push_back(std::move(row));
    }
    text_ += "\n" + aligned(rows);
  }

  using Member = std::optional<Figure> SelfSlowdown::*;
  [[nodiscard]] std::vector<std::pair<std::string, Member>> self_columns() const {
    std::vector<std::pair<std::string, Member>> columns;
    for (const auto& [title, member] : {std::pair<const char*, Member>{"self: 2", &SelfSlowdown::two_same_package},
                                        {"2 apart", &SelfSlowdown::two_different_packages},
                                        {"self: 4", &SelfSlowdown::four_same_package},
                                        {"4 apart", &SelfSlowdown::four_different_packages}})
      if (std::ranges::any_of(profile_.entries,
                              [m = member](const auto& e) { return (e.self_slowdown.*m).has_value(); }))
        columns.emplace_back(title, member);
    return columns;
  }

  /// " on 2 nodes", where the run time is of more than one: a point that messages over the network have slowed down.
  [[nodiscard]] std::string nodes_text(const ProfileSpeedup& speedup, ProcessCount processes) const {
    const auto entry = std::ranges::find_if(profile_.entries, [&](const ProfileEntry& one) {
      return one.benchmark == speedup.benchmark && one.problem_class == speedup.problem_class &&
             one.processes == processes;
    });
    return entry == profile_.entries.end() || entry->nodes < 2 ? "" : " on " + counted(entry->nodes, "node");
  }

  void speedups() {
    if (profile_.speedups.empty()) return;
    Rows rows{{"speedup", "by processes", "Downey A", "sigma", "residual"}};
    for (const ProfileSpeedup& speedup : profile_.speedups) {
      std::vector<std::string> points;
      for (const SpeedupPoint& point : speedup.points)
        points.push_back(
            fmt::format("{}{}: {:.2f}", point.processes, nodes_text(speedup, point.processes), point.speedup));
      const auto* law = std::get_if<DowneySpeedup>(&speedup.fit.law());
      rows.push_back({kernel_text(speedup.benchmark, speedup.problem_class), fmt::format("{}", fmt::join(points, ", ")),
                      law != nullptr ? fmt::format("{:.3g}", law->a) : "-",
                      law != nullptr ? fmt::format("{:.3g}", law->sigma) : to_text(speedup.fit),
                      fmt::format("{:.1f} %", 100 * speedup.residual)});
    }
    text_ += "\n" + aligned(rows);
  }

  // A matrix for each class and number of processes.
  void pairs() {
    std::map<std::tuple<std::string, std::string, ProcessCount>, std::vector<const PairSlowdown*>> groups;
    for (const PairSlowdown& pair : profile_.pairs)
      groups[{pair.problem_class, pair.neighbour_class, pair.processes}].push_back(&pair);
    for (const auto& [key, list] : groups) {
      std::set<std::string> names, neighbours;
      std::map<std::pair<std::string, std::string>, std::string> cells;
      for (const PairSlowdown* pair : list) {
        names.insert(pair->benchmark);
        neighbours.insert(pair->neighbour);
        cells[{pair->benchmark, pair->neighbour}] = cell(pair->slowdown, Kind::kPair, 0);
      }
      const auto& [problem_class, neighbour_class, processes] = key;
      Rows rows{{"slowdown of"}};
      for (const std::string& name : neighbours)
        rows[0].push_back(fmt::format("beside {} ", kernel_text(name, neighbour_class)));
      for (const std::string& name : names) {
        rows.push_back({kernel_text(name, problem_class)});
        for (const std::string& other : neighbours) {
          const auto found = cells.find({name, other});
          rows.back().push_back(found == cells.end() ? "-" : found->second);
        }
      }
      text_ +=
          fmt::format("\n{}{} each, on the same cores\n", aligned(rows), counted(processes, "process", "processes"));
    }
  }

  void overheads() {
    add_costs(profile_, 1);
    for (const CostsOnNodes& costs : profile_.over_nodes) add_costs(costs, costs.nodes);
  }

  void add_costs(const JobCosts& costs, int nodes) {
    std::set<ProcessCount> sizes;
    for (const auto* list : {&costs.launch, &costs.end, &costs.shrink, &costs.expand})
      for (const OverheadAt& at : *list) sizes.insert(at.processes);
    if (sizes.empty()) return;
    const bool has_several = !profile_.over_nodes.empty();
    const auto find = [](const std::vector<OverheadAt>& list, ProcessCount n) {
      const auto at = std::ranges::find(list, n, &OverheadAt::processes);
      return at == list.end() ? std::nullopt : std::optional{at->seconds};
    };
    Rows rows{{has_several ? fmt::format("processes over {}", counted(nodes, "node")) : "processes", "launch s ",
               "end s ", "shrink ms ", "expand ms "}};
    for (const ProcessCount n : sizes)
      rows.push_back({fmt::format("{}", n), cell(find(costs.launch, n), Kind::kOverheads, 0),
                      cell(find(costs.end, n), Kind::kOverheads, 1), cell(find(costs.shrink, n), Kind::kResize, 0, 1e3),
                      cell(find(costs.expand, n), Kind::kResize, 1, 1e3)});
    text_ += "\n" + aligned(rows);
  }

  void legend() {
    const bool has_star = marks_.contains("*"), has_cry = marks_.contains("!");
    if (!has_star && !has_cry) return;
    text_ += "\n";
    if (has_star)
      text_ += fmt::format("*  its readings lie further apart than {:g} %; the same command measures it again\n",
                           100 * spread_);
    if (has_cry) text_ += "!  others used the machine meanwhile; the same command measures it again\n";
  }

  const Profile& profile_;
  double spread_;
  std::string text_;
  std::set<std::string> marks_;
};

std::string list_of(const std::vector<Measurement>& measurements) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, measurements.size()); ++i) names.push_back(to_text(measurements[i]));
  return fmt::format("{}{}", fmt::join(names, "; "), measurements.size() > kMost ? "; ..." : "");
}

}  // namespace

std::string profile_text(const Profile& profile, double spread) { return Page{profile, spread}.text(); }

std::string result_text(const CalibrationResult& result, double spread) {
  std::string text;
  std::map<std::string, std::vector<Measurement>> by_reason;
  for (const auto& [measurement, reason] : result.refused) by_reason[reason].push_back(measurement);
  for (const auto& [reason, measurements] : by_reason)
    text += fmt::format("not measured: {} ({})\n", list_of(measurements), reason);
  if (!result.unsettled.empty())
    text += fmt::format("{} of the figures' readings are disturbed or lie further apart than {:g} %: {}\n",
                        result.unsettled.size(), 100 * spread, list_of(result.unsettled));
  if (!result.left_out.empty())
    text += fmt::format("no time for {}: {}; the same command goes on with them\n", result.left_out.size(),
                        list_of(result.left_out));
  return text;
}

}  // namespace replay::calibrate
