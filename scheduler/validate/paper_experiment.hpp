// The validation experiment of the FCFS-malleable paper (section 4.1, Table 1) on machines at hand: 150 Lublin jobs over
// two hours, run times scaled to offered loads of 30, 50, 70 and 90 %, under EASY, FCFS-malleable and easy-malleable. The
// paper does not state the arrival process, which decides the result, so there are two: Poisson, and the model's own,
// in bursts.
// On emulated cores: 16 of them, jobs of 1 to 16 processes and of 60 s at least (3 s at time scale 0.05). On 32 cores jobs
// of up to 16 hardly ever wait under FCFS-malleable (simulated over 20 seeds: 0.0 to 0.5 s at all Poisson loads), and
// a wait of zero has no relative error.
// On this machine's own cores: 60 jobs over three to five minutes of real time, each a benchmark of the profile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/validate/cell.hpp"

namespace replay::validate {

inline constexpr int kPaperLoads[] = {30, 50, 70, 90};
inline constexpr std::string_view kPaperArrivals[] = {"poisson", "lublin"};
inline constexpr std::string_view kPaperPolicies[] = {"easy", "fcfs-malleable", "easy-malleable"};
inline constexpr const char* kPaperMachine = "emulated:4x2x2";
inline constexpr double kPaperTimeScale = 0.05;
inline constexpr double kEstimateFactor = 2;  ///< estimates over run times: the model has none
inline constexpr const char* kQuickCell = "50/poisson/fcfs-malleable";

/// The workload of the experiment; the defaults are for emulated cores.
struct PaperWorkload {
  CoreCount cores = 16;
  std::uint64_t jobs = 150;
  std::int64_t duration_s = 7200;
  std::int64_t min_runtime_s = 60;
  std::string profile;  ///< file; empty: jobs run `phases`. Else each is the benchmark that is nearest in run time
};
[[nodiscard]] PaperWorkload emulated_workload();
[[nodiscard]] PaperWorkload physical_workload(CoreCount cores, std::string profile);

/// Writes the trace of a load and a seed into `folder` (replaced if it is there; always the same bytes). Returns its
/// path. Throws UsageError if the load cannot be met, InputError.
[[nodiscard]] std::string write_paper_trace(const std::filesystem::path& folder, const PaperWorkload& workload,
                                            std::string_view arrivals, int load_percent, std::uint64_t seed);

/// All 24, by load, arrivals, policy; writes their traces.
[[nodiscard]] std::vector<ValidationCell> paper_cells(const std::filesystem::path& traces,
                                                      const PaperWorkload& workload, std::uint64_t seed);

}  // namespace replay::validate
