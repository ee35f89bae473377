// The program that is run for a traced job: `--program` for all jobs, else the trace's own Program table, else the
// benchmark `phases` with exactly the job's run time and CPU use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment/consent.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/workload.hpp"

namespace replay::experiment {

/// The words of a command line (base/text/shell_words.hpp). Throws InputError on an open quote or an empty command.
[[nodiscard]] std::vector<std::string> split_command(std::string_view text);

/// Whether a command begins with the bare name of a benchmark of ours; no program on the PATH can replace it. Throws
/// InputError as split_command().
[[nodiscard]] bool runs_own_benchmark(std::string_view command);

/// The number behind `name` in what a benchmark of ours has printed. Throws std::runtime_error when there is none.
[[nodiscard]] double benchmark_figure(const std::string& output, const std::string& name);

class Programs {
 public:
  /// Where programs are looked up: kElsewhere: a bare name is left to the nodes, and a path is the same there.
  enum class Place : std::uint8_t { kHere, kElsewhere };
  /// `everywhere`: the text of --program, or empty. `table`: SWF field 14 to command line.
  Programs(std::string everywhere, std::map<std::int32_t, std::string> table, double time_scale, std::uint64_t seed,
           Place place = Place::kHere);

  /// The command of a job with `processes` processes, its program found. {runtime} is its run time with as many. Throws
  /// InputError naming the job and the program that is not there.
  [[nodiscard]] std::vector<std::string> command(const TracedJob& traced, ProcessCount processes) const;
  /// With the submitted processes.
  [[nodiscard]] std::vector<std::string> command(const TracedJob& traced) const {
    return command(traced, traced.job.processes);
  }

  /// The programs of these jobs, each once, in alphabetical order.
  [[nodiscard]] std::vector<std::string> needed_by(const Workload& workload) const;

  /// Commands of the trace's table that jobs of `workload` run and that are no benchmark of ours: the file may name any
  /// program of this machine. One line each, fit for a terminal, in the order of their numbers. None with --program.
  [[nodiscard]] std::vector<std::string> named_by_trace(const Workload& workload) const;

  /// Whether some job of `workload` runs a program with a run time that does not depend on the time scale.
  [[nodiscard]] bool has_fixed_durations(const Workload& workload) const;

 private:
  [[nodiscard]] std::string text(const TracedJob& traced) const;

  std::string everywhere_;
  std::map<std::int32_t, std::string> table_;
  double time_scale_;
  std::uint64_t seed_;
  Place place_;
};

/// The path of the program that a command names; on other nodes that of a benchmark of ours, a path made absolute, or
/// the name. Nothing: there is no such program.
[[nodiscard]] std::optional<std::string> program_for(const std::string& name, Programs::Place place);

/// Asks to run what Programs::named_by_trace() has found in the trace `file`.
[[nodiscard]] Request request_for_programs(const std::string& file, std::vector<std::string> named);

}  // namespace replay::experiment
