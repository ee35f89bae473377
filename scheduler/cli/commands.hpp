// The sub-commands. Each adds its options to a CLI11 command and returns what to run once they are parsed; the result is
// the exit status: 0 done, 1 something failed, 2 wrong usage, 128 and the signal's number when a signal ended it early
// (scheduler/base/process/stop_signals.hpp).
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;  // its header takes four seconds to compile
}  // namespace CLI

namespace replay::cli {

using Command = std::function<int()>;

/// Runs expected to take longer than this, in real seconds, need --yes.
inline constexpr double kLongRun = 3600;

/// What --json prints.
void print_json(const nlohmann::ordered_json& json);

/// At program start: what simulations may use of a build that starts real programs.
void prepare_runtime();

/// `replay` itself: the trace on real cores. `command_line` goes into run.json.
[[nodiscard]] Command add_run(CLI::App& app, const std::string& command_line);
[[nodiscard]] Command add_simulate(CLI::App& app, const std::string& command_line);
/// The real run and the simulation side by side.
[[nodiscard]] Command add_validate(CLI::App& app);
/// `replay trace ...`: each command that works on a trace adds itself to it.
[[nodiscard]] Command add_trace(CLI::App& app);
[[nodiscard]] Command add_trace_declare(CLI::App& trace);
[[nodiscard]] Command add_trace_info(CLI::App& trace);
[[nodiscard]] Command add_trace_cut(CLI::App& trace);
[[nodiscard]] Command add_trace_scale(CLI::App& trace);
[[nodiscard]] Command add_trace_clean(CLI::App& trace);
[[nodiscard]] Command add_trace_sort(CLI::App& trace);
[[nodiscard]] Command add_trace_merge(CLI::App& trace);
[[nodiscard]] Command add_trace_validate(CLI::App& trace);
[[nodiscard]] Command add_trace_convert(CLI::App& trace);
[[nodiscard]] Command add_trace_match(CLI::App& trace);
[[nodiscard]] Command add_trace_forecast(CLI::App& trace);
/// `replay generate ...`: makes workloads from a model or a log.
[[nodiscard]] Command add_generate(CLI::App& app);
[[nodiscard]] Command add_generate_lublin(CLI::App& generate);
[[nodiscard]] Command add_generate_from_log(CLI::App& generate);
/// `replay sweep STUDY`.
[[nodiscard]] Command add_sweep(CLI::App& app);
/// `replay reproduce PAPER`.
[[nodiscard]] Command add_reproduce(CLI::App& app);
[[nodiscard]] Command add_agent(CLI::App& app);
/// A job script for Slurm.
[[nodiscard]] Command add_sbatch(CLI::App& app);
/// The scheduler as a service for jobs of users. `command_line` goes into run.json.
[[nodiscard]] Command add_serve(CLI::App& app, const std::string& command_line);
/// Measures this machine and writes the profile of the runtime model `calibrated`.
[[nodiscard]] Command add_calibrate(CLI::App& app);
[[nodiscard]] Command add_policies(CLI::App& app);
[[nodiscard]] Command add_models(CLI::App& app);
[[nodiscard]] Command add_benchmarks(CLI::App& app);
/// A schedule checked against a rule.
[[nodiscard]] Command add_audit(CLI::App& app);
/// Commands for jobs of the service: submit, list, cancel.
[[nodiscard]] Command add_submit(CLI::App& app);
[[nodiscard]] Command add_jobs(CLI::App& app);
[[nodiscard]] Command add_cancel(CLI::App& app);
/// One MPI program by hand.
[[nodiscard]] Command add_run_program(CLI::App& app);
/// Finished runs: a page to look at, a figure for a paper, outputs made from the event log, exports, two compared, one job's wait explained, one done again.
[[nodiscard]] Command add_report(CLI::App& app);
[[nodiscard]] Command add_plot(CLI::App& app);
[[nodiscard]] Command add_results(CLI::App& app);
[[nodiscard]] Command add_export(CLI::App& app);
[[nodiscard]] Command add_diff(CLI::App& app);
[[nodiscard]] Command add_why(CLI::App& app);
[[nodiscard]] Command add_rerun(CLI::App& app);

/// Adds a command to a group, or to `replay` itself.
using AddCommand = std::function<Command(CLI::App&)>;
/// Adds them all; the result runs the one that was chosen.
[[nodiscard]] Command add_commands(CLI::App& group, const std::vector<AddCommand>& adders);
/// A command that only groups these; its help names the next word `what`.
[[nodiscard]] Command add_group(CLI::App& app, const std::string& name, const std::string& about,
                                const std::string& what, const std::vector<AddCommand>& adders);

}  // namespace replay::cli
