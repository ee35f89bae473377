// Shards: the cells of a sweep dealt out to processes that know nothing of each other but the number of shards.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace replay::sweep {

/// Number `index` of `of`, from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t of = 1;

  /// Each row of `of` cells gives each shard one; the rows begin with different shards, so that a value of an axis does not always
  /// fall to the same one.
  [[nodiscard]] bool has(std::size_t cell) const { return (cell % of + cell / of) % of == index - 1; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// "3/7", or "auto": SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, SLURM_PROCID of SLURM_NTASKS, PMI_RANK of PMI_SIZE or
/// OMPI_COMM_WORLD_RANK of _SIZE, the first pair that is there; a Slurm array whose tasks have several processes deals to all of them.
/// `variable`: of the environment. Throws UsageError.
[[nodiscard]] Shard parse_shard(std::string_view text,
                                const std::function<std::optional<std::string>(const char*)>& variable);

/// The cores that this process may use; where it may use all of the computer, and an MPI launcher has started several processes
/// here, its part of them. At least 1.
[[nodiscard]] int cores_for_this_process(const std::function<std::optional<std::string>(const char*)>& variable);

/// getenv(); nothing where it is not set.
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);

}  // namespace replay::sweep
