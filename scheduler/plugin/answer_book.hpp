// The answers of one pass of a user-written policy, checked one by one against the view they were given for. An answer
// that the controller would refuse is refused here, in the terms of the policy's author.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "scheduler/policy/view/decision.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::plugin {

/// An answer that cannot be carried out: says which, what was expected and what was found.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a job is to start; what is not given follows from the rest: the submitted processes, one on each core.
struct StartSize {
  std::optional<ProcessCount> processes{};
  std::optional<CoreCount> cores{};
  std::optional<int> mpl{};
};

class AnswerBook {
 public:
  /// `out` gets what was accepted. Both must outlive the book.
  AnswerBook(const ClusterView& view, Decisions& out) : view_(view), out_(out), found_(view.waiting.begin()) {}

  // Each throws Refused. O(waiting + running) to find the job, O(1) for a waiting one if jobs are asked for in the order of
  // the queue; the first that changes cores copies the free ones, O(cores) on a machine that names them.
  void start(std::int64_t job, const StartSize& size);
  void resize(std::int64_t job, int mpl);
  void suspend(std::int64_t job);
  void resume(std::int64_t job);
  void kill(std::int64_t job);
  void wake_at(Instant instant);
  void note(std::string_view text);

  /// Free cores after the answers so far.
  [[nodiscard]] CoreCount free() const { return free_ ? free_->total() : view_.free.total(); }
  /// The cores it would have; nothing if there is no such waiting (running) job, or no room for it.
  [[nodiscard]] std::optional<CoreCount> cores_if_started(std::int64_t job, const StartSize& size) const;
  [[nodiscard]] std::optional<CoreCount> cores_if_resized(std::int64_t job, int mpl) const;
  /// Of a waiting job, as model/job_sizes.hpp says; nothing if there is no such job or size. Larger sizes
  /// than the machine do not count.
  [[nodiscard]] std::optional<Duration> estimate_at(std::int64_t job, ProcessCount processes) const;
  [[nodiscard]] std::optional<ProcessCount> largest_size(std::int64_t job, ProcessCount most) const;
  [[nodiscard]] std::optional<ProcessCount> fastest_size(std::int64_t job, ProcessCount most) const;

 private:
  const FreeCores& free_cores() const { return free_ ? *free_ : view_.free; }
  FreeCores& own_free_cores();
  const Job* find_waiting(JobId id) const;
  const RunningJob* find_running(JobId id) const;
  const Job& waiting_job(JobId id, const char* action);
  const RunningJob& running_job(JobId id, const char* action);
  void expect_first_answer(JobId id, const char* action);
  std::optional<Allocation> at_level(const RunningJob& job, int mpl) const;

  const ClusterView& view_;
  Decisions& out_;
  std::optional<FreeCores> free_;  // a copy, once something has changed
  std::vector<JobId> answered_;
  mutable WaitingQueue::iterator found_;  // the waiting job that was asked for last, where the next search begins
};

}  // namespace replay::plugin
