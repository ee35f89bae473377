// How many nodes and cores are in use over time, over the whole run and in phases of high load. Source: G-LOMARC-TS,
// section 4.1, formulas 1 to 3. A node is used while a job is on one of its cores; suspended jobs use nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::study {

/// Sums over some time.
struct NodeUse {
  Duration time{};
  std::int64_t nodes = 0, cores = 0;  ///< used ones, times microseconds
};

class NodeUseRecord final : public log::Sink {
 public:
  /// High load: while at least so many jobs wait that have never started (N_H).
  explicit NodeUseRecord(int high_load) : high_load_(high_load) {}

  /// Throws InputError for a machine whose nodes have no names.
  void header(const log::Header& header) override;
  void record(const log::Record& record) override;
  [[nodiscard]] log::Kinds kinds() const override;

  /// From the first submission to the last change: the makespan.
  [[nodiscard]] const NodeUse& whole() const { return whole_; }
  /// Over all phases of high load.
  [[nodiscard]] const NodeUse& high_load() const { return high_; }
  [[nodiscard]] std::int64_t phases() const { return phases_; }
  /// Formulas 2 and 3, 0 to 1; NaN over no time.
  [[nodiscard]] double node_use(const NodeUse& use) const;
  [[nodiscard]] double core_use(const NodeUse& use) const;

 private:
  struct OnMachine {
    std::vector<std::size_t> nodes;
    CoreCount cores = 0;
    bool runs = true;  // else it is suspended
  };
  struct OnRecord;

  void move_to(Instant at);
  void set_running(OnMachine& job, bool runs);

  int high_load_;
  std::optional<Machine> machine_;
  std::unordered_map<JobId, OnMachine> jobs_;  // that were launched and have not ended
  std::vector<std::int32_t> jobs_on_node_;
  std::int64_t used_nodes_ = 0, used_cores_ = 0;  // now
  int waiting_ = 0;
  std::optional<Instant> now_;
  bool was_high_ = false;
  std::int64_t phases_ = 0;
  NodeUse whole_, high_;
};

}  // namespace replay::study
