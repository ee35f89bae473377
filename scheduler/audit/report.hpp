// The result of an audit as text for a terminal, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scheduler/audit/audit.hpp"
#include "scheduler/audit/schedule_file.hpp"

namespace replay::audit {

/// A line for each finding that was kept, then what was checked and the counts. `options` are those of the audit.
[[nodiscard]] std::string to_text(const ScheduleFile& file, const Options& options, const Report& report);
[[nodiscard]] nlohmann::ordered_json to_json(const ScheduleFile& file, const Options& options, const Report& report);

}  // namespace replay::audit
