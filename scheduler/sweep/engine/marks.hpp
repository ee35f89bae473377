// Which processes work in a sweep's folder, and at which cells. Nothing is locked, so that this works over NFS: a process has a
// file that it touches, and a cell that is being computed has a symbolic link with that file's name, which one process can make.
// Marks only keep work from being done twice; results do not depend on them (ADR 36).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/sweep/engine/cells.hpp"
#include "scheduler/sweep/engine/shard.hpp"

namespace replay::sweep {

/// "3-of-7.HOST.PID.START": of this process, different from that of any other.
[[nodiscard]] std::string process_label(std::string_view begins);

/// Whether a label's process was one of this computer and has ended.
[[nodiscard]] bool has_ended(std::string_view label);

/// The mark of this process, DIR/running/LABEL, while it works. A mark that has not been touched for a minute, or whose process
/// is known to have ended, is that of a killed one and is removed.
class RunningMark {
 public:
  static constexpr std::chrono::seconds kTouchedEvery{5}, kDeadAfter{60};

  /// Throws TryAgain where it cannot be made. `folder`: that of the sweep.
  RunningMark(const std::filesystem::path& folder, std::string label);
  RunningMark(const RunningMark&) = delete;
  RunningMark& operator=(const RunningMark&) = delete;
  ~RunningMark();

  [[nodiscard]] const std::string& label() const { return label_; }
  /// Touches it if that is due. Called once a second at least.
  void keep_up();
  /// Of the others, those that live.
  [[nodiscard]] std::vector<std::string> others();
  [[nodiscard]] bool is_alive(const std::string& label);

 private:
  std::filesystem::path folder_;
  std::string label_;
  std::chrono::steady_clock::time_point touched_;
  std::int64_t now_on_server_ = 0;  // seconds, by the clock of the folder's file server
};

/// The shard of a label; nothing: of another kind.
[[nodiscard]] std::optional<Shard> shard_of_label(std::string_view label);

/// Whether the process of a label in DIR/running works, as far as can be told without a mark of one's own: by the clock of this
/// computer.
[[nodiscard]] bool seems_alive(const std::filesystem::path& folder, const std::string& label);

class Claims {
 public:
  Claims(const std::filesystem::path& folder, RunningMark& mark);
  /// Whether the cell is this process's now. False: another process that lives is at it. Throws TryAgain.
  [[nodiscard]] bool claim(CellId id);
  void release(CellId id);

 private:
  std::filesystem::path folder_;
  RunningMark& mark_;
};

}  // namespace replay::sweep
