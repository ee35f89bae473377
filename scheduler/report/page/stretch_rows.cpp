#include "scheduler/report/page/stretch_rows.hpp"

#include <algorithm>
#include <functional>

namespace replay::report {

StretchColumns columns_of(std::vector<StretchRow>& rows) {
  std::ranges::stable_sort(rows, std::less{}, &StretchRow::from);
  StretchColumns columns;
  const auto fill = [&rows](auto& column, auto member) {
    column.reserve(rows.size());
    for (const StretchRow& row : rows) column.push_back(row.*member);
  };
  fill(columns.job, &StretchRow::job);
  fill(columns.first, &StretchRow::first);
  fill(columns.last, &StretchRow::last);
  fill(columns.processes, &StretchRow::processes);
  fill(columns.from, &StretchRow::from);
  fill(columns.to, &StretchRow::to);
  fill(columns.flags, &StretchRow::flags);
  fill(columns.mpl, &StretchRow::mpl);
  return columns;
}

}  // namespace replay::report
