// A runtime model asked with the numbers of the FCFS-malleable paper: CPU use, overhead, multiprogramming level, demand.
#pragma once

#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::test {

/// Of a job of four processes at that multiprogramming level beside others' `demand`.
inline double slowdown_of(const RuntimeModel& model, const Behaviour& behaviour, int mpl, double demand) {
  Allocation on;
  on.cores = cores_at(4, mpl);
  on.mpl = mpl;
  return model.slowdown({.processes = 4, .behaviour = behaviour}, on, {.demand = demand});
}

}  // namespace replay::test
