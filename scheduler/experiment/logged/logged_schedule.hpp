// What a log says of its own schedule, for policies that follow it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "traces/workload_reader.hpp"

namespace replay::experiment {

struct LoggedSchedule {
  Workload workload{};                 ///< LoadedWorkload::logged
  Machine machine = Machine::pool(1);  ///< the log's; or as large as its jobs need beside each other, if that is larger
  std::optional<CoreCount> stated{};   ///< then: the cores of the log's machine, which figures are shares of
};

/// Of `trace`, for `policy`; takes LoadedWorkload::logged. What a reader of the figures has to know is added to `notes`.
/// Throws InputError for a log that does not say when its jobs started.
[[nodiscard]] LoggedSchedule logged_schedule(LoadedWorkload& loaded, const std::string& trace,
                                             const std::string& policy, std::vector<std::string>& notes);

}  // namespace replay::experiment
