#include "launcher/os/descriptor_limit.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "scheduler/base/text/counted_words.hpp"

namespace replay::launcher {
namespace {

// Of an agent: 16 of its own, 19 more for a moment. Of a job: its segment, stdout, stderr, mpiexec and proxy. Of a rank: its process
// and its stream.
constexpr std::size_t kOfAgent = 16;
constexpr std::size_t kOfLaunch = 24;
constexpr std::size_t kOfJob = 5;
constexpr std::size_t kOfRank = 2;

rlimit usual{};  // rlim_max 0: not raised

rlim_t current_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

std::string why_not(std::size_t needed, std::string_view by) {
  if (current_limit() < needed) raise_descriptor_limit();
  if (current_limit() >= needed) return "";
  return fmt::format("the limit of open files (ulimit -n) is {}, and {} need {}", current_limit(), by, needed);
}

}  // namespace

std::optional<std::size_t> count_descriptors(pid_t pid) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator one{fmt::format("/proc/{}/fd", pid), error}, end; !error && one != end;
       one.increment(error))
    ++count;
  return error ? std::nullopt : std::optional{count};
}

// With MPICH 4.0.2 and UCX 1.13 a job runs from 26 + 2 n on for the ranks, and from 13 + 4 n on for Hydra's proxy.
std::size_t descriptors_for_job(std::size_t ranks) { return 32 + 4 * ranks; }

std::string why_too_few_descriptors(std::size_t cores) {
  return why_not(kOfAgent + kOfLaunch + (kOfJob + kOfRank) * cores, "jobs on " + counted(cores, "core"));
}

std::string why_too_few_descriptors_for_job(std::size_t processes, std::size_t here) {
  const std::size_t open = count_descriptors(::getpid()).value_or(current_limit());  // all
  return why_not(std::max(descriptors_for_job(processes), open + kOfLaunch + kOfRank * here),
                 fmt::format("a job of {} and those that run", counted(processes, "process", "processes")));
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  if (usual.rlim_max == 0) usual = limit;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_descriptor_limit(std::size_t least) {
  rlimit limit{};
  if (usual.rlim_max == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min(std::max<rlim_t>(usual.rlim_cur, least), limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace replay::launcher
