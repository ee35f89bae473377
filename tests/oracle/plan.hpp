// Free cores over time, as a list of who has how many from when to when. Every question looks at the whole list.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

class Plan {
 public:
  explicit Plan(int cores) : cores_(cores) {}

  void put(int cores, Time from, Time to) { used_.push_back({cores, from, to}); }
  /// REQUIRES: put() with the same arguments.
  void lift(int cores, Time from, Time to);

  [[nodiscard]] int free_at(Time when) const;
  [[nodiscard]] bool fits(int cores, Time from, Time length) const;
  /// The first instant from `from` on at which it fits. REQUIRES: cores <= those of the machine.
  [[nodiscard]] Time earliest(int cores, Time from, Time length) const;

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
