// The result of a study as text for a terminal, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scheduler/study/result.hpp"

namespace replay::study {

/// All tables, then the statements.
[[nodiscard]] std::string to_text(const Result& result);
/// All numbers and statements.
[[nodiscard]] nlohmann::ordered_json to_json(const Result& result);

}  // namespace replay::study
