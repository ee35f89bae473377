#include "scheduler/experiment/run.hpp"

#include <utility>

namespace replay::experiment {

results::PolicyRun run(Body& body, Policy& policy, const RuntimeModel& model, results::Recorder& recorder,
                       const Viewers& viewers) {
  for (log::Sink* sink : viewers.sinks) recorder.also(*sink);
  for (const history::ObserverRef& observer : viewers.observers) recorder.also(observer);
  recorder.begin();
  BodyEnd end = body.run(policy, model, recorder, viewers);
  if (end.left) {
    recorder.save();
    results::PolicyRun left;
    left.left = true;
    left.not_kept = std::move(end.not_kept);
    return left;
  }
  results::PolicyRun done = recorder.finish();
  done.interrupted = end.interrupted;
  done.first_stop = end.first_stop;
  done.lost = std::move(end.lost);
  done.fault = std::move(end.fault);
  done.broken_off = std::move(end.broken_off);
  done.load_before = end.load_before;
  done.load_after = end.load_after;
  done.disturbed = end.disturbed;
  recorder.write(done);
  if (viewers.written) viewers.written();
  return done;
}

}  // namespace replay::experiment
