// What a Paraver trace states in front of its first record: its end, applications, tasks and threads; and when each state
// ends that begins. Made by a first reading of the log.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/metrics/stretches.hpp"
#include "scheduler/results/export/core_seats.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/paraver.hpp"

namespace replay::results {

/// A job as an application.
struct ParaverApplication {
  JobId job{};
  std::vector<Instant> waits_until{};     ///< when each of its waits ended: with a launch, or its end without one
  std::map<NodeId, CoreCount> threads{};  ///< on each node that it ever was on: the most cores it had there at once
};

class ParaverSurvey final : public history::Observer, private metrics::StretchReader {
 public:
  explicit ParaverSurvey(const ParaverLimits& limits) : limits_(limits) {}

  [[nodiscard]] history::Follower& follower() { return follower_; }
  void on_begin(const log::Header& /*header*/, const Machine& machine) override { expect_rows_for(machine); }
  void on_submit(Instant at, const history::JobState& job) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& /*end*/) override { stop_waiting(at, job.id); }
  /// No record comes any more.
  void finish(const RunLog::Read& read);

  [[nodiscard]] const log::Header& header() const { return follower_.of_run(); }
  [[nodiscard]] const Machine& machine() const { return follower_.machine(); }
  /// The first record's time is zero in the trace.
  [[nodiscard]] Instant first() const { return read_.first; }
  [[nodiscard]] Instant last() const { return read_.last; }
  [[nodiscard]] std::size_t jobs() const { return jobs_; }
  /// Whether each job is an application.
  [[nodiscard]] bool has_applications() const {
    return jobs_ > 0 && jobs_ == applications_.size() && threads_ <= limits_.threads;
  }
  /// In the order of submission; all of them, if has_applications().
  [[nodiscard]] const std::vector<ParaverApplication>& applications() const { return applications_; }
  /// The number of a job's application, from 0; none unless has_applications().
  [[nodiscard]] std::optional<std::size_t> application_of(JobId job) const;
  /// When the stretch ended that was the `index`th to begin. REQUIRES: so many began.
  [[nodiscard]] Instant end_of(std::size_t index) const { return ends_[index]; }
  /// The most jobs on a core at once.
  [[nodiscard]] std::size_t seats() const { return seats_.most(); }

 private:
  void stop_waiting(Instant at, JobId job);
  void begins(const metrics::Stretch& stretch) override;
  void taken_back(const metrics::Stretch& stretch) override { end(stretch); }
  void stretch(const metrics::Stretch& stretch) override { end(stretch); }
  void end(const metrics::Stretch& stretch);
  [[nodiscard]] ParaverApplication* application(JobId job);
  void stop_keeping();

  ParaverLimits limits_;
  RunLog::Read read_;
  metrics::Stretches stretches_{*this};
  history::Follower follower_{{this, &stretches_}};
  std::vector<Instant> ends_;                    // in the order of the begins
  std::unordered_map<JobId, std::size_t> open_;  // index of the stretch
  std::size_t jobs_ = 0;
  std::size_t threads_ = 0;
  std::vector<ParaverApplication> applications_;  // none once there are too many
  std::unordered_map<JobId, std::size_t> by_job_;
  CoreSeats seats_;
};

}  // namespace replay::results
