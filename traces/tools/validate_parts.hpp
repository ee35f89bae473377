// The two halves of validate_trace(): checks of the header, and of the records one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/number_set.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"
#include "traces/tools/validate.hpp"

namespace replay {

/// Violations by rule and text, in the order in which they are first met.
class Violations {
 public:
  /// `line` 0: no line is at fault.
  void note(std::string_view rule, Severity severity, std::string_view text, std::size_t line = 0,
            std::uint64_t count = 1);
  /// Errors first.
  [[nodiscard]] std::vector<Violation> sorted() &&;

 private:
  std::vector<Violation> list_;
};

/// The checks of a header that need no record.
void check_header(const SwfHeader& header, Violations& violations);

/// The check of the header's totals against the records.
void check_totals(const SwfHeader& header, std::uint64_t records, std::uint64_t jobs, Violations& violations);

class RecordChecker {
 public:
  RecordChecker(const SwfHeader& header, Violations& violations)
      : violations_(violations), machine_(header.machine_size()) {}

  void add(const SwfRecord& record, std::size_t line);
  void finish();
  [[nodiscard]] std::uint64_t jobs() const { return jobs_; }

 private:
  struct Executions {  // the bursts of the job above, as its summary line announces them
    std::int64_t job = -1;
    std::int32_t status = -1;
    Duration run{}, sum{};
    std::int32_t last_status = -1;
    std::uint64_t bursts = 0;
    std::size_t line = 0;
  };

  void error(std::string_view rule, std::string_view text);
  void warn(std::string_view rule, std::string_view text);
  void check_values(const SwfRecord& record);
  void check_order(const SwfRecord& record);
  void check_sizes(const SwfRecord& record);
  void check_times(const SwfRecord& record);
  void check_predecessor(const SwfRecord& record);
  void add_burst(const SwfRecord& record);
  void close_executions();

  Violations& violations_;
  std::optional<CoreCount> machine_;
  NumberSet numbers_;
  Duration latest_submit_{};
  std::int64_t last_number_ = 0;
  std::uint64_t jobs_ = 0;
  Executions executions_;
  std::size_t line_ = 0;
};

}  // namespace replay
