// Output of `replay run`: copies the program's output from the agent's folder to the terminal as it grows; writes the
// report to stderr, to stdout as JSON, or into a file. Handles stop signals, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/calibrate/program/output_follower.hpp"
#include "scheduler/calibrate/program/report.hpp"
#include "scheduler/calibrate/program/run.hpp"

namespace replay::calibrate {

/// Copies the program's output as it grows and handles stop signals: the first one ends the program, the second one at
/// once (SIGKILL), the third one stops the loop. If the output cannot be written any more, the program is ended as
/// well.
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
  LoopEvent look_event_;
  LoopEvent stop_event_;
};

class ReportOutput {
 public:
  /// Opens `file`, if it is not empty, so that an error shows before the program is started. Throws InputError.
  ReportOutput(const std::string& file, bool is_json);

  /// Where the program's stdout has to go so that it does not mix with the report.
  [[nodiscard]] int program_output() const;
  /// Call it once. Throws InputError or std::system_error.
  void write(const ProgramSettings& settings, const ProgramHistory& history);

 private:
  bool is_json_;
  std::optional<WholeFile> file_;
};

}  // namespace replay::calibrate
