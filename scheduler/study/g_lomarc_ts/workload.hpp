// The workloads of the G-LOMARC-TS paper (sections 4.8 and 4.9, Tables 4 and 5): jobs of the Lublin-Feitelson model with
// slowdowns, and sizes for nodes of four cores by formula 7. The same jobs as those of the commands in docs/workloads.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/model/workload.hpp"

namespace replay::study {

/// Jobs are counted all together, by class of the request, and medium and long ones together: those that may share nodes.
namespace glomarc {
enum Group : std::size_t { kAll, kShort, kMedium, kLong, kEligible };
}
inline constexpr std::size_t kGlomarcGroups = 5;
inline constexpr std::array<std::string_view, kGlomarcGroups> kGlomarcGroupNames{"all", "short", "medium", "long",
                                                                                 "medium and long"};

enum class GlomarcLoad : std::uint8_t { kW1, kW2 };
namespace glomarc {
inline constexpr GlomarcLoad kW1 = GlomarcLoad::kW1, kW2 = GlomarcLoad::kW2;
}
[[nodiscard]] std::string_view to_text(GlomarcLoad load);

/// What the figures of a job are measured against.
struct GlomarcJob {
  ProcessCount drawn = 1;  ///< its size before formula 7, with one process a node
  double runtime_s = 0;    ///< T, at one process a node
  glomarc::Group group = glomarc::kShort;
};
/// The class of a request: short up to ten minutes, medium up to three hours, long beyond.
[[nodiscard]] glomarc::Group glomarc_class_of(Duration request);

struct GlomarcWorkload {
  Workload workload;
  std::vector<GlomarcJob> facts;  ///< by the place in the workload
};
/// The seed is that of the model and of what is declared.
[[nodiscard]] GlomarcWorkload make_glomarc_workload(GlomarcLoad load, std::uint64_t seed, std::uint64_t jobs);

/// Table 5, in per cent.
struct GlomarcFacts {
  double offered_load = 0;  ///< work as drawn over what the nodes can do until the last submission
  std::array<double, kGlomarcGroups> jobs{}, work{};
  double serial = 0, power_of_two = 0;  ///< parallel sizes that are a power of two
};
[[nodiscard]] GlomarcFacts facts_of(const GlomarcWorkload& workload);

}  // namespace replay::study
