#include "scheduler/report/terminal/core_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::report {
namespace {

using terminal::Frame;

constexpr int kBlockGap = 2;        // columns between blocks
constexpr int kNodesPerBlock = 10;  // folded: easy to count
constexpr int kMostOfHost = 16;     // columns of its name
constexpr std::array<char32_t, 8> kShares = {U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};

int digits_of(int number) { return static_cast<int>(fmt::formatted_size("{}", number)); }
int ceil_of(int count, int per) { return (count + per - 1) / per; }

// Columns of so many cells of a block that stand in one row.
int columns_of(const MapPlan& plan, int cells) {
  const int gaps = plan.cells_per_group > 0 ? (cells - 1) / plan.cells_per_group : 0;
  return cells * plan.cell_columns + gaps - (plan.cell_columns == 3 ? 1 : 0);
}

int most_cores(const Machine& machine) {
  return std::ranges::max(machine.groups(), {}, &NodeGroup::cores_per_node).cores_per_node();
}

std::vector<Fold> folds_of(const Machine& machine) {
  std::vector<Fold> folds{Fold::kCores};
  if (std::ranges::any_of(machine.groups(),
                          [](const NodeGroup& g) { return g.packages > 1 && g.cores_per_package > 1; }))
    folds.push_back(Fold::kPackages);
  if (machine.nodes() > 1 && most_cores(machine) > 1) folds.push_back(Fold::kNodes);
  return folds;
}

// One node, or nodes of one core: the rows of the only block are numbered by their first cores.
bool is_one_block(const Machine& machine) { return machine.nodes() == 1 || most_cores(machine) == 1; }

// Packages of one core, or of sizes that differ, are not set off. 0: none are.
int cores_of_packages(const Machine& machine) {
  const auto groups = machine.groups();
  const int cores = groups.front().cores_per_package;
  const auto is_alike = [cores](const NodeGroup& group) { return group.cores_per_package == cores; };
  const bool several = std::ranges::any_of(groups, [](const NodeGroup& group) { return group.packages > 1; });
  return several && cores > 1 && std::ranges::all_of(groups, is_alike) ? cores : 0;
}

bool names_hosts(const Machine& machine, Fold level) { return !is_one_block(machine) && level != Fold::kNodes; }

MapPlan plan_level(const Machine& machine, std::span<const std::string> hosts, Fold level, int cell_columns,
                   int columns) {
  MapPlan plan;
  plan.level = level;
  plan.cell_columns = cell_columns;
  switch (level) {
    case Fold::kAuto:
    case Fold::kCores:
      plan.cells_per_block = most_cores(machine);
      plan.cells_per_group = cores_of_packages(machine);
      break;
    case Fold::kPackages:
      plan.cells_per_block = std::ranges::max(machine.groups(), {}, &NodeGroup::packages).packages;
      break;
    case Fold::kNodes: plan.cells_per_block = kNodesPerBlock; break;
  }
  plan.cells = level == Fold::kNodes ? machine.nodes() : machine.nodes() * plan.cells_per_block;
  if (is_one_block(machine)) plan.cells_per_block = plan.cells;
  plan.label_columns = digits_of((is_one_block(machine) ? number(machine.size()) : machine.nodes()) - 1) + 1;
  if (!hosts.empty() && names_hosts(machine, level)) {
    const int longest = static_cast<int>(std::ranges::max(hosts, {}, &std::string::size).size());
    plan.label_columns = std::max(plan.label_columns, std::min({longest, kMostOfHost, columns / 2 - 1}) + 1);
  }

  plan.cells_per_row = plan.cells_per_block;
  if (plan.block_columns() <= columns) {
    plan.blocks_per_row = std::max(1, (columns + kBlockGap) / (plan.block_columns() + kBlockGap));
  } else {  // a block takes several rows: whole packages in each, or tens of cells
    const int step = plan.cells_per_group > 0 ? plan.cells_per_group : 10;
    plan.cells_per_row = std::clamp(columns, 1, plan.cells_per_row);  // a cell takes a column at least
    while (plan.cells_per_row > 1 && plan.block_columns() > columns) --plan.cells_per_row;
    if (plan.cells_per_row > step) plan.cells_per_row -= plan.cells_per_row % step;
  }
  const int blocks = ceil_of(plan.cells, plan.cells_per_block);
  plan.blocks_per_row = std::min(plan.blocks_per_row, blocks);
  plan.rows = ceil_of(blocks, plan.blocks_per_row) * ceil_of(plan.cells_per_block, plan.cells_per_row);
  return plan;
}

// Empty where the cell's node is smaller than others.
CoreRange cores_of_cell(const Machine& machine, const MapPlan& plan, int cell) {
  if (plan.level == Fold::kNodes) return machine.cores_of(NodeId{cell});
  const bool is_one = is_one_block(machine);
  const NodeId node{!is_one ? cell / plan.cells_per_block : machine.nodes() > 1 ? cell : 0};
  const int index = is_one && machine.nodes() > 1 ? 0 : cell % plan.cells_per_block;
  const CoreRange cores = machine.cores_of(node);
  const CoreCount each = plan.level == Fold::kPackages ? cores.size() / machine.packages_of(node) : CoreCount{1};
  const CoreId first = next(cores.first, std::min<int>(index * each, cores.size()));
  return {first, std::min(next(first, each - 1), cores.last)};
}

// A core, or several that are shown as one.
struct Unit {
  const WatchedJob* job = nullptr;  // that has most of it
  int jobs = 0;
  int busy = 0;  // cores
};

Unit unit_of(std::span<const CoreUse> cores) {
  Unit unit;
  std::map<std::uint64_t, std::pair<int, const WatchedJob*>> held;  // by the order of launch
  for (const CoreUse& core : cores) {
    if (core.first == nullptr) continue;
    ++unit.busy;
    for (const WatchedJob* job : {core.first, core.second}) {
      if (job == nullptr) continue;
      auto& [count, of] = held[job->turn];
      ++count;
      of = job;
    }
  }
  unit.jobs = static_cast<int>(held.size());
  int most = 0;
  for (const auto& [turn, share] : held) {
    if (share.first <= most) continue;
    most = share.first;
    unit.job = share.second;
  }
  return unit;
}

char32_t share_sign(int busy, int of, bool utf8) {
  if (utf8) return kShares[static_cast<std::size_t>(ceil_of(busy * 8, of) - 1)];
  if (busy == of) return U'#';
  return 3 * busy <= of ? U'.' : 3 * busy <= 2 * of ? U':' : U'=';
}

char32_t level_sign(const WatchedJob& job) {
  if (job.mpl == 1) return U' ';
  return job.mpl < 10 ? U'0' + static_cast<char32_t>(job.mpl) : U'+';
}

// `is_closed`: its node is not up.
void put_idle(Frame& frame, int row, int column, bool is_closed, bool utf8) {
  const char32_t sign = is_closed ? (utf8 ? U'×' : U'x') : utf8 ? U'·' : U'.';
  frame.put(row, column, sign, terminal::kDim);
}

void put_symbol(Frame& frame, int row, int column, const WatchedJob& job) {
  frame.put(row, column, static_cast<char32_t>(job.symbol()), style_of(job));
}

void put_core(Frame& frame, int row, int column, const CoreUse& use, int cell_columns) {
  put_symbol(frame, row, column, *use.first);
  if (cell_columns == 1) {
    if (use.jobs > 1) frame.put(row, column, U'&', style_of(*use.first));
  } else if (use.jobs > 1) {
    put_symbol(frame, row, column + 1, *use.second);
  } else {
    frame.put(row, column + 1, level_sign(*use.first), style_of(*use.first));
  }
}

void put_unit(Frame& frame, int row, int column, const Unit& unit, int of, int cell_columns, bool utf8) {
  put_symbol(frame, row, column, *unit.job);
  if (cell_columns == 1) {
    if (unit.jobs > 1) frame.put(row, column, U'&', style_of(*unit.job));
    return;
  }
  frame.put(row, column + 1, share_sign(unit.busy, of, utf8), terminal::kDim);  // not to drown letters
  if (cell_columns == 3 && unit.jobs > 1) frame.put(row, column + 2, U'+');
}

}  // namespace

std::string_view name_of(Fold fold) {
  switch (fold) {
    case Fold::kAuto: return "auto";
    case Fold::kCores: return "cores";
    case Fold::kPackages: return "packages";
    case Fold::kNodes: return "nodes";
  }
  return "auto";
}

Fold next_fold(const Machine& machine, Fold fold) {
  std::vector<Fold> folds = folds_of(machine);
  folds.insert(folds.begin(), Fold::kAuto);
  const auto now = std::ranges::find(folds, fold);
  return now == folds.end() || now + 1 == folds.end() ? Fold::kAuto : *(now + 1);
}

int MapPlan::block_columns() const { return label_columns + columns_of(*this, cells_per_row); }

MapPlan plan_map(const Machine& machine, Fold fold, int columns, int room, std::span<const std::string> hosts) {
  std::vector<Fold> folds = folds_of(machine);
  if (fold != Fold::kAuto) folds = {fold};
  MapPlan plan;
  for (const Fold level : folds) {
    for (const int cell_columns : {3, 2, 1}) {
      plan = plan_level(machine, hosts, level, cell_columns, columns);
      if (plan.rows <= room) return plan;
    }
  }
  return plan_level(machine, hosts, folds.back(), fold == Fold::kAuto ? 1 : 2, columns);
}

std::string map_title(const Machine& machine, const MapPlan& plan) {
  if (!machine.names_cores()) return fmt::format("pool of {}", counted(machine.size(), "core"));
  std::string text = joined(machine.groups(), ", ", [](const NodeGroup& group) {
    const std::string package = counted(group.cores_per_package, "core");
    return fmt::format("{} of {}", counted(group.nodes, "node"),
                       group.packages > 1 ? fmt::format("{} x {}", group.packages, package) : package);
  });
  if (plan.level != Fold::kCores) text += fmt::format(", folded to {}", name_of(plan.level));
  return text;
}

void draw_map(Frame& frame, int top, int room, int scroll, const WatchedRun& run, const MapPlan& plan, bool utf8) {
  const std::vector<CoreUse> cores = run.cores();
  const std::span all{cores};
  const int rows_per_block = ceil_of(plan.cells_per_block, plan.cells_per_row);
  const Machine& machine = *run.machine();
  const bool is_one = is_one_block(machine);
  for (int row = scroll; row < std::min(plan.rows, scroll + room); ++row) {
    const int y = top + row - scroll;
    const int part = row % rows_per_block;
    for (int in_row = 0; in_row < plan.blocks_per_row; ++in_row) {
      const int block = row / rows_per_block * plan.blocks_per_row + in_row;
      const int first = block * plan.cells_per_block + part * plan.cells_per_row;
      const int end = std::min({first + plan.cells_per_row, (block + 1) * plan.cells_per_block, plan.cells});
      if (first >= end) break;
      int x = in_row * (plan.block_columns() + kBlockGap);
      const int label = is_one                       ? number(cores_of_cell(machine, plan, first).first)
                        : plan.level == Fold::kNodes ? first
                                                     : block;
      if (part == 0 || is_one || plan.level == Fold::kNodes) {
        const auto width = static_cast<std::size_t>(plan.label_columns - 1);
        const std::string text = !run.hosts().empty() && names_hosts(machine, plan.level)
                                     ? run.hosts()[static_cast<std::size_t>(label)].substr(0, width)
                                     : fmt::format("{}", label);
        frame.put(y, x, fmt::format("{:>{}}", text, width), terminal::kDim);
      }
      x += plan.label_columns;
      for (int cell = first; cell < end; ++cell) {
        const CoreRange here = cores_of_cell(machine, plan, cell);
        const auto uses = all.subspan(index_of(here.first), static_cast<std::size_t>(here.size()));
        const bool is_idle = std::ranges::all_of(uses, [](const CoreUse& use) { return use.first == nullptr; });
        if (!uses.empty() && is_idle)
          put_idle(frame, y, x, machine.names_cores() && run.closed().contains(machine.node_of(here.first)), utf8);
        else if (!uses.empty() && plan.level == Fold::kCores)
          put_core(frame, y, x, uses.front(), plan.cell_columns);
        else if (!uses.empty())
          put_unit(frame, y, x, unit_of(uses), here.size(), plan.cell_columns, utf8);
        x += plan.cell_columns;
        if (plan.cells_per_group > 0 && (cell - first + 1) % plan.cells_per_group == 0) ++x;
      }
    }
  }
}

terminal::Style style_of(const WatchedJob& job) {
  return job.letter < 0 ? terminal::kBold : terminal::patch(job.letter);
}

}  // namespace replay::report
