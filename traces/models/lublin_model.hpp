// The workload model of Lublin and Feitelson (JPDC 2003): sizes, run times that depend on them, and arrivals with a
// daily cycle; one kind of job ("typeless") or interactive and batch jobs that arrive independently. It is a stream:
// one job at a time, none is kept. With the drand48 generator it draws in the order of the authors' program and gives
// its jobs. We differ in one point: a power of two beyond the machine becomes the largest one that fits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "traces/models/lublin_arrivals.hpp"

namespace replay {

enum class Generator : std::uint8_t { kXoshiro, kDrand48 };

inline constexpr double kMostLogRuntime = 12;  ///< larger draws are repeated: no run time above e^12 = 162,754 s

struct LublinModel {
  bool types = false;  ///< interactive and batch jobs, else typeless ones
  CoreCount machine_size = kLublinMachineSize;
  LublinParameters typeless = default_lublin_parameters(LublinKind::kTypeless, kLublinMachineSize);
  LublinParameters interactive = default_lublin_parameters(LublinKind::kInteractive, kLublinMachineSize);
  LublinParameters batch = default_lublin_parameters(LublinKind::kBatch, kLublinMachineSize);
  ArrivalProcess arrivals = ArrivalProcess::kLublin;
  int start_hour = 0;  ///< 0..23, of the day at time zero
  Generator generator = Generator::kXoshiro;
  Seed seed{1};
};

/// Times in whole seconds.
struct LublinJob {
  std::int64_t arrival = 0;
  ProcessCount size = 1;
  std::int64_t runtime = 1;  ///< >= 1
  bool batch = false;        ///< with types
  bool operator==(const LublinJob&) const = default;
};

/// Jobs of a model, in order of arrival, without end. The same model and factor give the same jobs; the factor changes
/// nothing but arrivals (and, with types, how the two kinds interleave).
class LublinStream {
 public:
  /// `gap_factor` as in LublinArrivals. Throws UsageError for parameters that are out of range.
  explicit LublinStream(const LublinModel& model, double gap_factor = 1);

  /// Throws UsageError where parameters admit no run time or gap below the limits.
  [[nodiscard]] LublinJob next();

 private:
  struct Kind {
    Kind(const LublinParameters& p, const LublinArrivals::Options& options);
    LublinParameters parameters;
    GammaDistribution short_runtime, long_runtime;
    LublinArrivals arrivals;
    std::shared_ptr<UniformSource> arrival_source, job_source;
    std::int64_t next_arrival = 0;
  };
  void add_kind(LublinKind kind, const LublinModel& model, double gap_factor);
  [[nodiscard]] ProcessCount draw_size(const Kind& kind) const;
  [[nodiscard]] static std::int64_t draw_runtime(const Kind& kind, ProcessCount size);

  CoreCount machine_size_, largest_power_;
  std::shared_ptr<UniformSource> shared_source_;  // the one of drand48
  std::vector<Kind> kinds_;                       // typeless; or interactive, batch
};

}  // namespace replay
