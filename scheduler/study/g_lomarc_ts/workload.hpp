// The workloads of the G-LOMARC-TS paper (sections 4.8 and 4.9, Tables 4 and 5): jobs of the Lublin-Feitelson model with
// slowdowns, and sizes for nodes of four cores by formula 7. The same jobs as those of the commands in docs/workloads.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/study/findings.hpp"

namespace replay::study {

/// Jobs are counted all together, by class of the request, and medium and long ones together: those that may share nodes.
inline constexpr std::array<std::string_view, 5> kGlomarcGroups{"all", "short", "medium", "long", "medium and long"};
/// Calls visit(group) with each group that a job of the class belongs to.
void for_each_group_of(std::string_view job_class, const auto& visit) {
  visit(kGlomarcGroups.front());
  visit(job_class);
  if (job_class != "short") visit(kGlomarcGroups.back());
}

/// What the figures of a job are measured against.
struct GlomarcJob {
  ProcessCount drawn = 1;  ///< its size before formula 7, with one process a node
  double runtime_s = 0;    ///< T, at one process a node
  std::string_view group = "short";
};
/// The class of a request: short up to ten minutes, medium up to three hours, long beyond.
[[nodiscard]] std::string_view glomarc_class_of(Duration request);

struct GlomarcWorkload {
  Workload workload;
  std::vector<GlomarcJob> facts;  ///< by the place in the workload
};
/// `load`: "W1" or "W2". The seed is that of the model and of what is declared.
[[nodiscard]] GlomarcWorkload make_glomarc_workload(std::string_view load, std::uint64_t seed, std::uint64_t jobs);

/// Table 5, in per cent, by its columns. "offered load": work as drawn over what the nodes can do until the last
/// submission; "power of two": parallel sizes that are one.
[[nodiscard]] Figures facts_of(const GlomarcWorkload& workload);

}  // namespace replay::study
