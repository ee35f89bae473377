// The one job whose end another one had to wait for, as batch systems write such conditions. A condition on several jobs,
// on a job's start or on its name says no such job: the result is empty, else the id as the log of that system has it.
#pragma once

#include <string>
#include <string_view>

namespace replay::accounting {

/// Of sbatch's or srun's command line: "sbatch --dependency=afterok:1234 job.sh", "-d afterany:1234_7". With "aftercorr"
/// task N of an array waits for task N of another, so `own_id` counts.
[[nodiscard]] std::string slurm_dependency(std::string_view command_line, std::string_view own_id);

/// Of PBS's attribute depend: "afterok:1234.server@server".
[[nodiscard]] std::string pbs_dependency(std::string_view condition);

/// Of LSF's dependCond: "done(1234)", "ended(1234[7])", "1234".
[[nodiscard]] std::string lsf_dependency(std::string_view condition);

}  // namespace replay::accounting
