// The jobs of a period whose decisions the next one cannot repeat, as another policy or another version of replay has made them:
// what its turn log, its event log and the journal say of them (docs/adr/0035-adopted-jobs.md).
#pragma once

#include <filesystem>
#include <vector>

#include "scheduler/live/adoption.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/service/journal.hpp"

namespace replay::service {

struct Adoption {
  std::vector<live::TurnLog::Input> before;  ///< for the turn log of the new period
  std::vector<JobId> jobs;                   ///< that run, or whose ends the new period has to tell
  std::size_t running = 0;                   ///< of these
  std::vector<JobId> unstarted;              ///< the journal has their starts, and nothing was started: they wait
};

/// Of the period in this folder, at `now`. `executor`: one for its agents, which has not gone on, and is of no use afterwards.
/// Throws InputError: its jobs cannot be adopted.
[[nodiscard]] Adoption adopt_jobs_of(const std::filesystem::path& period, live::Executor& executor,
                                     const Machine& machine, const Journal& journal, Instant now);

}  // namespace replay::service
