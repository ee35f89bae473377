// Where the jobs of a live run come from: a trace, or users. The engine asks for what is due after each turn of its
// loop.
#pragma once

#include <optional>
#include <string>

#include "scheduler/core/arrivals.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/model/workload.hpp"

struct event_base;

namespace replay::live {

/// All calls come from the thread of the engine's loop. Instants are those of the run.
class JobSource {
 public:
  virtual ~JobSource() = default;

  /// Once, before any other call but begin() and zero_time_of_day(). A source that gets jobs from elsewhere puts its
  /// events on the loop; each of them makes the engine ask again.
  virtual void attach(event_base* /*loop*/) {}
  /// No events on the loop from here on.
  virtual void detach() {}

  /// The instant at which the run begins.
  [[nodiscard]] virtual Instant begin() const = 0;
  /// UTC at instant zero; 0 where that is unknown.
  [[nodiscard]] virtual Duration zero_time_of_day() const = 0;
  /// No job will come any more.
  [[nodiscard]] virtual bool done() const = 0;
  /// Whether jobs may come of which next() knows nothing yet.
  [[nodiscard]] virtual bool is_open() const = 0;

  /// When the next job comes; kNever while none is known.
  [[nodiscard]] virtual Instant next() const = 0;
  /// Takes the next job that is due at `now`; nullptr if none is. It stays where it is until forget_ended() after its
  /// end.
  virtual const TracedJob* take(Instant now) = 0;
  /// Of a run that is played back: takes this job, which was taken at `now`; nullptr if that cannot be.
  virtual const TracedJob* take_again(JobId /*job*/, Instant now) { return take(now); }
  /// When the next job that was taken is cancelled; kNever if none is known.
  [[nodiscard]] virtual Instant next_cancel() const = 0;
  /// Takes the next cancellation, due at `now`, of a job that has not ended; nothing if there is none.
  virtual std::optional<JobId> take_cancel(Instant now) = 0;
  /// The same of the cancellation of this job.
  virtual bool take_cancel_again(JobId job, Instant now) { return take_cancel(now) == job; }
  /// REQUIRES: it was taken, and is not forgotten.
  [[nodiscard]] virtual const TracedJob& job(JobId job) = 0;

  /// Why this job cannot be started, while others can, in a clean line, such as a folder of its own that has gone. Empty: nothing is known
  /// against it. Asked before each start. One that cannot gives its cores back, and is asked again and again until it can:
  /// then it waits as before.
  [[nodiscard]] virtual std::string why_not_startable(JobId /*job*/) { return {}; }
  /// The site could not start this job: RunOptions::order has thrown CannotStartJobs, or the executor has reported it.
  /// True: it keeps its cores, and its start is tried again, as long as it takes. False: it has failed, no further job is
  /// started, and the run ends when those that run have ended. In a run that ends already on_end() follows.
  virtual bool on_not_started(JobId /*job*/, const std::string& /*reason*/) { return false; }
  /// The job was lost with a node. True: it waits again, whatever RunOptions::requeues_lost says.
  virtual bool on_lost_with_node(JobId /*job*/) { return false; }
  /// The job has ended. Its end is in the event log before forget_ended() is called.
  virtual void on_end(JobId job, Instant now) = 0;
  /// After the records of a turn, and before its orders are carried out. Jobs that have ended may be forgotten.
  virtual void forget_ended() = 0;
  /// Several times a second, whatever happens: it may try again what has failed.
  virtual void tick() {}
  /// Jobs can be started again.
  virtual void on_site_works() {}
  /// No further job and no cancellation is taken: the run ends early.
  virtual void close() {}
  /// The ends of the running jobs that follow were not reported: the executor is lost.
  virtual void on_lost() {}
};

/// The jobs of a trace. `workload` must outlive it.
class TraceSource final : public JobSource {
 public:
  explicit TraceSource(const Workload& workload)
      : zero_time_of_day_(workload.zero_time_of_day),
        arrivals_(workload),
        begin_(arrivals_.next() == kNever ? Instant{} : arrivals_.next()) {}

  [[nodiscard]] Instant begin() const override { return begin_; }
  [[nodiscard]] Duration zero_time_of_day() const override { return zero_time_of_day_; }
  [[nodiscard]] bool done() const override { return arrivals_.done(); }
  [[nodiscard]] bool is_open() const override { return false; }
  [[nodiscard]] Instant next() const override { return arrivals_.next(); }
  const TracedJob* take(Instant now) override { return arrivals_.take(now); }
  [[nodiscard]] Instant next_cancel() const override { return arrivals_.next_cancel(); }
  std::optional<JobId> take_cancel(Instant now) override { return arrivals_.take_cancel(now); }
  [[nodiscard]] const TracedJob& job(JobId job) override { return arrivals_.job(job); }
  void on_end(JobId job, Instant now) override { arrivals_.on_end(job, now); }
  void forget_ended() override { arrivals_.forget_ended(); }

 private:
  Duration zero_time_of_day_;
  Arrivals arrivals_;
  Instant begin_;
};

}  // namespace replay::live
