// Computes cells in child processes, so that what goes wrong in one is the failure of that cell only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/sweep/engine/cells.hpp"

namespace replay::sweep {

struct CellLimits {
  std::optional<std::chrono::milliseconds> time{};  ///< > 0
  std::uint64_t memory = 0;                         ///< bytes of data; 0: no limit
};

/// What became of a cell.
struct CellEnd {
  enum class Kind : std::uint8_t { kDone, kFailed, kTryAgain };
  std::size_t cell = 0;
  Kind kind = Kind::kFailed;
  std::string text{};  ///< results_json(), or the reason in one line
  double seconds = 0;
};

/// REQUIRES: no other thread while one exists, as the children are forks of this process.
class Children {
 public:
  Children(const Cells& cells, CellLimits limits) : cells_(cells), limits_(limits) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  /// Kills those that are left.
  ~Children();

  [[nodiscard]] std::size_t running() const { return children_.size(); }
  /// Throws TryAgain: no process or temporary folder can be made.
  void start(std::size_t cell);
  /// Waits until one has ended, a stop signal comes, or `most` has passed.
  [[nodiscard]] std::vector<CellEnd> wait(std::chrono::milliseconds most);

 private:
  using Clock = std::chrono::steady_clock;
  struct Child {
    std::size_t cell;
    pid_t pid;
    UniqueFd answer;  // what it sends
    UniqueFd errors;  // what it prints
    std::unique_ptr<ScratchFolder> scratch;
    Clock::time_point started;
    std::string received{};
    bool is_late = false;
  };

  [[noreturn]] void be_child(std::size_t cell, int answer, int errors, const std::filesystem::path& scratch,
                             pid_t parent) const;
  [[nodiscard]] bool read_from(Child& child) const;
  void kill_late();
  [[nodiscard]] CellEnd ended(Child& child) const;
  [[nodiscard]] CellEnd end_of(const Child& child, int status) const;

  const Cells& cells_;
  CellLimits limits_;
  ScratchFolder scratch_{};  // the base of temporary folders is there; what killed processes have left in it is removed
  std::vector<Child> children_;
};

}  // namespace replay::sweep
