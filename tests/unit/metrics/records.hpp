// Builds an event log by hand: each call is one record. Times are seconds; jobs run as malleable ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scheduler/log/record.hpp"
#include "tests/support/followed.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::metrics {

inline JobEnd ended(Outcome outcome) {
  JobEnd end;
  end.outcome = outcome;
  return end;
}

class Records {
 public:
  explicit Records(std::string machine) { header_.set("machine", std::move(machine)); }

  Records& submit(double time, int job, ProcessCount processes, double runtime) {
    log::Submitted what;
    what.job.id = JobId{job};
    what.job.submitted = Instant{from_seconds(time)};
    what.job.processes = processes;
    what.job.estimate = from_seconds(runtime);
    what.truth.runtime = from_seconds(runtime);
    return add(time, what);
  }
  Records& launch(double time, int job, CoreCount cores, int mpl = 1) {
    return add(time, log::Launched{JobId{job}, {cores, mpl, {}}});
  }
  Records& launch_on(double time, int job, const std::vector<test::OnCore>& named, int mpl = 1) {
    const auto cores = static_cast<CoreCount>(named.size());
    return add(time, log::Launched{JobId{job}, {cores, mpl, test::core_loads(named)}});
  }
  Records& launch_shared(double time, int job, const std::vector<test::OnCore>& named, int mpl = 1) {
    const auto cores = static_cast<CoreCount>(named.size());
    return add(time, log::Launched{JobId{job}, {cores, mpl, test::core_loads(named), true}});
  }
  Records& resized_shared(double time, int job, const std::vector<test::OnCore>& named, int mpl) {
    const auto cores = static_cast<CoreCount>(named.size());
    return add(time, log::ResizeDone{JobId{job}, {cores, mpl, test::core_loads(named), true}});
  }
  Records& resized(double time, int job, CoreCount cores, int mpl) {
    return add(time, log::ResizeDone{JobId{job}, {cores, mpl, {}}});
  }
  Records& resized_on(double time, int job, const std::vector<test::OnCore>& named, int mpl) {
    const auto cores = static_cast<CoreCount>(named.size());
    return add(time, log::ResizeDone{JobId{job}, {cores, mpl, test::core_loads(named)}});
  }
  Records& suspended(double time, int job) { return add(time, log::SuspendDone{JobId{job}}); }
  Records& resumed(double time, int job) { return add(time, log::ResumeDone{JobId{job}}); }
  Records& requeued(double time, int job, std::string reason = "") {
    return add(time, log::Requeued{JobId{job}, std::move(reason)});
  }
  Records& node(double time, int node, NodeState state, std::string reason = "", Instant until = kNever) {
    return add(time, NodeChange{NodeId{node}, state, until, std::move(reason), ""});
  }
  Records& finish(double time, int job, JobEnd end = {}) {
    return add(time, log::Finished{JobId{job}, std::move(end)});
  }
  Records& add(double time, log::What what) {
    records_.push_back({Instant{from_seconds(time)}, std::move(what)});
    return *this;
  }
  Records& header(std::string name, std::string value) {
    header_.set(std::move(name), std::move(value));
    return *this;
  }

  [[nodiscard]] const std::vector<log::Record>& records() const { return records_; }
  /// Feeds the same log to each sink or observer.
  template <class... Readers>
  void feed(Readers&... readers) const {
    (test::feed(header_, records_, readers), ...);
  }

 private:
  log::Header header_;
  std::vector<log::Record> records_;
};

}  // namespace replay::metrics
