// What the event log says of the jobs that wait and run: it keeps their state, and collects the ends that the
// journal has to get. It decides which ends are a job's own: a job that the service itself has ended, or sent away from
// the queue, as it stops, has not ended for its user.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/service/journal.hpp"
#include "scheduler/service/messages.hpp"

namespace replay::service {

class Board final : public history::Observer {
 public:
  struct Entry {
    JobState state = JobState::kWaiting;
    CoreCount cores = 0;
    std::optional<Instant> launched{};
    bool is_stopped = false;  ///< the service has it ended, and not its user
  };
  void on_begin(const log::Header& header, const Machine& machine) override;
  void on_submit(Instant at, const history::JobState& job) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;

  /// Nothing: it is not in the run.
  [[nodiscard]] const Entry* find(JobId job) const;
  [[nodiscard]] std::size_t waiting() const { return jobs_.size() - running(); }
  /// Suspended ones too.
  [[nodiscard]] std::size_t running() const { return launched_ - unstarted_.size(); }

  /// Those that there are, or will be as far as is known: jobs that need more are held back (docs/formats/nodes-csv.md).
  /// Nothing: the run has not begun.
  [[nodiscard]] std::optional<CoreCount> cores_left() const {
    return nodes_ ? std::optional{nodes_->capacity(kEndOfPlans)} : std::nullopt;
  }

  /// Its user has asked for its end: whichever way it ends is its own.
  void note_cancel(JobId job) { cancelled_.insert(job); }
  /// The service cannot start it: it waits, though it is launched. An end is not its own, and it has not begun.
  void note_unstarted(JobId job) { unstarted_.insert(job); }
  /// It is launched again.
  void note_start(JobId job) { unstarted_.erase(job); }
  [[nodiscard]] bool is_unstarted(JobId job) const { return unstarted_.contains(job); }
  /// The executor is lost: the ends that follow are not the jobs' own.
  void note_loss() { is_lost_ = true; }
  /// The jobs that have left since the last call, in order.
  [[nodiscard]] std::vector<LeftJob> take_left();

 private:
  struct Reader;
  std::optional<Machine> machine_;
  std::optional<FreeCores> nodes_;  // without jobs
  std::map<JobId, Entry> jobs_;
  std::size_t launched_ = 0;
  std::set<JobId> cancelled_;
  std::set<JobId> unstarted_;  // of the launched ones
  std::vector<LeftJob> left_;
  bool is_lost_ = false;
};

}  // namespace replay::service
