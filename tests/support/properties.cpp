#include "tests/support/properties.hpp"

#include <fmt/ostream.h>

#include <algorithm>
#include <cstdlib>

namespace replay::test {
namespace {

// A static initializer, so that it is set before RapidCheck reads it.
[[maybe_unused]] const int kSeedIsSet = ::setenv("RC_PARAMS", "seed=2012 max_success=200 max_size=60", 0);

// A job as it is generated: with the time since the last job instead of an instant, so that any part of a list is a
// valid list.
struct Sketch {
  int gap_s;
  int processes;
  int runtime_ms;
  int cpu_percent;
  int flexibility;        // 0: rigid
  int estimate_quarters;  // of the run time
};

rc::Gen<Sketch> any_sketch(CoreCount widest, bool overruns) {
  return rc::gen::construct<Sketch>(rc::gen::element(0, 0, 1, 3, 10, 20), rc::gen::inRange<int>(1, widest + 1),
                                    rc::gen::oneOf(rc::gen::just(0), rc::gen::inRange(1, 60'000)),
                                    rc::gen::inRange(0, 101), rc::gen::inRange(0, 5),
                                    overruns ? rc::gen::element(4, 2, 12) : rc::gen::element(4, 4, 12));
}

}  // namespace

rc::Gen<std::string> any_machine() {
  return rc::gen::element<std::string>("1x1x2", "1x1x8", "2x2x2", "4x1x3", "8x2x2", "4x1x2", "1x2x4+2x1x2",
                                       "1x1x1+1x1x5", "2x1x3+1x2x1+1x1x4");
}

rc::Gen<std::vector<TracedJob>> any_jobs(CoreCount widest, bool overruns) {
  return rc::gen::map(
      rc::gen::container<std::vector<Sketch>>(any_sketch(widest, overruns)), [](std::vector<Sketch> all) {
        all.resize(std::min<std::size_t>(all.size(), 40));
        std::vector<TracedJob> jobs;
        Instant now{};
        for (const Sketch& sketch : all) {
          now += std::chrono::seconds{sketch.gap_s};
          TracedJob traced;
          traced.job.id = static_cast<JobId>(jobs.size() + 1);
          traced.job.submitted = now;
          traced.job.processes = sketch.processes;
          traced.truth.runtime = std::chrono::milliseconds{sketch.runtime_ms};
          traced.job.estimate = std::max<Duration>(traced.truth.runtime * sketch.estimate_quarters / 4, Duration{1});
          traced.truth.behaviour.cpu_use = traced.job.declared.cpu_use = sketch.cpu_percent / 100.0;
          if (sketch.flexibility == 0) traced.job.flexibility = Flexibility::kRigid;
          jobs.push_back(traced);
        }
        return jobs;
      });
}

}  // namespace replay::test

namespace replay {

void showValue(const TracedJob& traced, std::ostream& out) {
  const Job& job = traced.job;
  fmt::print(out, "{}{} at {}, {} processes, {} s of {} s, u {}",
             job.flexibility == Flexibility::kRigid ? "rigid " : "", static_cast<std::int64_t>(job.id),
             to_text(job.submitted), job.processes, to_text(traced.truth.runtime), to_text(job.estimate),
             job.declared.cpu_use);
}

}  // namespace replay
