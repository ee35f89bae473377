// The file of a study, in TOML: what is varied, what is fixed, and what is left out. docs/sweep.md describes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace replay::sweep {

/// A value as the words of a command have it: numbers in their shortest form, true as "on", false as "".
struct StudyValue {
  std::string text;
  std::size_t line = 0;
};

struct StudyAxis {
  std::string word;
  std::vector<StudyValue> values;  ///< at least one, all different
  std::size_t line = 0;
};

/// Cells that are left out: those that have one of the values of each axis that is named.
struct Exclusion {
  std::size_t line = 0;
  std::map<std::size_t, std::vector<std::size_t>> values;  ///< of axes, by their numbers
};

struct StudyFile {
  std::filesystem::path path;
  std::string name;  ///< that of the file, if it says none
  std::vector<std::string> metrics;
  std::vector<StudyAxis> axes;  ///< in the order of the file; the last one varies fastest
  std::map<std::string, StudyValue> fixed;
  std::vector<Exclusion> exclusions;

  [[nodiscard]] std::string at(std::size_t line) const { return path.string() + ":" + std::to_string(line); }
};

/// Every value is checked by itself. Throws UsageError, "FILE:LINE: KEY: expected ..., found ...; did you mean ...?", also if the
/// file cannot be read.
[[nodiscard]] StudyFile read_study(const std::filesystem::path& file);

}  // namespace replay::sweep
