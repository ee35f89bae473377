// The one owner of the signals that ask the program to stop: SIGINT (Ctrl-C), SIGTERM (a batch system at its limit) and
// SIGHUP (the terminal has gone). Outside of a HeedStops they end the program at once, by their default action, and
// names of unfinished files go first. Inside of one they are counted: the command ends its work early and writes what
// it has, and its exit status names the first signal. No other file of the program installs a handler for them; the
// node agent and the programs that jobs run are processes of their own.
#pragma once

#include <cstdint>
#include <string>

namespace replay {

/// Made by main before any thread, once at a time. A SIGHUP that the program was started to ignore (nohup) stays
/// ignored, and so does any of the three outside of a HeedStops. SIGPIPE and SIGXFSZ are ignored as long as it exists:
/// a reader that has gone and a limit of file sizes become errors of write().
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();
};

/// While one exists, signals are counted. The third or a later one ends the program all the same when five seconds have
/// passed since the first: a policy that never answers can be stopped. Nothing without a StopSignals.
class HeedStops {
 public:
  /// What happens to a signal that the program was started to ignore. A shell script starts background programs with
  /// SIGINT ignored. With kCounts `kill -INT` still ends a run there; with kStaysIgnored a Ctrl-C that was meant for
  /// the script does not end a service.
  enum class Ignored : std::uint8_t { kCounts, kStaysIgnored };

  explicit HeedStops(Ignored ignored = Ignored::kCounts);
  HeedStops(const HeedStops&) = delete;
  HeedStops& operator=(const HeedStops&) = delete;
  ~HeedStops();

 private:
  Ignored ignored_;
};

/// How many signals were counted since the StopSignals was made. Any thread.
[[nodiscard]] int stops_asked();
/// The first of them; 0: none.
[[nodiscard]] int stop_signal();
/// The last of them; 0: none.
[[nodiscard]] int last_stop_signal();
/// 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP: what a shell reports for a program that such a signal has
/// ended.
/// REQUIRES: stops_asked() > 0.
[[nodiscard]] int exit_status_after_stop();
/// The same of this signal.
[[nodiscard]] int exit_status_after_stop(int signal);
/// Whether a program with this exit status was ended by one of the three signals, or ended early because of it.
[[nodiscard]] bool is_exit_status_after_stop(int status);
/// Readable when a signal was counted after the last clear_stop_descriptor(): wakes event loops. -1 without a
/// StopSignals.
[[nodiscard]] int stop_descriptor();
void clear_stop_descriptor();

/// The file of this name is removed if a signal ends the program while this object exists. At most 64 objects at a time
/// have this effect.
class RemovedAtStop {
 public:
  explicit RemovedAtStop(std::string path);
  RemovedAtStop(const RemovedAtStop&) = delete;
  RemovedAtStop& operator=(const RemovedAtStop&) = delete;
  ~RemovedAtStop();

 private:
  std::string path_;
  int place_ = -1;  // -1: no place was free
};

}  // namespace replay
