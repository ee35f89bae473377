// The workloads of the SCOJO-P paper (section 5.2, Table 1): jobs of the Lublin-Feitelson model on 128 processors, each
// with a speedup curve, of three points or of Downey. The same jobs as those of the commands in docs/workloads.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/study/findings.hpp"
#include "traces/declare/flexibility.hpp"

namespace replay::study {

/// Jobs are counted all together and by class: short, medium, long by T(N_opt).
inline constexpr std::array<std::string_view, 4> kScojoGroups{"all", "short", "medium", "long"};

struct ScojoWorkloadKind {
  std::string_view key;  ///< "W1", "W2 80 %", "W1 Downey"
  double alpha;          ///< aarr of the model
  SpeedupModel curve = SpeedupModel::kThreePoint;
  ClassShares moldable{{1, 1, 1}}, malleable{};
  bool raises_least = false;  ///< the least size of medium and long jobs: that of efficiency 0.9
};
/// REQUIRES: there is one of that key.
[[nodiscard]] const ScojoWorkloadKind& scojo_workload_kind(std::string_view key);

/// What the figures of a job are measured against.
struct ScojoJob {
  ProcessCount submitted = 1, optimum = 1;
  double runtime_s = 0;  ///< T(N_opt)
  std::string_view group = "short";
  bool has_choice = false;  ///< of its size
};

struct ScojoWorkload {
  Workload workload;
  std::vector<ScojoJob> facts;  ///< by the place in the workload
};
/// The seed is that of the model and of what is declared.
[[nodiscard]] ScojoWorkload make_scojo_workload(const ScojoWorkloadKind& kind, std::uint64_t seed, std::uint64_t jobs);
/// "offered load": work at the submitted sizes over what the machine can do until the last arrival; by group, "share all" of
/// the jobs, and "optimum all": N_opt in the mean, NaN of no jobs.
[[nodiscard]] Figures facts_of(const ScojoWorkload& workload);

}  // namespace replay::study
