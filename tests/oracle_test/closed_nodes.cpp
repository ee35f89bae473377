#include "tests/oracle_test/closed_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle/nodes.hpp"
#include "tests/oracle_test/drawn_workload.hpp"

namespace replay::test {
namespace {

using oracle::OnNodes;
using oracle::Time;

class NodeReader {
 public:
  explicit NodeReader(const oracle::Workload& workload)
      : workload_(workload),
        machine_(machine_of(workload)),
        nodes_(workload),
        logged_(static_cast<std::size_t>(workload.nodes)) {}

  std::string error_in(const MemoryLog& log) {
    for (const log::Record& record : log.records()) {
      if (const Time at = record.at.time_since_epoch().count(); at != now_) go_to(at);
      std::visit(
          [&](const auto& what) {
            if constexpr (requires { on(what); }) on(what);
          },
          record.what);
      if (!error_.empty()) return fmt::format("at {} s {}", to_text(record.at), error_);
    }
    end_instant();
    return error_;
  }

 private:
  void go_to(Time at) {
    end_instant();
    while (nodes_.next() < at) {
      begin_instant(nodes_.next());
      end_instant();
    }
    begin_instant(at);
  }

  void begin_instant(Time at) {
    now_ = at;
    has_begun_ = false;
    while (const auto change = nodes_.take(at))
      for (const auto& [job, cores] : held_)
        if (change->is_down && cores[change->node] > 0) to_lose_.insert(job);
  }

  void end_instant() {
    for (std::size_t n = 0; n < logged_.size(); ++n) {
      const Time back = logged_[n].state == NodeState::kUp ? 0 : micros(logged_[n].until);
      if (back != nodes_.back(n)) fail("node {} is not in the state that the rows say at {} us", n, now_);
    }
    for (const JobId job : to_lose_) fail("job {} is not lost with its node at {} us", number(job), now_);
  }

  void on(const NodeChange& change) {
    if (has_begun_) fail("node {} changes after other events of the instant", index_of(change.node));
    logged_[index_of(change.node)] = change;
  }
  void on(const log::Submitted&) { has_begun_ = true; }
  void on(const log::StartDecided& start) {
    if (nodes_.has_closed(on_nodes(start.allocation))) fail("job {} is to start on a closed node", number(start.job));
  }
  void on(const log::Launched& launched) {
    held_[launched.job] = on_nodes(launched.allocation);
    if (nodes_.has_closed(held_[launched.job])) fail("job {} starts on a closed node", number(launched.job));
  }
  void on(const log::ResizeDecided& resize) {
    if (nodes_.has_closed(held_[resize.job])) fail("job {} is resized on a closed node", number(resize.job));
    if (nodes_.has_closed(on_nodes(resize.allocation))) fail("job {} is to go to a closed node", number(resize.job));
  }
  void on(const log::ResizeDone& resized) { held_[resized.job] = on_nodes(resized.allocation); }
  void on(const log::Requeued& again) {
    if (!workload_.requeues_lost) fail("job {} waits again", number(again.job));
    lose(again.job);
  }
  void on(const log::Finished& finished) {
    const JobId job = finished.job;
    switch (finished.end.outcome) {
      case Outcome::kLost:
        if (workload_.requeues_lost) fail("job {} is lost, and does not wait again", number(job));
        lose(job);
        return;
      case Outcome::kCancelled: cancel(job, finished.end.reason); break;
      default: has_begun_ = true;
    }
    if (to_lose_.contains(job)) fail("job {} ends, and its node is down", number(job));
    held_.erase(job);
  }

  void lose(JobId job) {
    if (to_lose_.erase(job) == 0) fail("job {} is lost, and had no node that went down", number(job));
    held_.erase(job);
  }

  // "When nothing runs, comes or is planned any more."
  void cancel(JobId job, std::string_view reason) {
    const auto found = std::ranges::find(workload_.jobs, number(job), &oracle::Job::number);
    if (!held_.empty()) fail("job {} is cancelled while others run", number(job));
    if (nodes_.next() != oracle::kNever) fail("job {} is cancelled before the last row", number(job));
    if (workload_.jobs.back().submit > now_) fail("job {} is cancelled while others come", number(job));
    std::vector<int> sizes = offered_sizes(*found, workload_.cores());
    sizes.erase(sizes.begin() + (sizes.empty() ? 0 : 1), sizes.end());  // the least, where the policy chooses one
    sizes.push_back(found->processes);
    if (std::ranges::none_of(sizes, [&](int size) {
          return size > nodes_.ever() &&
                 reason == fmt::format("needs {} core{}, {} {} left", size, size == 1 ? "" : "s", nodes_.ever(),
                                       nodes_.ever() == 1 ? "is" : "are");
        }))
      fail("job {} is cancelled and has the reason '{}'", number(job), reason);
  }

  template <class... Values>
  void fail(fmt::format_string<Values...> text, Values&&... values) {
    if (error_.empty()) error_ = fmt::format(text, std::forward<Values>(values)...);
  }

  [[nodiscard]] OnNodes on_nodes(const Allocation& allocation) const {
    OnNodes cores(logged_.size(), 0);
    for (const CoreLoad& load : allocation.named) ++cores[index_of(machine_.node_of(load.core))];
    return cores;
  }
  static Time micros(Instant at) { return at == kNever ? oracle::kNever : at.time_since_epoch().count(); }

  const oracle::Workload& workload_;
  const Machine machine_;
  oracle::Nodes nodes_;
  std::vector<NodeChange> logged_;  // the last one of each node
  std::map<JobId, OnNodes> held_;   // running and suspended
  std::set<JobId> to_lose_;         // at this instant
  Time now_ = -1;
  bool has_begun_ = false;  // something else than nodes and what they lose
  std::string error_;
};

}  // namespace

std::string against_the_page(const oracle::Workload& workload, const MemoryLog& log) {
  const std::string error = what_is_wrong(log, machine_of(workload));
  return error.empty() ? NodeReader{workload}.error_in(log) : error;
}

bool closes_a_node(const oracle::Workload& workload, Time from, Time to) {
  return std::ranges::any_of(workload.node_events, [&](const oracle::NodeEvent& event) {
    return event.state != oracle::NodeState::kUp && from < event.at && event.at <= to;
  });
}

}  // namespace replay::test
