// The tables of the page of the G-LOMARC-TS paper.
#pragma once

#include "scheduler/study/g_lomarc_ts/simulated_values.hpp"

namespace replay::study {

/// Table 5.
[[nodiscard]] Table glomarc_workloads(const GlomarcValues& simulated);
/// Relative response by variant, a column a class; on W2 the paper has numbers of SSP.
[[nodiscard]] Table glomarc_responses(const GlomarcValues& simulated, GlomarcLoad load);
/// What the text of 5.2 says in per cent about relative responses under W1.
[[nodiscard]] Table glomarc_gains(const GlomarcValues& simulated);
/// Relative response, its confidence interval over the seeds, and seed by seed.
[[nodiscard]] Table glomarc_by_seed(const GlomarcValues& simulated, GlomarcLoad load);
/// Response, wait and suspended time in hours.
[[nodiscard]] Table glomarc_times(const GlomarcValues& simulated, GlomarcLoad load);
/// Use of nodes and cores, in phases of high load and over the makespan.
[[nodiscard]] Table glomarc_use(const GlomarcValues& simulated, GlomarcLoad load);
/// How much more of the cores G-LOMARC-TS uses in phases of high load.
[[nodiscard]] Table glomarc_use_gains(const GlomarcValues& simulated);
[[nodiscard]] Table glomarc_groups(const GlomarcValues& simulated);
/// R / R_est.
[[nodiscard]] Table glomarc_delays(const GlomarcValues& simulated, GlomarcLoad load);
/// Figure 8.
[[nodiscard]] Table glomarc_blocks(const GlomarcValues& simulated);
/// Figure 9.
[[nodiscard]] Table glomarc_slacks(const GlomarcValues& simulated);
/// Overhead at every slice against overhead where the class changes.
[[nodiscard]] Table glomarc_overheads(const GlomarcValues& simulated);

}  // namespace replay::study
