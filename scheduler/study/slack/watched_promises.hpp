// Checks the guarantee of slack-based backfilling: no job starts later than the start first planned for it plus its
// first slack (Talby and Feitelson 1999, section 4.2). It wraps the policy, and so sees the plan after each pass.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "scheduler/policy/view/hosting.hpp"

namespace replay::study {

class WatchedPromises final : public Policy {
 public:
  /// `slack` must outlive it; the factor and the average wait (s) are those that it was made with.
  WatchedPromises(Policy& slack, double slack_factor, double average_wait_s)
      : Policy(slack.traits()), slack_(slack), slack_factor_(slack_factor), average_wait_s_(average_wait_s) {}

  void decide(const ClusterView& view, Decisions& out) override;
  [[nodiscard]] Duration more_time(const ClusterView& view, const RunningJob& job) override {
    return slack_.more_time(view, job);
  }

  /// Jobs with a promise that could be read: of several submitted at one instant only the last one, as those before it
  /// may have been moved before the plan is read.
  [[nodiscard]] std::size_t watched() const { return watched_; }
  /// Those that started later than promised.
  [[nodiscard]] std::size_t broken() const { return broken_; }

 private:
  void note_promise(const Job& job, Instant now);

  Policy& slack_;
  double slack_factor_, average_wait_s_;
  std::unordered_map<JobId, double> latest_;  // latest start, s, of waiting jobs
  std::size_t watched_ = 0, broken_ = 0;
};

}  // namespace replay::study
