// Slowdowns of pairs of jobs from a file, NAME.pairs.csv: for each pair how much slower `job` runs while `beside` has a
// core on one of its nodes. docs/formats/pairs.md has the format.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "scheduler/model/units.hpp"

namespace replay {

class PairTable {
 public:
  /// 1 for a pair that is not listed.
  [[nodiscard]] double slowdown(JobId job, JobId beside) const;
  /// Ordered pairs: the other way round is another entry. Returns false if the pair is there already. REQUIRES: > 0.
  bool add(JobId job, JobId beside, double slowdown);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unordered_map<JobId, std::unordered_map<JobId, double>> of_;
  std::size_t size_ = 0;
};

/// Reads a file with the columns job, beside and slowdown, compressed or not. Throws InputError with file and line.
[[nodiscard]] PairTable read_pairs(const std::string& path);

}  // namespace replay
