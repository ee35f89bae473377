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
#include "traces/convert/sacct_rows.hpp"
#include "traces/convert/sacct_values.hpp"
#include "traces/local_time.hpp"

namespace replay::sacct {

/// What rows of one job say. Nothing: the dump does not say, or says that there is no such value.
struct Job {
  std::string id;                          ///< Slurm's, "1234" or "1234_7"; the leader's of a heterogeneous job
  std::int64_t submit = 0;                 ///< s since 1970
  std::optional<std::int64_t> eligible;    ///< s since 1970; where it is later than the submission
  std::optional<std::int64_t> start, end;  ///< s since 1970
  std::optional<Duration> elapsed;         ///< of a job that has ended, or of its run at one size
  std::optional<std::int64_t> allocated;   ///< processors; > 0
  std::optional<std::int64_t> requested;   ///< processors; > 0
  bool has_allocation_column = true;       ///< false: the dump does not say what was allocated
  std::optional<Duration> total_cpu;       ///< of all processors; > 0, as 0 means that it was not measured
  std::optional<Duration> time_limit;
  std::optional<double> requested_memory;  ///< KB per processor
  std::optional<double> used_memory;       ///< KB, of the task that used most
  std::optional<Fate> fate;
  std::string user, group, name, qos, partition, cluster;
};

/// Counts of what was read.
struct Tally {
  std::uint64_t jobs = 0;
  std::uint64_t steps = 0;                   ///< folded into their jobs
  std::uint64_t lone_steps = 0;              ///< without their job in front of them: left out
  std::uint64_t components = 0;              ///< of heterogeneous jobs, folded into the first one
  std::uint64_t without_submit = 0;          ///< left out
  std::uint64_t of_other_clusters = 0;       ///< jobs; left out
  std::uint64_t continued = 0;               ///< lines that go on with the text at the end of a row; left out
  std::uint64_t unknown_states = 0;          ///< jobs whose state sacct(1) did not have when this was written
  std::string unknown_state;                 ///< the first such state
  std::uint64_t broken = 0;                  ///< rows; left out
  std::vector<std::string> broken_messages;  ///< of the first five

  Tally& operator+=(const Tally& other);
};

struct ReaderOptions {
  std::string time_zone = "UTC";
  bool strict = false;    ///< throw at the first broken row
  std::string cluster{};  ///< only its jobs; empty: all
};

class Reader {
 public:
  /// Reads the header row. Throws InputError if there is none, or a column that is needed is missing; UsageError for an
  /// unknown zone.
  explicit Reader(std::unique_ptr<ByteSource> source, const ReaderOptions& options = {});

  /// The next job in the order of the dump; false at the end. Throws InputError for a broken row if the reader is
  /// strict, and at the end of a dump without any job.
  [[nodiscard]] bool next(Job& job);

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] const LocalClock& clock() const { return clock_; }

  [[nodiscard]] const std::string& name() const { return rows_.name(); }

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
  void settle_repeated_hour(Job& job, std::optional<Duration> elapsed) const;
  void read_sizes(Row& row);
  void read_memory_cells(Row& row);
  void read_names(Row& row);
  template <class Value>
  [[nodiscard]] std::optional<Value> checked(Column column, std::string_view expected, Cell<Value> cell) const;
  [[nodiscard]] std::optional<std::int64_t> processors(Column first, Column second, Column resources) const;
  void note_broken(const std::string& message);

  LocalClock clock_;
  Rows rows_;
  bool strict_;
  std::string cluster_;
  std::set<std::string> clusters_;        // that were seen
  std::optional<Row> waiting_row_;        // the one that ended the job before, its steps not folded yet
  std::optional<Row> waiting_component_;  // the job that ended the heterogeneous job before
  Tally tally_;
};

}  // namespace replay::sacct
