// `replay run PROGRAM ARGS...`: runs one MPI program under vmlib, shrinks and expands it meanwhile, and reports the
// effect on its speed. The program's output is copied to ours byte by byte, and its exit status is ours; our own
// messages go to stderr, or into a file.

#include <fmt/core.h>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/calibrate/program/run.hpp"
#include "scheduler/calibrate/program/session.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::cli {
namespace {

void add_change_options(CLI::App& command, calibrate::ChangeTexts& changes) {
  const auto add = [&command](const char* name, std::vector<std::string>& times, const char* what) {
    add_texts(command, name, times, "TIME", what);
  };
  add("--shrink-at", changes.shrink_at, "shrink then: 5s, 200ms or 1min after MPI_Init; may be repeated");
  add("--expand-at", changes.expand_at, "expand again then; may be repeated");
  add_text(command, "--every", changes.every, "TIME", "shrink and expand in turn, so often, until the program ends");
  add("--suspend-at", changes.suspend_at, "stop all ranks then; may be repeated");
  add("--resume-at", changes.resume_at, "let them go on then; may be repeated");
}

}  // namespace

Command add_run_program(CLI::App& app) {
  CLI::App& command = add_command(
      app, "run", "one MPI program by hand, shrunk and expanded while it runs: `run PROGRAM ARGS...`",
      "The rest of the line is the program and its arguments: replay run [OPTIONS] PROGRAM [ARGS...]\n"
      "PROGRAM is one of `replay benchmarks`, a path, or on the PATH. Nothing comes on its standard input, its output "
      "is passed on,\n"
      "its exit status is ours; 127: it could not be started, 130: Ctrl-C (143: SIGTERM, 129: SIGHUP).\n\n"
      "Examples:\n"
      "  replay run --shrink-at 2s --expand-at 4s cg --class W --repeat 60\n"
      "  replay run -n 4 --every 500ms ./my_program");
  command.prefix_command();
  auto request = std::make_shared<calibrate::ProgramRequest>();
  add_count(command, "-n", request->ranks, 1, REPLAY_VM_MAX_RANKS, "ranks")->type_name("RANKS");
  command.add_flag("--vm,!--no-vm", request->with_vmlib, "with vmlib (default), or as with stock MPI, for comparison");
  add_text(command, "--cores", request->cores, "LIST",
           "by OS index, such as 0-3,5 (default: this machine's, one per rank)");
  add_change_options(command, request->changes);
  add_count(command, "--to", request->shrink_to, 1, 1 << 20, "cores that are left when shrunk (default: half of them)")
      ->type_name("CORES");
  add_options_of_run(command, request->run,
                     {"--pairing", "--smt", "--back-end", "--quantum", "--job-network", "--label", "--machine"});
  add_host_options(command, request->run);
  add_texts(command, "--env", request->environment, "NAME=VALUE", "for the ranks: NAME=VALUE; may be repeated");
  command.add_flag("--json", request->json, "the report as JSON, on stdout; the program's output then goes to stderr");
  add_text(command, "--report", request->report, "FILE", "write the report here; the program's output stays as it is");
  return [request, &command] {
    request->command = command_words(command);
    const std::string& name = request->command.front();
    if (const auto data = data_instead_of_program(name)) {
      fmt::print(stderr, "replay: {}: {}\n", visible_text(name), clean_lines(*data));
      return calibrate::kCannotStart;
    }
    return calibrate::run_program(*request,
                                  [](const std::string& line) { fmt::print(stderr, "{}\n", clean_lines(line)); });
  };
}

}  // namespace replay::cli
