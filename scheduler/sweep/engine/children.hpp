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
#include <utility>
#include <vector>

#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay::sweep {

/// Computes a cell. `scratch`: its folder for temporary files, without folders in it, which is removed afterwards. The
/// result is text without zero bytes, such as results_json(). Throws TryAgain; any other exception is the reason why the
/// cell fails.
using Compute = std::function<std::string(std::size_t cell, const std::filesystem::path& scratch)>;

struct CellLimits {
  std::optional<std::chrono::milliseconds> time{};  ///< > 0
  std::uint64_t memory = 0;                         ///< bytes of data; 0: no limit
  bool may_print = false;  ///< what a cell prints comes on standard error when it ends; else it is dropped
};

/// What became of a cell.
struct CellEnd {
  enum class Kind : std::uint8_t {
    kDone,
    kWrongUsage,  ///< compute() threw a UsageError
    kFailed,      ///< compute() threw something else
    kCrashed,     ///< its process has ended without an answer
    kTryAgain,    ///< compute() threw TryAgain, or its process was ended from outside
  };
  std::size_t cell = 0;
  Kind kind = Kind::kCrashed;
  std::string text{};  ///< the result, or the reason
  double seconds = 0;
};

/// REQUIRES: no other thread while one exists, as the children are forks of this process.
class Children {
 public:
  explicit Children(Compute compute, CellLimits limits = {}) : compute_(std::move(compute)), limits_(limits) {}
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

  Compute compute_;
  CellLimits limits_;
  ScratchFolder scratch_{};  // the base of temporary folders is there; what killed processes have left in it is removed
  std::vector<Child> children_;
};

}  // namespace replay::sweep
