// Where a run of the page parts from another one. Part of runs.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "scheduler/report/page/page.hpp"

namespace replay::report {

/// Run `run` compared with run `against`. Where one of the two is a real run, instants that lie within half a real second, or
/// one of trace time if that is more, are the same. Nothing if they share no job: then the warnings of `run` get a note.
/// Throws InputError.
[[nodiscard]] std::optional<PageDifference> difference_of(std::span<RunData> runs, std::size_t run, std::size_t against,
                                                          std::span<const std::filesystem::path> logs);

}  // namespace replay::report
