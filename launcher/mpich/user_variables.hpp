// Which of a user's environment variables a job gets. Those that configure another mpiexec, such as HYDRA_HOST_FILE or
// PMI_RANK, change how ours starts the ranks or keep it from ending; those that name a network device which the job's
// own network lacks make MPI_Init fail. mpiexec passes its environment on, so the ranks do not have them either.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/mpich/job_network.hpp"

namespace replay::launcher {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// MPIEXEC_PORT_RANGE and the other names by which Hydra 4.0.2 reads its range of ports.
[[nodiscard]] bool is_port_range(std::string_view name);

/// Variables as a job gets them.
struct JobVariables {
  Variables kept;
  Variables missing_devices;  ///< left out since a job's own network has no such device
};
[[nodiscard]] JobVariables variables_for_job(const Variables& given, JobNetwork network);

/// One line when OMP_NUM_THREADS asks for more than one thread, which would share the one core of their rank. Nothing: it
/// does not, or is no number. The last of several counts.
[[nodiscard]] std::optional<std::string> note_on_threads(const Variables& given);

/// One line on the variables left out for want of a device, and the way out. Nothing: there are none.
[[nodiscard]] std::optional<std::string> note_on_missing_devices(const Variables& missing);

}  // namespace replay::launcher
