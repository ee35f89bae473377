#include "scheduler/history/job_numbers.hpp"

#include <iterator>
#include <limits>

namespace replay::history {

bool JobNumbers::add(JobId job) {
  const std::int64_t id = number(job);
  auto next = !ranges_.empty() && ranges_.rbegin()->second < id ? ranges_.end() : ranges_.upper_bound(id);
  auto at = ranges_.end();
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (id <= before->second) return false;
    if (before->second == id - 1) at = before;
  }
  if (at == ranges_.end())
    at = ranges_.emplace_hint(next, id, id);
  else
    at->second = id;
  if (next != ranges_.end() && id != std::numeric_limits<std::int64_t>::max() && next->first == id + 1) {
    at->second = next->second;
    ranges_.erase(next);
  }
  return true;
}

bool JobNumbers::contains(JobId job) const {
  const auto next = ranges_.upper_bound(number(job));
  return next != ranges_.begin() && number(job) <= std::prev(next)->second;
}

}  // namespace replay::history
