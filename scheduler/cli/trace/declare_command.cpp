// `replay trace declare FILE`: adds what jobs declare beyond a log.

#include <fmt/core.h>

#include <cstdint>
#include <limits>
#include <map>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "scheduler/runtime_model/benchmark_jobs.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "traces/declare/declare_trace.hpp"
#include "traces/declare/options.hpp"
#include "traces/history.hpp"

namespace replay::cli {
namespace {

struct DeclareGiven : TraceFiles {
  DeclareOptions declare;
  std::string profile;  // empty: none
};

// The curves that a calibration fitted to the programs of the trace, by executable. Throws InputError for a profile that
// cannot be read, and for one that has no speedup of any of them.
std::map<std::int32_t, SpeedupCurve> measured_curves(const std::string& profile, const SwfHeader& header) {
  const Profile measured = read_profile(profile);
  std::map<std::int32_t, SpeedupCurve> curves;
  for (const auto& [executable, command] : header.programs())
    if (const ProfileSpeedup* const speedup = speedup_of(measured, command)) curves.emplace(executable, speedup->fit);
  if (curves.empty())
    throw InputError(
        fmt::format("{}: expected the speedup of a program of the trace, found none of them there; `replay "
                    "calibrate -o {}` measures benchmarks, and a header line `; Program: 0 ep --class S` names "
                    "the program of jobs",
                    profile, profile));
  return curves;
}

void report(const Declarer& declarer, const TraceReader& reader) {
  fmt::print(
      stderr, "declared for {}; {} as before\n", counted(declarer.jobs(), "job"),
      counted(declarer.others(), "record that is no job that ran stays", "records that are no jobs that ran stay"));
  report_odd_lines(odd_line_report(reader));
}

void declare_all(TraceReader reader, Declarer& declarer, const DeclareGiven& given) {
  SwfHeader header = reader.header();
  if (!given.profile.empty()) declarer.use_curves(measured_curves(given.profile, header));
  TraceWriter writer = create_trace(given.output);
  declarer.declare(header);
  if (!given.profile.empty()) note_history(header, "replay trace declare --profile, curves of a calibration");
  declare_trace(reader, declarer, header, writer);
  writer.close();
  report(declarer, reader);
  if (!given.profile.empty())
    fmt::print(stderr, "{} with a curve of {}\n", counted(declarer.measured(), "job"), given.profile);
}

void report(const AssignedEstimates& assigned) {
  if (assigned.raised > 0)
    fmt::print(stderr, "{} raised: the model had too few that are long enough\n", counted(assigned.raised, "estimate"));
  if (assigned.beyond_limit > 0)
    fmt::print(stderr, "{} longer than the longest estimate, and will be over the request\n",
               counted(assigned.beyond_limit, "job runs", "jobs run"));
}

int declare(DeclareGiven& given) {
  given.declare.with_others = !given.profile.empty();
  const Declarations declarations = declarations_of(given.declare);
  const bool needs_all_jobs = declarations.estimates && std::holds_alternative<TsafrirRule>(*declarations.estimates);
  if (!needs_all_jobs) {
    TraceReader reader = open_trace(given.input);
    Declarer declarer(declarations, reader.header());
    declare_all(std::move(reader), declarer, given);
    return 0;
  }
  const RereadableTrace trace = rereadable_trace(given.input);
  TraceReader reader = trace.open();
  Declarer declarer(declarations, reader.header());
  auto assigned = assigned_estimates(declarations, trace);
  report(*assigned);
  declarer.use_estimates(std::move(assigned->estimates));
  declare_all(std::move(reader), declarer, given);
  return 0;
}

void add_declarations(CLI::App& command, DeclareOptions& given, std::string& profile) {
  const char* group = "Speedup and flexibility";
  const auto add = [&](const char* name, auto& value, const char* text, const char* type) {
    command.add_option(name, value, text)->type_name(type)->group(group);
  };
  add("--speedup", given.speedup, "three-point (SCOJO-P), downey (Cirne-Berman) or linear", "MODEL");
  add("--constraint", given.constraint, "downey: sizes on offer: none, power-of-two or survey (default: none)", "MODE");
  add("--sigma-factor", given.sigma_factor, "downey: times every sigma (default: 1)", "K");
  add("--moldable", given.moldable,
      "share of moldable jobs, 0.8 or short=0,medium=0.5,long=1 (default with --speedup: 1)", "SHARE");
  add("--malleable", given.malleable, "share of malleable jobs, likewise; the rest is rigid", "SHARE");
  add("--profile", profile, "of replay calibrate: jobs that run a benchmark of it are moldable by its measured curve",
      "FILE");
  group = "Other declarations";
  add("--estimates", given.estimates, "log, perfect, factor:F or tsafrir[:parameters=ctc|kth|sdsc|blue][:emax=T]",
      "MODEL");
  add("--cpu-util", given.cpu_util, "[logged-else:]DIST, DIST: constant:V, uniform:LOW:HIGH or normal:MEAN:DEVIATION",
      "DIST");
  add("--serial-cpu-util", given.serial_cpu_util, "of serial jobs (default: constant:1)", "DIST");
  add("--ov", given.ov, "network overhead OV: uniform, or another DIST", "DIST");
  add("--contention", given.contention, "table4: SL_scr, SL_sno and a key for SL_cos (G-LOMARC-TS)", "table4");
  add("--size-rule", given.size_rule, "glomarc:cores=4[:round=integer]: sizes for multi-core nodes (its formula 7)",
      "RULE");
  add("--priority", given.priority, "every=5,user=1,political=1: each 5th job, the others 0 (slack paper)", "RULE");
}

}  // namespace

Command add_trace_declare(CLI::App& trace) {
  CLI::App& command = add_command(
      trace, "declare", "add what jobs declare beyond a log: speedup, estimates, contention ...",
      "Example: replay trace declare w1.swf --speedup three-point --moldable 0.8 --estimates tsafrir -o w1-80.swf\n"
      "docs/declarations.md has the laws, constants and sources.");
  auto given = std::make_shared<DeclareGiven>();
  add_trace_files(command, *given);
  add_count(command, "--seed", given->declare.seed, 0, std::numeric_limits<std::uint64_t>::max(),
            "of all that is drawn");
  command.add_option("--machine-size", given->declare.machine_size, "processors (default: the header's)")
      ->type_name("COUNT");
  add_declarations(command, given->declare, given->profile);
  return [given] { return declare(*given); };
}

}  // namespace replay::cli
