// The results of a study: what each of its cells came to. `replay sweep` collects them from the shards' files; tables, pages and
// figures are made from them.
#pragma once

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

/// One cell: one value of each axis.
struct CellResult {
  std::string id;                         ///< hash of what it computes, in hexadecimal digits
  std::vector<std::size_t> values;        ///< for each axis, which of its values
  std::string version;                    ///< of the program that computed it
  std::string failure;                    ///< why it has no result; empty: it is done
  std::map<std::string, double> metrics;  ///< by their names in metrics.json; NaN where there is none

  friend bool operator==(const CellResult&, const CellResult&) = default;
};

struct StudyResults {
  std::string name;
  std::vector<std::string> metrics;  ///< those that the study asks about, in its order
  std::vector<Axis> axes;            ///< "seed", where there is one, is a repetition; the others are compared
  std::vector<CellResult> cells;     ///< of those that are done or failed, in the order of the plan
  std::size_t planned = 0;           ///< cells of the plan
};

}  // namespace replay::sweep
