// Reads what Slurm's `sacct --parsable2` prints: a header row that names the columns, then one row per job, followed by
// its steps. Steps are folded into their job, components of a heterogeneous job into one. docs/formats/sacct.md has the
// mapping.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/model/units.hpp"
#include "traces/convert/accounting.hpp"
#include "traces/convert/sacct_rows.hpp"
#include "traces/convert/sacct_values.hpp"

namespace replay::sacct {

using accounting::Job;
using accounting::ReaderOptions;

class Reader : public accounting::Reader {
 public:
  /// Reads the header row. Throws InputError if there is none, or a column that is needed is missing; UsageError for an
  /// unknown zone.
  explicit Reader(std::unique_ptr<ByteSource> source, const ReaderOptions& options = {});

  [[nodiscard]] bool next(Job& job) override;
  [[nodiscard]] std::string_view format() const override { return "sacct"; }
  [[nodiscard]] const std::string& name() const override { return rows_.name(); }

 private:
  struct Row {
    Job job;
    std::string id, leader;
    std::vector<std::string> components;  // ids of a heterogeneous job's, as far as they were folded
    bool is_step = false;
    bool has_submit = false;
  };

  [[nodiscard]] std::optional<Row> next_row();
  [[nodiscard]] std::optional<Row> next_component();
  [[nodiscard]] std::optional<Row> next_job();
  [[nodiscard]] static bool is_component(const Row& part, const Row& of);
  [[nodiscard]] bool is_of_cluster(const Job& job);
  [[noreturn]] void fail_without_jobs() const;
  [[nodiscard]] Row read_row();
  void read_times(Row& row);
  void read_state_cell(Job& job);
  [[nodiscard]] std::optional<std::int64_t> eligible_without_cell(const Job& job) const;
  void settle_repeated_hour(Job& job, std::optional<Duration> elapsed) const;
  void read_sizes(Row& row);
  void read_memory_cells(Row& row);
  void read_names(Row& row);
  template <class Value>
  [[nodiscard]] std::optional<Value> checked(Column column, std::string_view expected, Cell<Value> cell) const;
  [[nodiscard]] std::optional<std::int64_t> processors(Column first, Column second, Column resources) const;

  Rows rows_;
  std::string cluster_;
  std::set<std::string> clusters_;        // that were seen
  std::optional<Row> waiting_row_;        // the one that ended the job before, its steps not folded yet
  std::optional<Row> waiting_component_;  // the job that ended the heterogeneous job before
};

}  // namespace replay::sacct
