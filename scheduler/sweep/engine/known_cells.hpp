// Which cells of a sweep's folder are done and which have failed, by any process, under one version of the program. Eight bytes a
// cell.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/sweep/engine/cell_line.hpp"

namespace replay::sweep {

class KnownCells {
 public:
  /// Reads nothing before refresh(). `folder`: of the lines.
  KnownCells(std::filesystem::path folder, std::string version)
      : files_(std::move(folder)), version_(std::move(version)) {}
  /// Reads what has come. Throws InputError.
  void refresh();
  /// The same, but at most once a second, and for at most a fiftieth of the time.
  void refresh_now_and_then();
  void add(CellId id, bool has_failed) { (has_failed ? failed_ : done_).add({id}); }
  [[nodiscard]] bool is_done(CellId id) const { return done_.has(id); }
  /// And has not been done since.
  [[nodiscard]] bool has_failed(CellId id) const { return failed_.has(id) && !done_.has(id); }
  /// Lines that could not be read.
  [[nodiscard]] std::size_t damaged() const { return files_.damaged(); }

 private:
  // Sorted; what has come lately is kept apart until there is much of it.
  class Ids {
   public:
    void add(std::vector<CellId> more);
    [[nodiscard]] bool has(CellId id) const;

   private:
    std::vector<CellId> sorted_, recent_;
  };

  CellFiles files_;
  std::string version_;
  Ids done_, failed_;
  std::chrono::steady_clock::time_point refreshed_{};
  std::chrono::steady_clock::duration took_{};
};

}  // namespace replay::sweep
