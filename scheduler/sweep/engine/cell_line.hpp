// One line of JSON for each cell that has been computed, in files that only grow. Each line ends with a check of all before
// it, so that one that was cut off or damaged is recognised; its cell is computed again.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/sweep/engine/cells.hpp"

namespace replay::sweep {

struct CellLine {
  CellId id = 0;
  std::string version;       ///< of the program that computed it
  std::string failure{};     ///< why it has no results; empty: it has
  std::string parameters{};  ///< a JSON object
  double seconds = 0;        ///< that it took
  Results results{};         ///< NaN is null in the file
};

/// The results as a JSON object.
[[nodiscard]] nlohmann::ordered_json to_json(const Results& results);
[[nodiscard]] std::string results_json(const Results& results);
/// And back.
[[nodiscard]] Results results_of(const nlohmann::ordered_json& json);
[[nodiscard]] Results parse_results(std::string_view json);
/// The line, with its end. `results`: results_json().
[[nodiscard]] std::string to_text(const CellLine& line, std::string_view results);

/// What can be said of a line at a glance.
struct LineHead {
  CellId id = 0;
  std::string_view version;
  bool has_failed = false;
};
/// Of a line without its end. Nothing: it is damaged.
[[nodiscard]] std::optional<LineHead> head_of(std::string_view line);
/// The whole. REQUIRES: head_of() is something.
[[nodiscard]] CellLine parse_line(std::string_view line);

/// Appends lines to a file, which it makes with the first one.
class CellFile {
 public:
  explicit CellFile(std::filesystem::path file) : path_(std::move(file)) {}
  CellFile(const CellFile&) = delete;
  CellFile& operator=(const CellFile&) = delete;
  ~CellFile();
  /// With one write. Throws TryAgain if it cannot be written; then the file has the lines from before, and no part of this one.
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  off_t end_ = 0;
};

/// Reads the lines of all the files of a folder, NAME.jsonl, as they grow.
class CellFiles {
 public:
  explicit CellFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Calls `visit` with each whole line that has come since the last call, without its end; files by name. Lines that are damaged
  /// are left out and counted. Throws InputError.
  void read_new(const std::function<void(const LineHead& head, std::string_view line)>& visit);
  [[nodiscard]] std::size_t damaged() const { return damaged_; }

 private:
  void read_new_of(const std::filesystem::path& file,
                   const std::function<void(const LineHead& head, std::string_view line)>& visit);

  std::filesystem::path folder_;
  std::map<std::string, off_t> read_;  // of each file, by name
  std::size_t damaged_ = 0;
};

}  // namespace replay::sweep
