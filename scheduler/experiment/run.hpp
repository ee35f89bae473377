// The one way in which a run is carried out, simulated or real, for all commands, studies and validations: a body has the
// time and the jobs, a recorder takes the log and makes figures and files of it, viewers show it meanwhile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/results/recorder.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::experiment {

/// What shows a run while it goes on. Functions may be empty.
struct Viewers {
  std::vector<log::Sink*> sinks{};  ///< get every record; they outlive the run, as the observers do
  history::Observers observers{};
  std::function<void(Instant)> tick{};  ///< some ten times a second of a real run, when its event log is up to date
  std::function<void()> over{};         ///< the last record of a real run has come; its files are not written yet
  std::function<void()> written{};      ///< the files are written
};

/// What a body says of the run when that is over.
struct BodyEnd {
  bool left = false;       ///< its jobs go on, and another daemon goes on with it: there are no results yet
  std::string not_kept{};  ///< why it has left them, and not ended as it was told
  bool interrupted = false;
  int first_stop = 0;        ///< the stop signal that came first to it, though to another daemon; 0: not known
  std::string lost{};        ///< why the executor was lost
  std::string fault{};       ///< what the policy did that ended the run
  std::string broken_off{};  ///< why no further job was started
  double load_before = -1;   ///< share of CPU time that other processes used; -1: not measured
  double load_after = -1;
  std::optional<bool> disturbed = false;  ///< others used the machine before or after; nothing: not known
};

/// The world in which the jobs of a run are: what time it is there, and what becomes of orders.
class Body {
 public:
  virtual ~Body() = default;
  /// Runs its jobs to their end. Once. `recorder` has begun.
  virtual BodyEnd run(Policy& policy, const RuntimeModel& model, results::Recorder& recorder,
                      const Viewers& viewers) = 0;
};

/// Runs `body` under `policy`, and writes the outputs that the recorder is to write. If the policy fails, the run ends,
/// PolicyRun::fault says why, and what happened until then is recorded. Throws InputError. REQUIRES: the recorder is new:
/// not begun.
results::PolicyRun run(Body& body, Policy& policy, const RuntimeModel& model, results::Recorder& recorder,
                       const Viewers& viewers = {});

}  // namespace replay::experiment
