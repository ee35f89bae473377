// The header of an SWF file: the comment lines in front of the records, "; Label: value". Labels may repeat, a value
// may go on in lines that are indented further, and free text may stand between. All lines are kept as they were, so
// that what is written back is what was read; acknowledgements and copyright notes travel with the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Comment and blank lines in front of the records, or between two of them. They are kept in memory, and compress so
/// well that a megabyte may hold hundreds of millions of them; the header of CEA-Curie, one of the longest of the
/// archive, has 74.
inline constexpr std::size_t kMostCommentLines = 100'000;
inline constexpr std::size_t kMostCommentBytes = std::size_t{16} << 20;

/// Counts comment lines in a row.
class CommentCount {
 public:
  /// Throws InputError naming the place once there are too many.
  void add(std::string_view text, std::string_view file, std::size_t line);

 private:
  std::size_t lines_ = 0, bytes_ = 0;
};

struct SwfLabel {
  std::string label;
  std::string value;     ///< without blanks around; continuation lines follow after '\n'
  std::size_t line = 0;  ///< of the file, from 1; 0 if it was never in one
};

/// Whether the archive's format page lists it, or it is our own Program.
[[nodiscard]] bool is_known_label(std::string_view label);

class SwfHeader {
 public:
  SwfHeader() = default;
  /// `source` is the file that messages about the header name.
  explicit SwfHeader(std::string source) : source_(std::move(source)) {}

  /// Adds a comment line as it stands in the file, ';' included, line end not; an empty one is a blank line. Throws
  /// InputError beyond kMostCommentLines and kMostCommentBytes.
  void add_line(std::string text, std::size_t line = 0);
  /// Adds "; label: value"; each further line of `value` becomes a continuation line.
  void add(std::string_view label, std::string_view value);
  /// Replaces the first entry of that label where it stands, or adds one.
  void set(std::string_view label, std::string_view value);

  /// Removes every entry of that label, its continuation lines included.
  void remove(std::string_view label);

  /// Every line in order, as the file has them.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// Every label in order.
  [[nodiscard]] const std::vector<SwfLabel>& labels() const { return labels_; }
  [[nodiscard]] const std::string& source() const { return source_; }

  /// The first entry of a label; labels are compared without regard to case. Nothing if there is none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view label) const;
  [[nodiscard]] std::vector<std::string_view> find_all(std::string_view label) const;
  /// The whole number at the start of the label's value. Nothing if there is none, or it is not a number.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view label) const;

  /// Counts are given only when > 0 and within the range of a CoreCount.
  [[nodiscard]] std::optional<std::int32_t> max_procs() const { return count("MaxProcs"); }
  [[nodiscard]] std::optional<std::int32_t> max_nodes() const { return count("MaxNodes"); }
  [[nodiscard]] std::optional<std::int64_t> max_jobs() const { return number("MaxJobs"); }
  [[nodiscard]] std::optional<std::int64_t> max_records() const { return number("MaxRecords"); }
  [[nodiscard]] std::optional<std::int64_t> unix_start_time() const { return number("UnixStartTime"); }
  [[nodiscard]] std::string_view computer() const { return find("Computer").value_or(""); }
  [[nodiscard]] std::string_view installation() const { return find("Installation").value_or(""); }
  [[nodiscard]] std::string_view time_zone() const { return find("TimeZoneString").value_or(""); }

  /// Whether `replay trace convert` made the log of the accounting of a batch system: "Conversion: from pbs".
  [[nodiscard]] bool is_from_accounting() const;

  /// MaxProcs, else MaxNodes, else nothing.
  [[nodiscard]] std::optional<std::int32_t> machine_size() const;

  /// Our own label "Program: N COMMAND": the command of a real run for field 14 = N. Throws InputError with the line of
  /// an entry that has no number, no command, or a number seen before.
  [[nodiscard]] std::map<std::int32_t, std::string> programs() const;

 private:
  [[nodiscard]] std::optional<std::int32_t> count(std::string_view label) const;

  std::string source_ = "header";
  CommentCount count_;
  std::vector<std::string> lines_;
  std::vector<SwfLabel> labels_;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // of labels_[i]: its first line in lines_, and how many
  bool open_ = false;                                       // the last line belongs to a label and may be continued
};

}  // namespace replay
