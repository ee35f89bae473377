#include "scheduler/experiment/programs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/model/job_sizes.hpp"

namespace replay::experiment {

std::optional<std::string> program_for(const std::string& name, Programs::Place place) {
  if (const auto ours = benchmark(name)) return ours->string();
  if (place == Programs::Place::kElsewhere)
    return name.find('/') == std::string::npos ? name : std::filesystem::absolute(name).string();
  const auto found = find_program(name);
  return found ? std::optional{found->string()} : std::nullopt;
}

std::vector<std::string> split_command(std::string_view text) {
  ShellWords command = split_words(text);
  if (command.open_quote != 0)
    throw InputError(fmt::format("command '{}': a {} is not closed", text, command.open_quote));
  if (command.words.empty()) throw InputError(fmt::format("command '{}': expected a program", text));
  return std::move(command.words);
}

bool runs_own_benchmark(std::string_view command) { return benchmark(split_command(command).front()).has_value(); }

double benchmark_figure(const std::string& output, const std::string& name) {
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string first;
    double number = 0;
    if (words >> first && first == name && words >> number) return number;
  }
  throw std::runtime_error(fmt::format("no row '{}' in a benchmark's output: {}", name, output));
}

Programs::Programs(std::string everywhere, std::map<std::int32_t, std::string> table, double time_scale,
                   std::uint64_t seed, Place place)
    : everywhere_(std::move(everywhere)),
      table_(std::move(table)),
      time_scale_(time_scale),
      seed_(seed),
      place_(place) {}

std::string Programs::text(const TracedJob& traced) const {
  if (!everywhere_.empty()) return everywhere_;
  if (const auto found = table_.find(traced.truth.executable); found != table_.end()) return found->second;
  return "phases --runtime {runtime} --cpu-use {cpu_use} --seed {seed}";
}

std::vector<std::string> Programs::command(const TracedJob& traced, ProcessCount processes) const {
  const auto id = static_cast<std::int64_t>(traced.job.id);
  std::vector<std::string> words = split_command(text(traced));
  for (std::string& word : words) {
    word = filled_in(std::move(word), "{n}", fmt::format("{}", processes));
    word = filled_in(std::move(word), "{id}", fmt::format("{}", id));
    word = filled_in(std::move(word), "{runtime}",
                     fmt::format("{:.6f}", seconds(runtime_at(traced, processes)) * time_scale_));
    word = filled_in(std::move(word), "{cpu_use}", fmt::format("{}", traced.truth.behaviour.cpu_use));
    word = with_seed(std::move(word), seed_ * 1'000'003 + static_cast<std::uint64_t>(id));
  }
  auto program = program_for(words[0], place_);
  if (!program)
    throw InputError(
        fmt::format("job {}: there is no program '{}': neither a benchmark of ours (in {}) nor on the PATH", id,
                    words[0], library_folder().string()));
  words[0] = std::move(*program);
  return words;
}

std::vector<std::string> Programs::needed_by(const Workload& workload) const {
  std::set<std::string> found;
  for (const TracedJob& traced : workload.jobs) found.insert(command(traced).front());
  return {found.begin(), found.end()};
}

std::vector<std::string> Programs::named_by_trace(const Workload& workload) const {
  if (!everywhere_.empty() || table_.empty()) return {};
  std::map<std::int32_t, std::size_t> jobs;
  for (const TracedJob& traced : workload.jobs)
    if (table_.contains(traced.truth.executable)) ++jobs[traced.truth.executable];
  std::vector<std::string> lines;
  for (const auto& [number, count] : jobs)
    if (const std::string& command = table_.at(number); !runs_own_benchmark(command))
      lines.push_back(fmt::format("Program {}, {}: {}", number, counted(count, "job"), visible_text(command)));
  return lines;
}

bool Programs::has_fixed_durations(const Workload& workload) const {
  return std::ranges::any_of(
      workload.jobs, [this](const TracedJob& traced) { return text(traced).find("{runtime}") == std::string::npos; });
}

Request request_for_programs(const std::string& file, std::vector<std::string> named) {
  return {.what = fmt::format("{} names programs that are no benchmarks of replay", visible_text(file)),
          .items = std::move(named),
          .option = "--programs-from-trace"};
}

}  // namespace replay::experiment
