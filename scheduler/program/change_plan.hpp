// What `replay run` does to its job and when: shrink, expand, suspend and resume at given times, or shrink and expand in
// turn for ever. And where the ranks lie meanwhile. Pure: text and numbers in, a plan out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/units.hpp"

namespace replay::program {

enum class ChangeKind : std::uint8_t { kShrink, kExpand, kSuspend, kResume };
using replay::to_text;  // of times, which these would hide
[[nodiscard]] std::string_view to_text(ChangeKind kind);

struct Change {
  Duration at{};  ///< after the program's MPI_Init
  ChangeKind kind = ChangeKind::kShrink;
  bool operator==(const Change&) const = default;
};

/// As on the command line: durations with a unit.
struct ChangeTexts {
  std::vector<std::string> shrink_at;
  std::vector<std::string> expand_at;
  std::vector<std::string> suspend_at;
  std::vector<std::string> resume_at;
  std::string every;  ///< empty: not wanted
};

class ChangePlan {
 public:
  /// Throws UsageError: no duration; a shrink of what is shrunk by then, and the like; --every beside times.
  explicit ChangePlan(const ChangeTexts& texts);

  /// The next change, each once, ascending; with --every there always is one.
  [[nodiscard]] std::optional<Change> next();
  /// Whether there are shrinks and expands to come.
  [[nodiscard]] bool has_resizes() const;
  /// Leaves suspends and resumes alone: the job is rigid. REQUIRES: before the first next().
  void drop_resizes();

 private:
  std::vector<Change> changes_;
  std::size_t taken_ = 0;
  Duration every_{};  // 0: only `changes_`
};

/// The core of each rank. The cores get equally many ranks, or one more or less. REQUIRES: cores.
[[nodiscard]] std::vector<std::int32_t> place_ranks(int ranks, std::span<const int> cores, Pairing pairing);

}  // namespace replay::program
