// The slowdowns that files may state, for jobs and pairs of jobs: beyond them a job would run in no time, or for ever.
#pragma once

namespace replay {

inline constexpr double kLeastStatedSlowdown = 1e-3, kMostStatedSlowdown = 1e6;

}  // namespace replay
