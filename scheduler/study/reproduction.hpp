// Runs a study and writes what it finds into a folder: a page, and numbers.csv.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "scheduler/study/archive.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

using Study = std::function<Result(const LogSearch&, const Surroundings&)>;

struct Reproduction {
  Result result;
  std::filesystem::path page, numbers;
};

/// Makes the folder before the study begins. Missing logs become limits of the result. `force`: the folder may exist.
/// Throws InputError; sweep::Interrupted: nothing was written.
[[nodiscard]] Reproduction reproduce(std::string_view paper, const LogSearch& logs, const Study& study,
                                     const std::filesystem::path& folder, bool force, const Surroundings& surroundings);

}  // namespace replay::study
