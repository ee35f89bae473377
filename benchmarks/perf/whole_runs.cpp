#include "benchmarks/perf/whole_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay::bench {

// Drops the program's output; its errors stay on stderr.
Cost run(Words words, int limit_s) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw InputError(fmt::format("{} cannot be started", words[0]));
  if (limit_s > 0) {
    const rlimit no_core{0, 0};
    const rlimit cpu{static_cast<rlim_t>(limit_s), static_cast<rlim_t>(limit_s)};
    ::prlimit(child, RLIMIT_CORE, &no_core, nullptr);
    ::prlimit(child, RLIMIT_CPU, &cpu, nullptr);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  Cost cost;
  cost.user_s = seconds_of(used.ru_utime);
  cost.cpu_s = cost.user_s + seconds_of(used.ru_stime);
  cost.peak_mb = static_cast<double>(used.ru_maxrss) / 1024;
  // With equal limits the kernel sends SIGKILL, or SIGXCPU first.
  cost.stopped = limit_s > 0 && WIFSIGNALED(status) && cost.cpu_s >= 0.99 * limit_s &&
                 (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  if (status != 0 && !cost.stopped) throw InputError(fmt::format("{} fails: {}", words[0], fmt::join(words, " ")));
  return cost;
}

void copy(const std::string& from, const std::string& to) {
  const auto source = open_source(from);
  const auto sink = open_sink(to);
  std::vector<char> block(std::size_t{256} * 1024);
  for (std::size_t got = 1; got > 0;) {
    got = source->read(block.data(), block.size());
    sink->write({block.data(), got});
  }
  sink->close();
}

std::uint64_t records_of(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.empty() || line[0] == ';' ? 0u : 1u;
  return count;
}

Words all_policies() {
  Words names;
  for (const PolicyEntry& policy : policies())
    if (!make_policy(policy.name).policy->traits().follows_log) names.emplace_back(policy.name);  // these have no log
  return names;
}

std::string lublin(const TemporaryFolder& folder, const std::string& replay, std::uint64_t jobs,
                   std::uint64_t processors, const char* load) {
  std::string path = (folder / "lublin.swf").string();
  run({replay, "generate", "lublin", "--jobs", fmt::to_string(jobs), "--machine-size", fmt::to_string(processors),
       "--load", load, "--force", "-o", path});
  return path;
}

}  // namespace replay::bench
