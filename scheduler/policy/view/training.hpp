// The trace that a policy has learned from before a run. It is not judged on that trace: it would know the jobs to come.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/model/units.hpp"

namespace replay {

struct Training {
  std::string trace;      ///< the file's name without its folder
  std::string sha256;     ///< of its bytes: what `sha256sum` prints
  std::int64_t jobs = 0;  ///< that were counted
  CoreCount machine = 1;  ///< in processors: sizes are chosen for it

  bool operator==(const Training&) const = default;
};

}  // namespace replay
