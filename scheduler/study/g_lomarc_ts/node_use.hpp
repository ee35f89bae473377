// How many nodes are in use over time, over the whole run and in phases of high load. Source: G-LOMARC-TS, section 4.1,
// formulas 1 and 2. A node is used while a job is on one of its cores; suspended jobs use nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::study {

/// Sums over some time.
struct NodeUse {
  Duration time{};
  std::int64_t nodes = 0;  ///< used ones, times microseconds
};

class NodeUseRecord final : public history::Observer {
 public:
  /// High load: while at least so many jobs wait that have never started (N_H).
  explicit NodeUseRecord(int high_load) : high_load_(high_load) {}

  /// Throws InputError for a machine whose nodes have no names.
  void on_begin(const log::Header& header, const Machine& machine) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;
  void on_load(Instant at, const history::Load& load) override;

  /// From the first submission to the last change: the makespan.
  [[nodiscard]] const NodeUse& whole() const { return whole_; }
  /// Over all phases of high load.
  [[nodiscard]] const NodeUse& high_load() const { return high_; }
  [[nodiscard]] std::int64_t phases() const { return phases_; }
  /// Formula 2, 0 to 1; NaN over no time.
  [[nodiscard]] double node_use(const NodeUse& use) const;

 private:
  void use(const Allocation& held, int by);

  int high_load_;
  std::optional<Machine> machine_;
  std::vector<std::int32_t> jobs_on_node_;
  struct State {
    Instant from{};
    std::int64_t nodes = 0;  // in use
    int waiting = 0;
  };
  std::int64_t used_nodes_ = 0;  // now
  std::optional<State> state_;   // after the last change
  bool was_high_ = false;
  std::int64_t phases_ = 0;
  NodeUse whole_, high_;
};

}  // namespace replay::study
