#include "scheduler/sweep/engine/shard.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay::sweep {
namespace {

using Variable = std::function<std::optional<std::string>(const char*)>;

constexpr std::size_t kMostShards = 1'000'000;

// From 0.
struct Place {
  std::size_t index, of;
};

// `first`: the variable with the lowest index; nothing: 0.
std::optional<Place> place_in(const Variable& variable, const char* index, const char* count, const char* first) {
  const auto number = [&](const char* name) -> std::optional<std::size_t> {
    const auto text = variable(name);
    if (!text || text->empty()) return std::nullopt;
    if (const auto value = parse_number<std::size_t>(*text, 0, 2'000'000'000)) return value;
    throw UsageError(fmt::format("--shard auto: {}: expected a number, found '{}'", name, *text));
  };
  const auto i = number(index), n = number(count);
  if (!i || !n) return std::nullopt;
  const std::size_t from = first == nullptr ? 0 : number(first).value_or(0);
  if (*n < 1 || *n > kMostShards || *i < from || *i - from >= *n)
    throw UsageError(fmt::format(
        "--shard auto: {} is {}: expected one of {} numbers from {} on, as {} says; an array whose numbers have gaps "
        "needs --shard I/N",
        index, *i, *n, from, count));
  return Place{*i - from, *n};
}

Shard shard_of_environment(const Variable& variable) {
  const auto task = place_in(variable, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN");
  std::optional<Place> process;
  if (!task ||
      variable("SLURM_STEP_ID"))  // a batch script has SLURM_PROCID too, but is not started once for each process
    process = place_in(variable, "SLURM_PROCID", "SLURM_NTASKS", nullptr);
  if (!process) process = place_in(variable, "PMI_RANK", "PMI_SIZE", nullptr);
  if (!process) process = place_in(variable, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr);
  if (!task && !process)
    throw UsageError(
        "--shard auto: expected to run in a Slurm job or under mpiexec, found neither SLURM_ARRAY_TASK_ID, "
        "SLURM_PROCID, "
        "PMI_RANK nor OMPI_COMM_WORLD_RANK; --shard I/N says it");
  const Place outer = task.value_or(Place{0, 1}), inner = process.value_or(Place{0, 1});
  return {outer.index * inner.of + inner.index + 1, outer.of * inner.of};
}

}  // namespace

Shard parse_shard(std::string_view text, const Variable& variable) {
  if (text == "auto") return shard_of_environment(variable);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = parse_number<std::size_t>(text.substr(0, slash), 1, kMostShards);
    const auto of = parse_number<std::size_t>(text.substr(slash + 1), 1, kMostShards);
    if (index && of && *index <= *of) return {*index, *of};
  }
  throw UsageError(fmt::format("--shard: expected auto or I/N with I from 1 to N, such as 3/7, found '{}'", text));
}

int cores_for_this_process(const Variable& variable) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const long online = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(online);
  const int allowed = std::max(1, CPU_COUNT(&set));
  if (allowed < online) return allowed;
  for (const char* const name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"})
    if (const auto text = variable(name))
      if (const auto processes = parse_number<int>(*text, 1, 1 << 20)) return std::max(1, allowed / *processes);
  return allowed;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

}  // namespace replay::sweep
