// The jobs of users as the engine's source of jobs, and the answers to their requests. The rules: a submission is
// answered when the journal has it, and a job enters the run only then; a job's start is in the journal before its
// processes exist, and its end before the clients that wait for it are told. A submission or cancellation is dropped if
// its client has hung up before it is in the journal. All submissions of one turn of the loop are one
// transaction of the journal. It keeps no state of a job that the board or the journal has.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/live/engine.hpp"
#include "scheduler/live/job_source.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/service/board.hpp"
#include "scheduler/service/door.hpp"
#include "scheduler/service/journal.hpp"
#include "scheduler/service/service_folder.hpp"

namespace replay::service {

struct IntakeOptions {
  CoreCount cores = 1;                             ///< of the machine: the most processes of a job
  Duration default_limit = std::chrono::hours{1};  ///< for jobs without a time limit
  ServiceStatus status;                            ///< what `service` answers, but for the counts
  DoorLimits door{};
  /// The period goes on: what its jobs have been through is played back before go_on(), and the journal has most of it.
  bool is_played_back = false;
  /// Brings the event log on disk: called before ends go into the journal. Empty: there is none.
  std::function<void()> save_log{};
};

class Intake final : public live::JobSource {
 public:
  /// Takes the jobs that wait in the journal, in their order; those with more processes than the machine has cores stay
  /// there. `socket` listens, `begin` is the instant of the run's begin. All references must outlive this; `board` gets
  /// the records of the run.
  Intake(Journal& journal, Board& board, const ServiceFolder& folder, int socket, Instant begin, IntakeOptions options);

  /// Jobs that it has taken from the journal, or got, and the engine has not.
  [[nodiscard]] std::size_t waiting() const { return ready_.size(); }
  /// Jobs that stay in the journal because the machine is too small for them.
  [[nodiscard]] std::size_t held_back() const { return held_back_; }
  /// All has been played back: brings journal and run together. Jobs that are in the journal, and not in the run, come next.
  void go_on();
  /// What starts a job, whose start is in the journal then. For RunOptions::order.
  [[nodiscard]] live::LaunchOrder order(const TracedJob& traced);
  /// The same for a job that the last period has started, and this one goes on with.
  [[nodiscard]] live::LaunchOrder order_again(const TracedJob& traced);
  /// These run. Those whose ends their users have asked for are to end.
  void adopt(const std::vector<JobId>& jobs);
  /// Why the journal does not have all ends; empty: it has.
  [[nodiscard]] const std::string& fault() const { return fault_; }

  void attach(event_base* loop) override;
  void detach() override;
  [[nodiscard]] Instant begin() const override { return begin_; }
  [[nodiscard]] Duration zero_time_of_day() const override;
  [[nodiscard]] bool done() const override { return is_closed_; }
  [[nodiscard]] bool is_open() const override { return !is_closed_; }
  [[nodiscard]] Instant next() const override { return ready_.empty() && submissions_.empty() ? kNever : begin_; }
  const TracedJob* take(Instant now) override;
  const TracedJob* take_again(JobId job, Instant now) override;
  [[nodiscard]] Instant next_cancel() const override {
    return cancels_.empty() && cancellations_.empty() ? kNever : begin_;
  }
  std::optional<JobId> take_cancel(Instant now) override;
  bool take_cancel_again(JobId job, Instant now) override;
  [[nodiscard]] const TracedJob& job(JobId job) override { return jobs_.at(job); }
  void on_end(JobId job, Instant now) override;
  void forget_ended() override;
  void tick() override;
  void close() override;
  void on_lost() override { board_.note_loss(); }
  bool on_lost_with_node(JobId job) override;
  std::string why_not_startable(JobId job) override;
  bool on_not_started(JobId job, const std::string& reason) override;
  void on_site_works() override { site_fault_.clear(); }

 private:
  struct Submission {
    Door::Client client;
    NewJob job;
  };
  struct Cancellation {
    Door::Client client;
    JobId job;
  };
  struct Requests;

  void handle(Door::Client client, uid_t user, gid_t group, Request request);
  void answer(Door::Client client, const Answer& answer);
  void refuse(Door::Client client, std::string error) { answer(client, Refused{std::move(error)}); }
  void answer_about(Door::Client client, JobId job);
  [[nodiscard]] live::LaunchOrder launch_of(const TracedJob& traced);
  const TracedJob* enter(const WaitingJob& next);
  void put_into_journal();
  void cancel_in_journal();
  void write_ends();
  void answer_waiters(JobId job);
  [[nodiscard]] JobStatus status_of(const StoredJob& stored);
  [[nodiscard]] const std::string& name_of(uid_t user);

  Journal& journal_;
  Board& board_;
  const ServiceFolder& folder_;
  int socket_;
  Instant begin_;
  Instant now_;  // of the engine's last turn
  IntakeOptions options_;
  std::size_t held_back_ = 0;
  bool is_closed_ = false;
  bool is_played_back_ = false;
  std::string fault_;
  std::string site_fault_;                // why no job can be started; empty: they can
  std::optional<JobId> failed_order_;     // the last one of order()
  std::map<JobId, std::string> put_off_;  // why single jobs cannot be started

  std::vector<Submission> submissions_;      // not in the journal yet
  std::vector<Cancellation> cancellations_;  // the same
  std::deque<WaitingJob> ready_;             // in the journal, not taken; by id
  std::deque<JobId> cancels_;                // the same
  JobMap<TracedJob> jobs_;                   // taken and not forgotten
  std::vector<JobId> ended_;                 // of jobs_
  std::vector<EndOfJob> ends_;               // not in the journal yet
  std::vector<JobId> requeued_;              // the same
  std::set<JobId> played_cancels_;           // until go_on()
  std::set<JobId> to_requeue_;               // of jobs_: those that are queued again if the service ends
  std::map<JobId, std::vector<Door::Client>> waiters_;
  std::map<uid_t, std::string> names_;
  std::unique_ptr<Door> door_;  // null: not attached
};

}  // namespace replay::service
