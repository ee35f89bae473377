#include "scheduler/runtime_model/benchmark_jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/runtime_model/overheads.hpp"

namespace replay {
namespace {

constexpr std::size_t kMostNamed = 8;

// Blanks between words do not matter.
std::vector<std::string> words_of(std::string_view text) { return split_words(text).words; }

// Programs that last as long as the trace says.
bool follows_the_trace(const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  return words.empty() || words.front() == "phases" || command.find("{runtime}") != std::string::npos;
}

class BenchmarkSetter {
 public:
  BenchmarkSetter(const Profile& profile, const BenchmarkSetting& setting)
      : profile_(profile), setting_(setting), launch_(profile, &JobCosts::launch), end_(profile, &JobCosts::end) {
    for (const ProfileEntry& entry : profile.entries) commands_.push_back(words_of(entry.command));
  }

  BenchmarkJobs run(Workload& workload) {
    workload.jobs.change_each([this](TracedJob& traced) { set(traced); });
    if (profile_.launch.empty() || profile_.end.empty())
      result_.notes.push_back(
          fmt::format("{}: says nothing of launch and end, which count as 0; `replay calibrate -o {}` "
                      "measures them",
                      setting_.profile_name, setting_.profile_name));
    result_.notes.insert(result_.notes.end(), without_slowdown_.begin(), without_slowdown_.end());
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string command_of(const TracedJob& traced) const {
    if (!setting_.everywhere.empty()) return setting_.everywhere;
    const auto found = setting_.programs.find(traced.truth.executable);
    return found == setting_.programs.end() ? std::string{} : found->second;
  }

  void set(TracedJob& traced) {
    const std::string command = command_of(traced);
    if (follows_the_trace(command)) {
      if (setting_.adds_overheads)
        set_runtime(traced,
                    traced.truth.runtime + overheads(traced.job.processes, launch_.fewest_nodes(traced.job.processes)));
      return;
    }
    const std::size_t index = entry_of(traced, command);
    const ProfileEntry& entry = profile_.entries[index];
    ++result_.benchmarks;
    Behaviour& behaviour = traced.truth.behaviour;
    behaviour.application = static_cast<std::int32_t>(index);
    if (entry.cpu_use) behaviour.cpu_use = entry.cpu_use->value;
    traced.job.declared = behaviour;
    traced.truth.cut_at_request = false;  // the program has a run time of its own, whatever happened in the log
    set_runtime(traced, from_seconds(entry.runtime_s.value / setting_.time_scale) +
                            overheads(traced.job.processes, entry.nodes));
    if (traced.job.can_shrink() && number(entry.processes) > entry.nodes && !entry.slowdown_mpl_2)
      without_slowdown_.insert(
          fmt::format("{}: says nothing of two ranks on a core for {} at {} processes, where formula (3) stands for "
                      "it: `{}` measures it",
                      setting_.profile_name, entry.command, entry.processes,
                      calibrate_command(entry.benchmark, entry.problem_class, entry.processes)));
  }

  static void set_runtime(TracedJob& traced, Duration runtime) {
    if (traced.job.estimate == traced.truth.runtime) traced.job.estimate = runtime;
    traced.truth.runtime = runtime;
  }

  // In trace time.
  [[nodiscard]] Duration overheads(ProcessCount processes, int nodes) const {
    const double real = launch_.at(processes, nodes) + end_.at(processes, nodes);
    return from_seconds(real / setting_.time_scale);
  }

  [[nodiscard]] std::size_t entry_of(const TracedJob& traced, const std::string& command) const {
    const std::vector<std::string> words = words_of(command);
    const ProfileEntry* same_program = nullptr;
    for (std::size_t i = 0; i < profile_.entries.size(); ++i) {
      const ProfileEntry& entry = profile_.entries[i];
      if (commands_[i] != words) continue;
      if (entry.processes == traced.job.processes) return i;
      same_program = &entry;
    }
    fail(traced, command, words, same_program);
  }

  [[noreturn]] void fail(const TracedJob& traced, const std::string& command, const std::vector<std::string>& words,
                         const ProfileEntry* same_program) const {
    const auto id = static_cast<std::int64_t>(traced.job.id);
    const ProcessCount n = traced.job.processes;
    const std::string size = counted(n, "process", "processes");
    std::string name, problem_class;
    if (same_program != nullptr) {
      name = same_program->benchmark;
      problem_class = same_program->problem_class;
    } else if (words.size() == 3 && words[1] == "--class") {
      name = words[0];
      problem_class = words[2];
    }
    if (!name.empty())
      throw InputError(fmt::format("{}: job {} runs '{}' with {}, which was not measured: `{}` adds it",
                                   setting_.profile_name, id, command, size,
                                   calibrate_command(name, problem_class, n)));
    throw InputError(
        fmt::format("{}: job {} runs '{}' with {}, and the profile knows only {}; `replay trace match` gives "
                    "jobs programs that it knows, --runtime-model isolated needs none",
                    setting_.profile_name, id, command, size, known_commands()));
  }

  [[nodiscard]] std::string calibrate_command(const std::string& name, const std::string& problem_class,
                                              ProcessCount processes) const {
    return fmt::format("replay calibrate --benchmarks {}{}{} --processes {} -o {}", name,
                       problem_class.empty() ? "" : " --classes ", problem_class, processes, setting_.profile_name);
  }

  [[nodiscard]] std::string known_commands() const {
    std::vector<std::string> known;
    for (const ProfileEntry& entry : profile_.entries)
      if (std::ranges::find(known, entry.command) == known.end()) known.push_back(entry.command);
    if (known.empty()) return "no programs";
    const bool is_cut = known.size() > kMostNamed;
    known.resize(std::min(known.size(), kMostNamed));
    return fmt::format("{}{}", fmt::join(known, ", "), is_cut ? " and others" : "");
  }

  const Profile& profile_;
  const BenchmarkSetting& setting_;
  CostByNodes launch_, end_;
  std::vector<std::vector<std::string>> commands_;  // of the profile's entries, in words
  std::set<std::string> without_slowdown_;
  BenchmarkJobs result_;
};

}  // namespace

BenchmarkJobs set_benchmarks(Workload& workload, const Profile& profile, const BenchmarkSetting& setting) {
  return BenchmarkSetter{profile, setting}.run(workload);
}

const ProfileSpeedup* speedup_of(const Profile& profile, std::string_view command) {
  const std::vector<std::string> words = words_of(command);
  if (words.empty()) return nullptr;
  for (const ProfileEntry& entry : profile.entries) {
    if (words_of(entry.command) != words) continue;
    for (const ProfileSpeedup& speedup : profile.speedups)
      if (speedup.benchmark == entry.benchmark && speedup.problem_class == entry.problem_class) return &speedup;
  }
  return nullptr;
}

}  // namespace replay
