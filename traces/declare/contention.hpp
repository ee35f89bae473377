// The declarations that G-LOMARC-TS needs beyond a log: how a job slows down when its processes share CPUs and nodes
// (Table 4), and how many processes it has on a machine of multi-core nodes (section 4.8, formula 7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/model/job_traits.hpp"
#include "traces/models/random.hpp"
#include "traces/swf_record.hpp"

namespace replay {

/// Sets SL_scr, SL_sno and the pair key; co_scheduling_slowdown() computes SL_cos from two keys.
void declare_contention(JobTraits& traits, std::int64_t job, Seed seed);

/// MAX_SL and SELF_SL_2 of Table 6.
inline constexpr double kMaxSlowdown = 1.25, kSelfSlowdownOfTwo = 1.12;

struct SizeRule {
  enum class Rounding : std::uint8_t { kKeepPowersOfTwo, kInteger };
  CoreCount cores = 4;  ///< of a node: two CPUs of cores / 2; even, >= 4
  Rounding rounding = Rounding::kKeepPowersOfTwo;
};

/// Formula 7: the size on `nodes` nodes of a job that had `old` processes, one on each node. Multiplied by the
/// processes per node of formula 8 and divided by their slowdown; at most as many as these nodes hold.
[[nodiscard]] ProcessCount size_on_nodes(ProcessCount old, double same_cpu, double same_node, const SizeRule& rule,
                                         int nodes);
/// Formula 8: 1, cores / 2 or all cores.
[[nodiscard]] ProcessCount processes_per_node(ProcessCount old, double same_cpu, double same_node,
                                              const SizeRule& rule);

/// "glomarc:cores=4", with ":round=integer" for the formula to the letter. Throws UsageError.
[[nodiscard]] SizeRule parse_size_rule(std::string_view text);
[[nodiscard]] std::string to_text(const SizeRule& rule);

}  // namespace replay
