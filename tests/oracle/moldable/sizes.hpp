// The sizes that a job offers, its time at each of them, its optimum, and the class that follows from the time at the
// optimum. Source: readings 8 (Common).
#pragma once

#include <vector>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

/// Moldable or malleable, with a curve. All others have only the submitted size.
[[nodiscard]] bool can_choose(const Job& job);

/// The sizes that a job can be started with on a machine of `cores`, ascending; may be empty.
[[nodiscard]] std::vector<int> offered_sizes(const Job& job, int cores);

/// "The largest offered size not above, else the least". REQUIRES: it offers one.
[[nodiscard]] int offered_size(const Job& job, int cores, int wanted);

/// "Round half up, then clamp". What is less than `tolerance` below a half counts as a half.
[[nodiscard]] int offered_size(const Job& job, int cores, long double wanted, long double tolerance);

/// T(n) = T(N_req) S(N_req) / S(n), rounded up.
[[nodiscard]] Time time_at_size(const Job& job, Time time, int size);

/// A rigid job that is like this one at a size.
[[nodiscard]] Job at_size(const Job& job, int size);

/// N_opt.
[[nodiscard]] int optimum(const Job& job, int cores);

enum class Aging : std::uint8_t { kTop, kOne, kOff };
/// By T(N_opt), from the estimate: 0 is short, 1 medium, 2 long.
[[nodiscard]] int class_of(const Job& job, int cores);
/// The same after a wait of five times T(N_opt).
[[nodiscard]] int class_at(const Job& job, int cores, Time now, Aging aging);
/// The first instant after `now` at which aging changes the class; kNever if there is none.
[[nodiscard]] Time next_promotion(const Job& job, int cores, Time now, Aging aging);

}  // namespace replay::oracle
