// The output of a benchmark program: one `name value` row per line, then the verdict as the last line. Programs that
// read it look for that line; docs/benchmarks.md has an example.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

/// Collects rows and prints them at the end, on rank 0 only; on other ranks it prints nothing.
class Report {
 public:
  Report(const World& world, std::string_view program);

  template <typename T>
  void row(std::string_view name, const T& value) {
    text_ += fmt::format("{:<18} {}\n", name, value);
  }
  void row(std::string_view name, double value) { text_ += fmt::format("{:<18} {:.9g}\n", name, value); }

  /// Prints rows and verdict; returns the program's exit code. REQUIRES: the same `verified` on all ranks.
  int finish(bool verified);

 private:
  World world_;
  std::string text_;
};

}  // namespace replay::bench
