// The start of a job's processes: checks whether it can start, takes its cores, writes down for the user what is run,
// and starts mpiexec. Whether the job is malleable shows later (job_registration.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/mpich/spanning.hpp"

namespace replay::launcher {

struct LaunchResult {
  std::optional<std::string> failure;  ///< none: mpiexec was started
  bool is_site_fault = false;          ///< the failure would keep any other job from being started, too
  std::string no_vmlib_reason;         ///< empty: the ranks register
};

/// Once for a job.
[[nodiscard]] LaunchResult launch(JobContext& job);

/// Starts this node's proxy of a job on several nodes, as mpiexec's call says; `control` is its line. Throws InputError,
/// std::system_error.
[[nodiscard]] StartedProxy start_proxy_of(const JobContext& job, const std::vector<std::string>& words, int control);

}  // namespace replay::launcher
