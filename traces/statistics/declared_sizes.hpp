// What jobs declare of their sizes: how flexible they are, their speedup curves, and the sizes that follow.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// A sum over some jobs.
struct MeanOfJobs {
  std::uint64_t jobs = 0;
  double sum = 0;

  void add(double value) {
    ++jobs;
    sum += value;
  }
  /// 0 without jobs.
  [[nodiscard]] double mean() const { return jobs == 0 ? 0 : sum / static_cast<double>(jobs); }
};

struct DeclaredSizes {
  std::uint64_t rigid = 0, moldable = 0,
                malleable = 0;                       ///< jobs, as they count: those that declare nothing are malleable
  std::uint64_t linear = 0;                          ///< jobs with that curve
  MeanOfJobs downey_a, downey_sigma, three_point_n;  ///< of the jobs with those curves
  MeanOfJobs least, most;             ///< processes, of the jobs whose size can be chosen, up to the machine
  std::array<MeanOfJobs, 3> optimum;  ///< N_opt of the jobs with a curve: short, medium, long by the run time there

  [[nodiscard]] std::uint64_t curves() const { return linear + downey_a.jobs + three_point_n.jobs; }
  void add(const TracedJob& traced, CoreCount machine);
};

}  // namespace replay
