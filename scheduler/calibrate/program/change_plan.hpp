// The changes that `replay run` applies to its job: shrink, expand, suspend and resume at given times, or shrink and
// expand in turn without end. Also the placement of the ranks. No I/O: text and numbers in, a plan out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::calibrate {

enum class ChangeKind : std::uint8_t { kShrink, kExpand, kSuspend, kResume };
using replay::to_text;  // the overloads for times, which the next one would hide
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
  /// Throws UsageError: not a duration; a shrink of a job already shrunk, and the like; --every together with times.
  explicit ChangePlan(const ChangeTexts& texts);

  /// The next change, each once, ascending; with --every there always is one.
  [[nodiscard]] std::optional<Change> next();
  /// Whether there are shrinks and expands to come.
  [[nodiscard]] bool has_resizes() const;
  /// Drops shrinks and expands, for a rigid job; suspends and resumes stay. REQUIRES: before the first next().
  void drop_resizes();

 private:
  std::vector<Change> changes_;
  std::size_t taken_ = 0;
  Duration every_{};  // 0: only `changes_`
};

/// The core of each rank. The numbers of ranks per core differ by at most one. REQUIRES: at least one core.
[[nodiscard]] std::vector<std::int32_t> place_ranks(int ranks, std::span<const std::int32_t> cores, Pairing pairing);

/// The same on the first cores of a machine, at most one for each rank; a node's ranks stand together. REQUIRES: named
/// cores.
[[nodiscard]] std::vector<CoreId> place_on_nodes(int ranks, const Machine& machine, Pairing pairing);
/// A core for each rank, on the first `nodes` nodes as evenly as these have room: one on each, then one more on each
/// that has another, and so on. REQUIRES: nodes >= 1, each gets a rank, and they have so many cores.
[[nodiscard]] std::vector<CoreId> spread_on_nodes(int ranks, int nodes, const Machine& machine);
/// How many nodes these ranks are on.
[[nodiscard]] int nodes_of(std::span<const CoreId> core_of_rank, const Machine& machine);
/// The same ranks on `cores` of their cores. None leaves its node, and those with more ranks on a core keep more of
/// their cores. REQUIRES: as place_on_nodes() has placed them; `cores` from nodes_of() to the cores that they have.
[[nodiscard]] std::vector<CoreId> shrink_on_nodes(std::span<const CoreId> core_of_rank, int cores,
                                                  const Machine& machine, Pairing pairing);

}  // namespace replay::calibrate
