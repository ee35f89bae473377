// `replay calibrate`: measures the benchmarks on this machine, or on hosts, and writes the figures to its profile, which
// the runtime model `calibrated` and `replay trace match` read. The profile is written after every figure and an existing
// profile is extended: an interrupted run loses one measurement, and the same command continues it.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/calibrate/report.hpp"
#include "scheduler/calibrate/session.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::cli {
namespace {

struct CalibrateGiven {
  calibrate::SessionOptions session;
  bool json = false;
};

void announce(const calibrate::Session& session) {
  for (const std::string& remark : session.remarks()) fmt::print(stderr, "replay: {}\n", remark);
  const experiment::RealMachine& machine = session.machine();
  for (const std::string& note : machine.notes()) fmt::print(stderr, "note: {}\n", note);
  if (!machine.is_here()) fmt::print(stderr, "note: what other programs use of the hosts is not watched\n");
  if (!session.has_vmlib()) fmt::print(stderr, "note: without vmlib nothing that shares cores is measured\n");
  const std::vector<calibrate::Measurement> open = session.open();
  const double budget = session.limits().budget_s;
  fmt::print(stderr, "{}: {} measurements to make, {} are there; about {}, at most {}\n", machine.description(),
             open.size(), session.plan().size() - open.size(),
             about_text(std::min(expected_seconds(open, session.profile().profile()), budget)), about_text(budget));
  fmt::print(stderr, "figures are kept in {} as they come; stopped, the same command goes on from there\n",
             session.profile().path().string());
}

void tell(const calibrate::Session& session, const calibrate::CalibrationResult& result, bool json) {
  const Profile& profile = session.profile().profile();
  if (json)
    print_json(to_json(profile));
  else
    fmt::print("{}", calibrate::profile_text(profile, session.limits().spread));
  std::FILE* const out = json ? stderr : stdout;
  const std::string rest = calibrate::result_text(result, session.limits().spread);
  if (!rest.empty()) fmt::print(out, "\n{}", rest);
  if (result.measured == 0 && result.kept > 0 && !result.interrupted)
    fmt::print(out, "\nall that was asked for is there already; --fresh measures it anew\n");
  if (result.measured > 0)
    fmt::print(out, "\n{} measured, {} kept: {}\n", result.measured, result.kept, session.profile().path().string());
}

int run(const CalibrateGiven& given) {
  if (const double spread = given.session.spread; !(spread > 0 && spread <= 100))
    throw UsageError(fmt::format("--spread: expected per cent above 0 and up to 100, found {}", spread));
  calibrate::Session session{given.session};
  const HeedStops heeding;
  announce(session);
  calibrate::CalibrationResult result;
  {
    terminal::ProgressLine progress;
    result = session.measure([&](const calibrate::Measurement& m, std::size_t index, double elapsed_s) {
      progress.show(fmt::format("[{}/{}] {}; {} of at most {}", index + 1, session.plan().size(), to_text(m),
                                about_text(elapsed_s), about_text(session.limits().budget_s)));
    });
  }
  tell(session, result, given.json);
  if (result.interrupted) return exit_status_after_stop();
  return result.failed > 0 || (result.measured == 0 && result.kept == 0 && result.unsettled.empty()) ? 1 : 0;
}

}  // namespace

Command add_calibrate(CLI::App& app) {
  CLI::App& command = add_command(
      app, "calibrate", "measure the benchmarks on this machine: a profile for --runtime-model calibrated",
      "The profile is added to after every figure: Ctrl-C keeps what there is, and the same command goes on.\n"
      "Examples: replay calibrate\n"
      "          replay calibrate --benchmarks ep,cg --classes S,W --processes 1,2 --budget 3min -o mine.json");
  auto given = std::make_shared<CalibrateGiven>();
  add_options_of_run(command, given->session.run, {"--machine"});
  add_node_options(command, given->session.run);
  add_host_options(command, given->session.run);
  command.get_option("--machine")
      ->description(
          "whose cores: local, local:CORES by OS index, hosts:FILE, slurm, pbs, agent:HOST:PORT; on "
          "emulated:NODESxPACKAGESxCORES only launch, end, resizes and messages are measured (default local)");
  add_text(command, "--benchmarks", given->session.benchmarks, "LIST",
           "some of ep,cg,is,mg,ft,lu (default: all that are installed)");
  add_text(command, "--classes", given->session.classes, "LIST", "problem sizes, some of S,W,A,B (default S,W,A)");
  add_text(command, "--processes", given->session.processes, "LIST",
           "such as 1,2,4 (default: every size up to 16, then powers of two)");
  constexpr DurationRange kBudget{.least = Duration{1}, .expected = "a duration such as 90s or 15min"};
  add_duration(command, "--budget", "T", given->session.budget, kBudget,
               "nothing is begun that would not end within it (default 15min)");
  command.add_option("--spread", given->session.spread, "repeat until a figure's readings lie within so many per cent")
      ->type_name("PERCENT")
      ->capture_default_str();
  auto* quick = command.add_flag("--quick", given->session.quick, "class S only, in two minutes");
  command.add_flag("--full", given->session.full, "class B too, up to four hours; says how long")->excludes(quick);
  command.add_flag("--fresh", given->session.fresh, "measure all anew, and replace the profile");
  add_text(command, "-o", given->session.out, "FILE",
           "the profile (default: replay/profile.json in the user's data folder)");
  command.add_flag("--json", given->json, "print the profile as JSON");
  return [given] { return run(*given); };
}

}  // namespace replay::cli
