// The hosts that Slurm has given to the job in which this program runs, and how long it has them: from Slurm's
// variables, which salloc and sbatch set. The list of hosts is then used as that of a hosts file. Names are expanded
// here and not by `scontrol show hostnames`: nothing has to be started and waited for, and the form is stable.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/bootstrap/hosts_file.hpp"

namespace replay::launcher {

/// Starts an agent on a node of the job: `CMD HOST COMMAND...`. The step has all cores and the memory of the job there,
/// beside other steps; its standard input is passed on, and nothing of it is bound or started by Slurm's own MPI.
/// Without variables of the user that contradict this or change what comes back.
inline constexpr std::string_view kStartBySlurm =
    "env -u SLURM_EXACT -u SLURM_EXCLUSIVE -u SLURM_LABELIO -u SLURM_STDOUTMODE -u SLURM_STDERRMODE "
    "srun --overlap --whole --nodes=1 --ntasks=1 --mem=0 --cpu-bind=none --mpi=none --input=all --export=ALL "
    "--nodelist";

struct SlurmJob {
  std::string id;
  std::vector<Host> hosts;
};

/// Of a list as in SLURM_JOB_NODELIST, "n[1-3,07-09],x5", and one as in SLURM_JOB_CPUS_PER_NODE, "4(x2),2": each host
/// takes at most so many cores. Throws InputError.
[[nodiscard]] std::vector<Host> slurm_hosts(std::string_view nodes, std::string_view cpus_per_node);

/// The job in which this program runs. `words` are those of a hosts file, joined by commas, that hold for each of its
/// hosts: "iface=ib0,emulated=1x4". Throws UsageError outside of a job; InputError.
[[nodiscard]] SlurmJob slurm_job(std::string_view words);

/// The real time that the job has left: from SLURM_JOB_END_TIME, or else from squeue. Nothing: it has no limit, or
/// neither of them says.
[[nodiscard]] std::optional<std::chrono::seconds> slurm_time_left(const std::string& id);
/// Of what `squeue -o %L` prints: "[DAYS-][[HOURS:]MINUTES:]SECONDS". Nothing for "UNLIMITED" and others.
[[nodiscard]] std::optional<std::chrono::seconds> parse_time_left(std::string_view text);

}  // namespace replay::launcher
