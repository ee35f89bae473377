#include "scheduler/report/plot/shared_cores.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace replay::report {
namespace {

// The rows that are on a core at once, for as long as they are.
struct Crowd {
  double from = 0, to = 0;
  std::vector<std::size_t> rows;  // ascending
  auto operator<=>(const Crowd&) const = default;
};

// Of one core, in time order.
std::vector<Crowd> crowds_on(std::span<const StretchRow> rows, const std::vector<std::size_t>& on_core) {
  std::vector<std::tuple<double, bool, std::size_t>> changes;  // ends before begins
  for (const std::size_t row : on_core) {
    changes.emplace_back(rows[row].from, true, row);
    changes.emplace_back(rows[row].to, false, row);
  }
  std::ranges::sort(changes);
  std::vector<Crowd> crowds;
  std::vector<std::size_t> now;
  double since = 0;
  for (const auto& [at, begins, row] : changes) {
    if (!now.empty() && since < at) crowds.push_back({since, at, now});
    if (begins)
      now.insert(std::ranges::upper_bound(now, row), row);
    else
      std::erase(now, row);
    since = at;
  }
  return crowds;
}

void add_boxes(std::vector<GanttBox>& boxes, std::span<const StretchRow> rows, const Crowd& crowd, std::int32_t first,
               std::int32_t last) {
  for (std::size_t lane = 0; lane < crowd.rows.size(); ++lane) {
    GanttBox box{.row = rows[crowd.rows[lane]],
                 .lane = static_cast<std::uint8_t>(lane),
                 .lanes = static_cast<std::uint8_t>(std::min<std::size_t>(crowd.rows.size(), 255))};
    box.row.from = crowd.from;
    box.row.to = crowd.to;
    box.row.first = first;
    box.row.last = last;
    boxes.push_back(box);
  }
}

}  // namespace

std::vector<GanttBox> shared_cores(std::span<const StretchRow> rows) {
  std::vector<GanttBox> boxes;
  std::map<std::int32_t, std::vector<std::size_t>> by_core;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i].flags & kShareable) == 0 || rows[i].from >= rows[i].to) {
      boxes.push_back({.row = rows[i]});
      continue;
    }
    for (std::int32_t core = rows[i].first; core <= rows[i].last; ++core) by_core[core].push_back(i);
  }
  // Equal crowds on neighbouring cores are one box each.
  std::map<Crowd, std::int32_t> open;  // to the first core
  std::int32_t before = -2;
  const auto close = [&](const Crowd& crowd, std::int32_t first) { add_boxes(boxes, rows, crowd, first, before); };
  for (const auto& [core, on_core] : by_core) {
    std::map<Crowd, std::int32_t> next;
    for (Crowd& crowd : crowds_on(rows, on_core)) {
      const auto found = core == before + 1 ? open.find(crowd) : open.end();
      next.emplace(std::move(crowd), found == open.end() ? core : found->second);
    }
    for (const auto& [crowd, first] : open) {
      const auto found = next.find(crowd);
      if (found == next.end() || found->second != first) close(crowd, first);
    }
    open = std::move(next);
    before = core;
  }
  for (const auto& [crowd, first] : open) close(crowd, first);
  return boxes;
}

}  // namespace replay::report
