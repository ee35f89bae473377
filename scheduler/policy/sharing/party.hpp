// Jobs that share nodes, from now to the end of the last of them: a primary unit and the units matched with it, or one
// unit alone. A unit is a job, or a bundle of serial jobs that count as one. Each job runs at the rate that the jobs still
// there leave it: its self slowdown times the largest slowdown by a job beside it. G-LOMARC-TS, sections 4.5, 4.6.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scheduler/policy/sharing/known_job.hpp"
#include "scheduler/policy/sharing/slowdowns.hpp"

namespace replay::sharing {

/// So many nodes become free at `until`.
struct Release {
  Instant until;
  int nodes;
  bool operator==(const Release&) const = default;
};
using Releases = std::vector<Release>;

class Party {
 public:
  struct Guest {
    KnownJob* job;
    std::size_t unit;    ///< 0: of the primary
    double alone;        ///< rate
    Progress work;       ///< as it is now
    Progress present{};  ///< after foresee(): its work at the rate that it has now
    Instant end{};       ///< after foresee()
    double left = 0, rate = 0;
    bool is_there = true;
  };

  explicit Party(Slowdowns& slowdowns) : slowdowns_(slowdowns) {}

  void clear(Instant now);
  /// The first unit is the primary. `nodes`: of the unit; `covered`: those of them that are the primary's, too; with none
  /// the unit runs as if it were alone. A job that waits begins now.
  void add(std::span<KnownJob* const> jobs, int per_node, int nodes, int covered);

  /// What another record than the job has of its work. REQUIRES: just added, alone or with its mates.
  void set_work(const KnownJob& job, const Progress& work);

  /// Formula 6 from now on, with whole nodes: work done per node time of the group, over that of nodes with one process,
  /// until the primary or all matched jobs have ended. REQUIRES: foresee() was not called.
  [[nodiscard]] double gain();
  /// Sets work and end of each guest: until the last one has ended, through the disbanding.
  void foresee();
  /// After foresee(): until when how many nodes the party holds; ascending.
  void releases(Releases& out) const;

  [[nodiscard]] std::span<const Guest> guests() const { return guests_; }

 private:
  struct Meeting {  // of two guests: the rates that they leave each other
    std::size_t a, b;
    double rate_a, rate_b;
  };
  struct Place {
    int nodes, covered;
  };
  void meet(std::size_t a, std::size_t b, int per_node_a, int per_node_b);
  void set_rates();

  Slowdowns& slowdowns_;
  Instant now_{};
  std::vector<Guest> guests_;
  std::vector<Meeting> meetings_;
  std::vector<Place> places_;  // of the units
  std::size_t of_primary_ = 0;
  int per_node_of_primary_ = 1;
};

/// Sorts, joins what ends at one instant, and leaves out what comes to no nodes.
void put_in_order(Releases& releases);

}  // namespace replay::sharing
