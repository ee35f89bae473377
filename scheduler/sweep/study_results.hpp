// The results of a study: what each of its cells came to. `replay sweep` collects them from the shards' files; tables, pages and
// figures are made from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace replay::sweep {

/// What a study varies: "load" with "0.6", "0.7"; words as the plan has them, in its order.
struct Axis {
  std::string name;
  std::vector<std::string> values;

  friend bool operator==(const Axis&, const Axis&) = default;
};

/// What cleaning has done to the records of a cell's workload.
struct Cleaned {
  double left_out = 0;
  double too_wide = 0;  ///< of these: wider than the machine
  double narrowed = 0;  ///< to the machine

  friend bool operator==(const Cleaned&, const Cleaned&) = default;
};

/// One cell: one value of each axis.
struct CellResult {
  std::string id;                         ///< hash of what it computes, in hexadecimal digits
  std::vector<std::size_t> values;        ///< for each axis, which of its values
  std::string version;                    ///< of the program that computed it
  std::string failure;                    ///< why it has no result; empty: it is done
  std::map<std::string, double> metrics;  ///< by their names in metrics.json; NaN where there is none
  Cleaned cleaned{};

  friend bool operator==(const CellResult&, const CellResult&) = default;
};

struct StudyResults {
  std::string name;
  std::vector<std::string> metrics;  ///< those that the study asks about, in its order
  std::vector<Axis> axes;            ///< "seed", where there is one, is a repetition; the others are compared
  std::vector<CellResult> cells;     ///< of those that are done or failed, in the order of the plan
  std::size_t planned = 0;           ///< cells of the plan

  [[nodiscard]] std::size_t missing() const { return planned - std::min(planned, cells.size()); }
};

}  // namespace replay::sweep
