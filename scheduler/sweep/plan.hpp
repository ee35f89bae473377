// The plan of a study: its cells in the order of its axes, each found from its number, so that a plan takes the memory of its file,
// however many cells it has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/sweep/engine/cells.hpp"
#include "scheduler/sweep/study_file.hpp"

namespace replay::sweep {

class Plan final : public Cells {
 public:
  /// Reads and checks the file, reads the inputs that it names. Throws UsageError for a mistake in it, and for files that cannot be
  /// read.
  explicit Plan(const std::filesystem::path& file);

  [[nodiscard]] const StudyFile& study() const { return study_; }
  /// From now on cells leave whole runs, DIR/runs/ID, with the workloads that they are of in DIR/workloads. `folder`: DIR.
  void keep_runs(const std::filesystem::path& folder) { kept_ = folder; }
  /// Those that killed processes of this computer have left half done there.
  void remove_unfinished_runs() const;

  [[nodiscard]] std::size_t count() const override { return count_; }
  [[nodiscard]] std::optional<CellId> id(std::size_t cell) const override { return id(cell, version()); }
  /// That which another version of the program gives it.
  [[nodiscard]] std::optional<CellId> id(std::size_t cell, std::string_view version) const;
  [[nodiscard]] std::string parameters(std::size_t cell) const override;
  [[nodiscard]] Results compute(std::size_t cell, const std::filesystem::path& scratch) const override;

  /// Of this program.
  [[nodiscard]] static std::string version();
  /// For each axis, which of its values the cell has.
  [[nodiscard]] std::vector<std::size_t> values_of(std::size_t cell) const;
  /// Those that are not left out. O(count()).
  [[nodiscard]] std::size_t cells() const;
  /// Nothing: none has it. O(count()).
  [[nodiscard]] std::optional<std::size_t> find(CellId id) const;

 private:
  [[nodiscard]] bool is_left_out(std::size_t cell) const;
  [[nodiscard]] CellId workload_id(std::size_t cell) const;
  [[nodiscard]] std::map<std::string, std::string> words_of(const std::vector<std::size_t>& values,
                                                            bool as_written = false) const;
  [[nodiscard]] std::string resolved(const std::string& word, const std::string& value) const;
  [[nodiscard]] std::string mistake_in(const std::vector<std::size_t>& values, const std::string& what) const;
  void expect_cells() const;
  void check_combinations() const;
  void read_inputs();
  [[nodiscard]] std::vector<std::string> input_words() const;

  StudyFile study_;
  std::size_t count_ = 1;
  std::filesystem::path kept_;  // empty: runs leave no folders
  // For ids: the axes on which inputs depend, and what is in these inputs, by the numbers of their values.
  std::vector<std::size_t> input_axes_;
  std::vector<std::string> inputs_;
  // The words that are hashed as they are, sorted: those that are fixed with their value, the others by their axis.
  struct Part {
    std::optional<std::size_t> axis;
    std::vector<std::string> texts;  // for each value
  };
  std::vector<Part> parts_;
};

}  // namespace replay::sweep
