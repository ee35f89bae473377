// Self-tuning dynP: synthetic job sets of four logs, their submit times multiplied by shrinking factors, under FCFS,
// SJF, LJF and dynP with three deciders. Source: Streit's dynP paper, Tables 3 to 5, Figures 1 to 4. The sets are ours
// (docs/resampling.md), as the paper does not say how its own were drawn.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/findings.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

struct DynpOptions {
  std::uint64_t sets = 10;
  std::uint64_t jobs = 10'000;  ///< of a set
  std::vector<double> factors{1.0, 0.9, 0.8, 0.7, 0.6};
  bool quick = false;  ///< only for the page's text; quick_dynp_options() sets the rest
};
/// Three sets of 2,000 jobs, factors 1 and 0.7.
[[nodiscard]] DynpOptions quick_dynp_options();

struct DynpLog {
  std::string name, file;
  CoreCount processors = 1;
  std::vector<Workload> sets{};  ///< as drawn, factor 1
};
/// Draws the sets, seed 1. Throws InputError, UsageError for sets that cannot be drawn.
[[nodiscard]] DynpLog read_dynp_log(const FoundLog& found, const DynpOptions& options);
/// Submit times multiplied and rounded to seconds; as they are with factor 1.
[[nodiscard]] Workload shrunk(const Workload& set, double factor);

/// Counts in the event log how often dynP changed its policy, and how long each was in use, from the first choice to
/// the last record.
class PolicyShares final : public history::Observer {
 public:
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  [[nodiscard]] std::size_t switches() const { return choices_ > 0 ? choices_ - 1 : 0; }
  /// Of FCFS, SJF, LJF; 0 where nothing was ever chosen.
  [[nodiscard]] std::array<double, 3> shares() const;

 private:
  std::size_t choices_ = 0, in_use_ = 0;
  Instant last_{};
  std::array<double, 3> lasted_s_{};
};

/// Without the smallest and the largest of three or more. NaN of none.
[[nodiscard]] double trimmed_mean(const std::vector<double>& values);

/// Cells: "KTH 0.9/SJF", a seed a set, for FCFS, SJF, LJF, advanced, SJF-preferred, simple. Figures: "SLDwA", "utilisation" (a
/// share), "switches", "share FCFS" and likewise. Means are trimmed. Against SJF, "gain": how much less SLDwA, %, and "points" of utilisation, also in
/// the mean over the factors: "KTH/advanced".
[[nodiscard]] Findings run_dynp_study(const std::vector<DynpLog>& logs, const DynpOptions& options,
                                      const Surroundings& surroundings);
[[nodiscard]] Result dynp_result(const Findings& found, const std::vector<DynpLog>& logs, const DynpOptions& options);
[[nodiscard]] Result reproduce_dynp(const LogSearch& logs, const DynpOptions& options,
                                    const Surroundings& surroundings);

}  // namespace replay::study
