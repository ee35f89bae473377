// The stretches of a run: what each job had on the machine from one change to the next. A Gantt chart, the page of a run and
// the exports for viewers are made of them. Cores are those of core_names.hpp: numbered afterwards on a pool.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// One job on the same cores, with as many processes on each, from `from` to `to`.
struct Stretch {
  enum class Kind : std::uint8_t {
    kRuns,      ///< its processes are on these cores
    kSuspended  ///< it is suspended; the cores are those it had, and others may use them
  };

  JobId job{};
  Instant from{}, to{};  ///< from < to, but for one that is still open: from <= to
  Kind kind = Kind::kRuns;
  std::span<const CoreRange> cores{};  ///< ascending, disjoint, not touching; valid during the call
  ProcessCount processes = 0;          ///< of the job
  std::int32_t mpl = 1;                ///< most processes of the job on one core
  bool shareable = false;              ///< processes of one more job may be on its cores

  const history::JobState* state = nullptr;  ///< the job's, after what ended the stretch

  [[nodiscard]] CoreCount core_count() const { return size_of(cores); }
  /// It has fewer cores than processes.
  [[nodiscard]] bool is_shrunk() const { return core_count() < cores_at(processes, 1); }
};

class StretchReader {
 public:
  /// It is over.
  virtual void stretch(const Stretch& stretch) = 0;
  /// It begins now; `to` is `from`. One stretch() or taken_back() of the same job follows, before the next begins().
  virtual void begins(const Stretch& /*stretch*/) {}
  /// What begins() was called with was over at the same instant.
  virtual void taken_back(const Stretch& /*stretch*/) {}

 protected:
  ~StretchReader() = default;
};

/// Calls the reader with each stretch when it is over, in the order of their ends; of those that end at one instant in the
/// order of the records. A change that is reverted at the same instant leaves no stretch. Memory grows with the jobs that
/// hold cores, not with the run.
class Stretches final : public history::Observer {
 public:
  /// `reader` must outlive the use of this.
  explicit Stretches(StretchReader& reader) : reader_(&reader) {}

  void on_begin(const log::Header& header, const Machine& machine) override { names_.on_begin(header, machine); }
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;

  /// Calls `reader` with those that are still open, as if they ended now, in the order of job numbers; changes nothing. For a
  /// run that goes on, or a log that was cut off. REQUIRES: no record came from later than `now`.
  void open(Instant now, StretchReader& reader) const;

 private:
  struct Open {
    Instant from{};
    CoreRanges cores;
    const history::JobState* job = nullptr;
  };

  void begin(Instant at, const history::JobState& job, bool keeps_cores);
  void close(Instant at, const history::JobState& job, const history::Before& before);
  [[nodiscard]] static Stretch up_to(Instant at, const Open& open, const history::Before& was);

  StretchReader* reader_;
  CoreNames names_;
  std::unordered_map<JobId, Open> open_;
};

}  // namespace replay::metrics
