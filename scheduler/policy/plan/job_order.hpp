// The orders in which policies look at waiting jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "scheduler/model/job.hpp"

namespace replay {

enum class JobOrder : std::uint8_t {
  kArrival,    ///< first come, first served
  kShortest,   ///< by estimate
  kLongest,    ///< by estimate
  kNarrowest,  ///< by cores needed
};

/// Whether `a` comes before `b`; ties are in the order of arrival. Each is a Job, or has the same fields and cores_needed().
template <class Entry>
bool comes_before(JobOrder order, const Entry& a, const Entry& b) {
  switch (order) {
    case JobOrder::kArrival: break;
    case JobOrder::kShortest:
      if (a.estimate != b.estimate) return a.estimate < b.estimate;
      break;
    case JobOrder::kLongest:
      if (a.estimate != b.estimate) return a.estimate > b.estimate;
      break;
    case JobOrder::kNarrowest:
      if (cores_needed(a) != cores_needed(b)) return cores_needed(a) < cores_needed(b);
      break;
  }
  return a.submitted != b.submitted ? a.submitted < b.submitted : a.id < b.id;
}

/// Sorts entries that are in the order of arrival; ties stay in it. `job_of(entry)` is a pointer to its job.
template <class Entry, class JobOf = std::identity>
void sort_by(JobOrder order, std::vector<Entry>& entries, JobOf job_of = {}) {
  const auto estimate = [&job_of](const Entry& entry) { return std::invoke(job_of, entry)->estimate; };
  const auto cores = [&job_of](const Entry& entry) { return cores_needed(*std::invoke(job_of, entry)); };
  switch (order) {
    case JobOrder::kArrival: break;
    case JobOrder::kShortest: std::ranges::stable_sort(entries, {}, estimate); break;
    case JobOrder::kLongest: std::ranges::stable_sort(entries, std::ranges::greater{}, estimate); break;
    case JobOrder::kNarrowest: std::ranges::stable_sort(entries, {}, cores); break;
  }
}

}  // namespace replay
