// The decisions of a run's policy, in order, and the rows of its jobs: the part of an event log by which two runs are
// compared (first_difference.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

enum class DecisionKind : std::uint8_t { kStart, kResize, kSuspend, kResume, kKill, kExtend };

struct Decision {
  Instant at{};
  JobId job{};
  DecisionKind kind{};
  KillReason reason{};       ///< of a kill
  bool shareable = false;    ///< of a start or a resize, as what follows
  CoreCount cores = 0;       ///< how many
  std::int32_t mpl = 0;      ///< most processes on one of them
  std::uint64_t places = 0;  ///< a hash of which they are, with their processes; 0 on a pool
  Duration estimate{};       ///< of an extension: in all
  std::uint64_t record = 0;  ///< its record's number in the log, from 0
};

enum class DecisionDetails : std::uint8_t { kBrief, kAll };

/// "starts job 3 on 4 cores (2 processes each)". With all details also whether the cores are shared, why a job is
/// killed, and its new estimate.
[[nodiscard]] std::string text_of(const Decision& decision, DecisionDetails details);
/// "start", "resize", "suspend", "resume", "kill", "extend".
[[nodiscard]] std::string_view word(DecisionKind kind);

/// How far two instants lie from each other; Duration::max() if only one of them is kNever.
[[nodiscard]] Duration apart(Instant a, Instant b);

class DecisionList final : public history::Observer {
 public:
  /// What is to follow the log.
  [[nodiscard]] history::Observers observers() { return {&jobs_, this}; }
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }

  [[nodiscard]] const log::Header& header() const { return jobs_.header(); }
  [[nodiscard]] std::span<const Decision> decisions() const { return decisions_; }
  [[nodiscard]] const metrics::JobTable& jobs() const { return jobs_; }

 private:
  struct OnRecord;
  metrics::JobTable jobs_;
  std::vector<Decision> decisions_;
  std::uint64_t records_ = 0;
};

}  // namespace replay::compare
