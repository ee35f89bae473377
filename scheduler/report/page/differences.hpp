// Where a run of the page parts from the first one. Part of runs.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "scheduler/report/page/page.hpp"

namespace replay::report {

/// Run `run` compared with the first. Instants within a second are the same where one of the two is a real run. Nothing if they
/// share no job. Adds a remark to the warnings of `run` then. Throws InputError.
[[nodiscard]] std::optional<PageDifference> difference_of(std::span<RunData> runs, std::size_t run,
                                                          std::span<const std::filesystem::path> logs);

}  // namespace replay::report
