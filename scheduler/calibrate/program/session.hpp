// Runs one MPI program by hand: chooses its cores, starts or finds the agents, carries out the changes, passes the
// program's output on and writes the report. The program's exit status is the result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/calibrate/program/change_plan.hpp"
#include "scheduler/experiment/run_spec.hpp"

namespace replay::calibrate {

/// As on the command line of `replay run`.
struct ProgramRequest {
  std::vector<std::string> command;  ///< the program and its arguments
  int ranks = 2;
  bool with_vmlib = true;
  std::string cores;        ///< of this machine, by OS index; empty: the machine's
  experiment::RunSpec run;  ///< its machine, and how that is used
  ChangeTexts changes;
  int shrink_to = 0;                     ///< cores; 0: half of those of each node
  std::vector<std::string> environment;  ///< NAME=VALUE, for the ranks
  std::string report;                    ///< file; empty: the report goes to the terminal
  bool json = false;                     ///< the report as JSON on stdout; then there are no messages meanwhile
};

/// Gets each message for the user, a line without its end.
using Say = std::function<void(const std::string&)>;

/// The exit status: that of the program, or as a shell reports it. 127: it could not be started; 128 and the signal's
/// number after a stop signal, or if the output has no reader any more. REQUIRES: a StopSignals, and a single thread: the
/// agent is forked. On other hosts the current folder has to be the same. Throws UsageError, InputError.
[[nodiscard]] int run_program(const ProgramRequest& request, const Say& say);

}  // namespace replay::calibrate
