// What several jobs of a run waited for, in one pass over its event log: for each what WaitingReasons says of one.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "scheduler/compare/waiting_reasons.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

class SeveralWaits final : public history::Observer {
 public:
  SeveralWaits(std::span<const JobId> jobs, WaitingReasonsOptions options);
  SeveralWaits(const SeveralWaits&) = delete;
  SeveralWaits& operator=(const SeveralWaits&) = delete;

  void on_begin(const log::Header& header, const Machine& machine) override { state_.on_begin(header, machine); }
  /// Throws what RunState throws. O(those of the jobs that wait).
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  /// In the order of `jobs`, at the end of the log.
  [[nodiscard]] std::vector<WaitReport> finish();

 private:
  struct Hand;
  [[nodiscard]] JobWait* find(JobId job);

  WaitingReasonsOptions options_;
  RunState state_;
  std::vector<JobWait> waits_;  // in the order of the jobs
  std::unordered_map<JobId, std::size_t> places_;
  std::vector<JobWait*> live_, waiting_;  // submitted and not ended; and not launched
  log::Record slice_{};                   // the last one
  bool has_slice_ = false;
  Instant now_ = Instant::min();
};

}  // namespace replay::compare
