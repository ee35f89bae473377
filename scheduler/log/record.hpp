// The event log: everything that happened in a run, in order, as typed records. Both bodies write it through the one
// controller; metrics, report, audit and validate read nothing else, so that a real run and a simulated one compare
// line by line. Times are trace time. docs/formats/events.md describes the text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/model/action.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::log {

/// What the run was, as ordered name-value pairs. Names that readers rely on: `body` (sim or live), `machine`
/// (Machine::to_text), `policy`, `trace`, `runtime-model`, `seed`, `time-scale`.
struct Header {
  std::vector<std::pair<std::string, std::string>> entries;

  void set(std::string name, std::string value);
  /// Empty if absent.
  [[nodiscard]] const std::string& value(std::string_view name) const;
};

/// A job came into the queue. The truth is here for the readers of the log; no policy reads a log.
struct Submitted {
  Job job;
  JobTruth truth;
};
/// The policy decided to start it. Its cores may still be held by others.
struct StartDecided {
  JobId job;
  Allocation allocation;
};
/// Its cores were given to it; run time counts from here.
struct Launched {
  JobId job;
  Allocation allocation;
};
/// Live: all its ranks were seen on their cores. `malleable` false: it cannot share cores, for `reason`.
struct RanksSeen {
  JobId job;
  bool malleable;
  std::string reason;
};
/// The policy decided to change its cores.
struct ResizeDecided {
  JobId job;
  Allocation allocation;
};
/// Its processes are on these cores now, and off those they left.
struct ResizeDone {
  JobId job;
  Allocation allocation;
};
struct SuspendDecided {
  JobId job;
};
struct SuspendDone {
  JobId job;
};
struct ResumeDecided {
  JobId job;
};
struct ResumeDone {
  JobId job;
};
struct KillDecided {
  JobId job;
  KillReason reason;
};
/// The estimate grew to `estimate` in all.
struct Extended {
  JobId job;
  Duration estimate;
};
/// It ended, its processes are gone, its cores are free. Exactly one for each Submitted.
struct Finished {
  JobId job;
  JobEnd end;
};
/// The body could not do what was decided.
struct Failed {
  JobId job;
  std::string action;
  std::string reason;
};
/// Something worth knowing that changes no state.
struct Note {
  std::string text;
};

using What = std::variant<Submitted, StartDecided, Launched, RanksSeen, ResizeDecided, ResizeDone, SuspendDecided,
                          SuspendDone, ResumeDecided, ResumeDone, KillDecided, Extended, Finished, Failed, Note>;

/// std::visit() for visitors that return nothing, but as one switch: a table of functions, which the standard library makes of so
/// many alternatives, is slower by what a record costs.
template <class Visitor>
void visit(const Visitor& visitor, const What& what) {
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    static_cast<void>(((what.index() == Index && (visitor(*std::get_if<Index>(&what)), true)) || ...));
  }
  (std::make_index_sequence<std::variant_size_v<What>>{});
}

struct Record {
  Instant at;
  What what;
};

/// Where records go: a file, the metrics, a live view, or several of them. Records come in time order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void header(const Header& header) = 0;
  virtual void record(const Record& record) = 0;
};

/// Hands everything on to each of `sinks`, in order. The sinks must outlive it.
class Tee final : public Sink {
 public:
  explicit Tee(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {}
  void header(const Header& header) override;
  void record(const Record& record) override;

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace replay::log
