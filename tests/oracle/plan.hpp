// Free cores over time, stored as a list of uses: cores, from, to. Every question scans the whole list.
#pragma once

#include <vector>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

class Plan {
 public:
  explicit Plan(int cores) : cores_(cores) {}

  void put(int cores, Time from, Time to) { used_.push_back({cores, from, to}); }
  /// Removes a use. REQUIRES: put() with the same arguments.
  void lift(int cores, Time from, Time to);

  [[nodiscard]] int free_at(Time when) const;
  [[nodiscard]] bool fits(int cores, Time from, Time length) const;
  /// The first instant from `from` on at which this many cores are free for `length`; kNever if there is none.
  [[nodiscard]] Time earliest(int cores, Time from, Time length) const;
  /// Those at which a use begins or ends, ascending.
  [[nodiscard]] std::vector<Time> instants() const;

 private:
  struct Use {
    int cores;
    Time from, to;
    bool operator==(const Use&) const = default;
  };
  int cores_;
  std::vector<Use> used_;
};

}  // namespace replay::oracle
