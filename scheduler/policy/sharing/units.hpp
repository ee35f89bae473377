// What runs, as g-lomarc-ts sees it: units, and the company in which each of them runs. A unit is a job or a bundle of
// serial jobs that count as one; at most two units are on a node. A company is a unit alone, or a group: a primary unit
// and the units matched with it, until the primary or all matched ones have ended. G-LOMARC-TS, sections 4.4 and 4.5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduler/policy/sharing/half_nodes.hpp"
#include "scheduler/policy/sharing/known_job.hpp"
#include "scheduler/policy/sharing/party.hpp"

namespace replay::sharing {

struct Company;

struct Unit {
  std::vector<KnownJob*> jobs;  ///< several only in a bundle
  int per_node = 1;             ///< PPN
  std::vector<Seat> seats;      ///< in the order of the ranks
  int covered = 0;              ///< nodes that it shares with the primary of its group
  Company* company = nullptr;

  [[nodiscard]] int nodes() const { return static_cast<int>(seats.size()); }
  /// Serial jobs may join it: a serial job that runs alone is a bundle of one.
  [[nodiscard]] bool is_bundle() const { return jobs.front()->is_serial(); }
  /// Of the most delayed job.
  [[nodiscard]] std::int64_t delay() const {
    std::int64_t most = 0;
    for (const KnownJob* job : jobs) most = std::max(most, job->delay());
    return most;
  }
  [[nodiscard]] auto arrival() const {
    auto first = jobs.front()->arrival();
    for (const KnownJob* job : jobs) first = std::min(first, job->arrival());
    return first;
  }
};

struct Company {
  std::vector<Unit*> units;  ///< of a group: the primary first, the matched ones in the order of the group
  bool is_group = false;
  JobId primary{};       ///< of a group, by which it is known
  Releases releases;     ///< of its nodes, as planned
  bool changed = false;  ///< since its releases were computed
};

}  // namespace replay::sharing
