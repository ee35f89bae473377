#include "tests/support/sharing/occupation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace replay::test {
namespace {

struct Stay {
  JobId job;
  CoreId core;
  bool shareable;
  Instant from;
  Instant to = kNever;
};

// The times for which jobs held cores, without those of no length.
class Stays {
 public:
  void on(const log::Record& record) {
    if (const auto* launch = std::get_if<log::Launched>(&record.what)) move(record.at, launch->job, launch->allocation);
    if (const auto* resize = std::get_if<log::ResizeDone>(&record.what))
      move(record.at, resize->job, resize->allocation);
    if (const auto* suspend = std::get_if<log::SuspendDone>(&record.what)) leave(record.at, suspend->job);
    if (const auto* resume = std::get_if<log::ResumeDone>(&record.what))
      enter(record.at, resume->job, last_.at(resume->job));
    if (const auto* finish = std::get_if<log::Finished>(&record.what)) leave(record.at, finish->job);
  }

  [[nodiscard]] std::vector<Stay> all() const {
    std::vector<Stay> stays;
    std::ranges::copy_if(stays_, std::back_inserter(stays), [](const Stay& stay) { return stay.from < stay.to; });
    return stays;
  }

 private:
  void move(Instant now, JobId job, const Allocation& allocation) {
    leave(now, job);
    enter(now, job, allocation);
  }
  void enter(Instant now, JobId job, const Allocation& allocation) {
    last_[job] = allocation;
    for (const CoreLoad& load : allocation.named) {
      open_[job].push_back(stays_.size());
      stays_.push_back({job, load.core, allocation.shareable, now});
    }
  }
  void leave(Instant now, JobId job) {
    for (const std::size_t stay : open_[job]) stays_[stay].to = now;
    open_[job].clear();
  }

  std::vector<Stay> stays_;
  std::map<JobId, std::vector<std::size_t>> open_;
  std::map<JobId, Allocation> last_;
};

class Judge {
 public:
  Judge(const Machine& machine, const SharingRule& rule, std::vector<Stay> stays)
      : machine_(machine), rule_(rule), stays_(std::move(stays)) {
    std::ranges::stable_sort(stays_, {}, &Stay::from);
  }

  // The stays that last at an instant change only where one begins.
  [[nodiscard]] std::string first_error() const {
    std::vector<const Stay*> there;
    for (const Stay& next : stays_) {
      std::erase_if(there, [&](const Stay* stay) { return stay->to <= next.from; });
      if (std::string error = error_of(next, there); !error.empty())
        return fmt::format("at {} s {}", to_text(next.from), error);
      there.push_back(&next);
    }
    return "";
  }

 private:
  [[nodiscard]] std::string error_of(const Stay& next, const std::vector<const Stay*>& there) const {
    const NodeId node = machine_.node_of(next.core);
    std::set<JobId> on_core;
    std::set<JobId> on_node{next.job};
    for (const Stay* stay : there) {
      if (stay->job == next.job || machine_.node_of(stay->core) != node) continue;
      on_node.insert(stay->job);
      if (!rule_.packages && machine_.package_of(stay->core) == machine_.package_of(next.core))
        return fmt::format("jobs {} and {} are on one CPU of node {}", number(stay->job), number(next.job),
                           index_of(node));
      if (stay->core != next.core) continue;
      on_core.insert(stay->job);
      if (!rule_.cores)
        return fmt::format("jobs {} and {} are on core {}", number(stay->job), number(next.job), next.core);
      if (!stay->shareable || !next.shareable)
        return fmt::format("jobs {} and {} are on core {}, and job {} does not share", number(stay->job),
                           number(next.job), next.core, number(stay->shareable ? next.job : stay->job));
    }
    if (on_core.size() > 1) return fmt::format("three jobs are on core {}", next.core);
    if (rule_.jobs_on_node > 0 && std::cmp_greater(on_node.size(), rule_.jobs_on_node))
      return fmt::format("{} jobs are on node {}", on_node.size(), index_of(node));
    return "";
  }

  const Machine& machine_;
  const SharingRule& rule_;
  std::vector<Stay> stays_;
};

// Cores of a pool have no names, so that only their number can be wrong.
std::string error_on_pool(const MemoryLog& log) {
  for (const log::Record& record : log.records()) {
    const auto* const launch = std::get_if<log::Launched>(&record.what);
    if (launch != nullptr && launch->allocation.shareable)
      return fmt::format("job {} shares cores without names", number(launch->job));
  }
  return "";
}

}  // namespace

std::string sharing_error(const MemoryLog& log, const Machine& machine, const SharingRule& rule) {
  if (!machine.names_cores()) return error_on_pool(log);
  Stays stays;
  for (const log::Record& record : log.records()) stays.on(record);
  return Judge{machine, rule, stays.all()}.first_error();
}

}  // namespace replay::test
