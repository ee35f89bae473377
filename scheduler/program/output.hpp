// Where the output of a program that is run by hand goes, and where ours does: the agent has the program write into a
// folder, from where it is passed on as it comes; the report goes to stderr, to stdout as JSON, or into a file. Stop
// signals are heeded here, too.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "launcher/loop/loop_event.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/program/output_follower.hpp"
#include "scheduler/program/report.hpp"
#include "scheduler/program/run.hpp"

namespace replay::program {

/// The program's output as it comes, and stop signals that are heeded: the first one ends the program, the second one at once
/// (SIGKILL), and the third one stops the loop. When the reader of the output has gone, the program is ended as well.
class ProgramTerminal {
 public:
  /// Stdout of the program in `folder` goes to `out`, its stderr to ours. REQUIRES: a StopSignals, which ignores SIGPIPE.
  ProgramTerminal(event_base* loop, const std::filesystem::path& folder, int out, ProgramRun& run);

  void pass_on();
  /// The errno of passing its output on; 0: all was passed on.
  [[nodiscard]] int output_error() const { return out_.error() != 0 ? out_.error() : err_.error(); }

 private:
  void heed_stops();

  event_base* loop_;
  ProgramRun& run_;
  OutputFollower out_;
  OutputFollower err_;
  int stops_heeded_ = 0;
  bool is_unread_ = false;
  launcher::LoopEvent look_event_;
  launcher::LoopEvent stop_event_;
};

class ReportOutput {
 public:
  /// Opens `file`, if it is not empty, before the program is started: afterwards it would be too late to complain. Throws
  /// InputError.
  ReportOutput(const std::string& file, bool is_json);

  /// Where the program's stdout has to go so that it does not mix with the report.
  [[nodiscard]] int program_output() const;
  /// Once. Throws InputError or std::system_error.
  void write(const ProgramSettings& settings, const ProgramHistory& history);

 private:
  bool is_json_;
  std::optional<WholeFile> file_;
};

}  // namespace replay::program
