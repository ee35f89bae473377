// What `replay sweep --gather` leaves of a study's results: `sweep.csv`, `table.txt` and `report.html`.
#pragma once

#include <filesystem>
#include <string>

#include "scheduler/sweep/study_results.hpp"

namespace replay::sweep {

/// Writes the three files into the folder, each as a whole, and gives back the text of `table.txt`. The same results are the same
/// bytes, in whatever order their cells come. Throws InputError.
std::string write_answer(const std::filesystem::path& folder, const StudyResults& results);

}  // namespace replay::sweep
