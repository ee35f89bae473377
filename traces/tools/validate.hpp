// Validation of an SWF file: every rule of the format that a file can break, checked in one pass. Errors make readers
// disagree or fail; warnings are legal but odd, or what the cleaning rules would change. Rules have the names that
// docs/formats/swf.md gives them, where it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

enum class Severity : std::uint8_t { kError, kWarning };

struct Violation {
  std::string rule;  ///< "out-of-order"
  Severity severity = Severity::kError;
  std::uint64_t count = 0;
  std::string text;                ///< what is wrong, for people
  std::vector<std::size_t> lines;  ///< the first five of the file; empty if no line is at fault
};

struct ValidateOptions {
  bool schedule = false;  ///< whether the logged schedule fits the machine; memory: 32 bytes a job
};

struct Validation {
  std::string file;
  std::uint64_t records = 0;
  std::vector<Violation> violations;  ///< errors first, each in a fixed order
  std::vector<std::string> broken_messages;
  std::optional<CoreCount> logged_peak;  ///< with `schedule`: most processors in use at once

  [[nodiscard]] std::uint64_t count(Severity severity) const;
  /// Whether there is no error.
  [[nodiscard]] bool is_right() const { return count(Severity::kError) == 0; }
  /// Nothing if the rule is kept.
  [[nodiscard]] const Violation* find(std::string_view rule) const;
};

/// Reads to the end. Memory does not grow with the log, but for gaps among job numbers that do not ascend, and
/// `schedule`. Throws InputError where there is no SWF to judge: no file, no record, damaged compression.
[[nodiscard]] Validation validate_trace(TraceReader& reader, const ValidateOptions& options = {});

}  // namespace replay
