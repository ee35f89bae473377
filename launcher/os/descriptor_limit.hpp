// The limit of open descriptors (ulimit -n): whether it is enough for jobs; raised where a process holds many, and for the programs
// that it starts as before, or as high as they need it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

namespace replay::launcher {

/// Nothing: they may not be read.
[[nodiscard]] std::optional<std::size_t> count_descriptors(pid_t pid);

/// That a process of a job with so many ranks has open at most, Hydra's and some of the program's own included.
[[nodiscard]] std::size_t descriptors_for_job(std::size_t ranks);

/// Empty: this process may open what an agent needs if each of so many cores has a job of its own. Where it must, the limit is
/// raised. Else what to say.
[[nodiscard]] std::string why_too_few_descriptors(std::size_t cores);
/// The same for one more job, of so many processes, some of them here, beside what is open in this process.
[[nodiscard]] std::string why_too_few_descriptors_for_job(std::size_t processes, std::size_t here);

/// Raises it to its maximum.
void raise_descriptor_limit();
/// In a forked child: as before the first raise_descriptor_limit() of its parent, but at least `least`, if the maximum permits
/// that. Only calls that are safe after a fork.
void restore_descriptor_limit(std::size_t least = 0);

}  // namespace replay::launcher
