// The frame of a NAS kernel: the two options that all have, the loop that is timed, and the rows about time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/options.hpp"
#include "benchmarks/mpi/common/report.hpp"

namespace replay::bench {

class Kernel {
 public:
  /// Reads `--class S|W|A|B` and `--repeat`. Throws UsageError.
  Kernel(const World& world, std::string name, std::string purpose, int argc, char** argv);

  /// `--help` was asked for, and has been printed: there is nothing more to do.
  bool is_over() const { return is_over_; }
  const std::string& class_name() const { return class_name_; }

  /// Throws UsageError unless there are at most `most` processes; `why` says what each one has: "one for each row".
  void expect_at_most(std::int64_t most, std::string_view why) const;
  /// Throws UsageError about the number of processes.
  [[noreturn]] void reject_processes(const std::string& expected) const;

  /// Does it all `--repeat` times between two readings of the clock, after a barrier. `once` returns whether the result
  /// is the published one. Collective.
  void time(const std::function<bool()>& once);

  /// For what time() should not count: work between two barriers, within `once`. Collective.
  void untimed(const std::function<void()>& work);

  /// The first rows of the report. REQUIRES: time() has been called.
  Report begin_report() const;
  /// The last ones; returns the exit code. `operations`: of one repetition, as NAS counts them. Collective.
  int finish(Report& report, double operations) const;

 private:
  World world_;
  std::string name_;
  Options options_;
  std::string class_name_ = "S";
  std::uint64_t repeats_ = 1;
  bool is_over_ = false;
  bool verified_ = true;
  double seconds_ = 0;
};

}  // namespace replay::bench
