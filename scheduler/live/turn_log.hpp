// What a real run has read from outside, in the order in which it took effect: instants, reports of the executor, jobs and
// cancellations of the source, stop signals, refusals of the site. All else follows from it, so that a run that is played back
// from its turn log makes the same decisions, gives the same orders and writes the same event log
// (docs/adr/0034-inputs-before-orders.md). docs/formats/turn-log.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/record_file.hpp"
#include "scheduler/model/units.hpp"

namespace replay::live {

/// The run is not as it was when the turn log was written: other inputs, another policy, another version.
class TurnLogDiffers : public InputError {
 public:
  using InputError::InputError;
};

/// The disk takes no turns, and a stop signal came that is not on it. What was read since the last turn there has had no effect, and
/// the jobs are to be left to the next daemon.
class StoppedWithoutDisk : public InputError {
 public:
  using InputError::InputError;
};

class TurnLog {
 public:
  enum class Kind : std::uint8_t {
    kTurn,       ///< an instant: what has come so far takes effect
    kClock,      ///< an instant that was read meanwhile
    kExecutor,   ///< ExecutorListener::on_input()
    kSubmit,     ///< a job that the source gave
    kCancel,     ///< a cancellation that it gave
    kStops,      ///< how many stop signals have come, and the first one
    kRefusal,    ///< RunOptions::order has refused a job: how, and why
    kNote,       ///< a line for the user
    kAnswer,     ///< of a program that is the policy
    kStartable,  ///< whether a job that was put off can be started
    kOrder,      ///< an order that was given: no input, but what follows from them
    kAdopt       ///< a job that the run has begun with
  };
  struct Input {
    Kind kind;
    std::string text;
  };
  static constexpr Kind kLastKind = Kind::kAdopt;

  /// Makes the file, whose first record `about` is: what is needed to find the run's jobs again. `before`: of a run that begins
  /// with jobs of another one. `warn` gets a line when it cannot be written, and when it can be again. Throws InputError.
  TurnLog(const std::filesystem::path& file, const std::string& about, std::function<void(const std::string&)> warn,
          std::vector<Input> before = {});
  /// The turn log of a run that goes on: its inputs are to be played back first. Throws InputError: it is damaged, or
  /// another process has it.
  TurnLog(const std::filesystem::path& file, std::function<void(const std::string&)> warn);

  [[nodiscard]] const std::string& about() const { return about_; }
  /// It is that of a run that goes on, if only from its very beginning.
  [[nodiscard]] bool goes_on() const { return goes_on_; }

  /// What the executor of the run before was told, and has told, and the jobs that are adopted (adoption.hpp). Empty: the run has
  /// begun with none.
  [[nodiscard]] const std::vector<Input>& before() const { return before_; }

  /// Whether inputs are left that are to be played back.
  [[nodiscard]] bool is_playing() const { return next_ < past_.size(); }
  /// REQUIRES: is_playing().
  [[nodiscard]] const Input& next() const { return past_[next_]; }
  Input take();
  /// The next one, if it is of this kind; nothing if it is not, or none is left.
  std::optional<std::string> take_if(Kind kind);

  /// What is read: `now`, which is kept; while inputs are played back, what was read then. Throws TurnLogDiffers.
  [[nodiscard]] std::int64_t reading(Kind kind, std::int64_t now);
  /// The same of kStops.
  [[nodiscard]] int stops(int now);
  /// Of the run, whichever daemon has got it; 0: none is known.
  [[nodiscard]] int first_stop() const { return first_stop_; }
  /// REQUIRES: not is_playing().
  void add(Kind kind, std::string_view text);
  /// What was added is on disk when it returns: waits until the disk takes it. Throws StoppedWithoutDisk: then nothing may be
  /// added any more.
  void secure();

  /// "turn 17 (12.5 s): expected a submission, found the end".
  [[noreturn]] void differs(std::string_view expected, std::string_view found) const;

 private:
  std::filesystem::path path_;
  std::function<void(const std::string&)> warn_;
  std::optional<RecordFile> file_;
  std::string about_;
  bool goes_on_ = false;
  std::vector<Input> before_;
  std::vector<Input> past_;
  std::size_t next_ = 0;
  std::size_t turns_ = 0;     // played back
  std::string instant_{"0"};  // of the last of them, us
  std::string unsaved_;
  int stops_ = 0, stops_on_disk_ = 0;  // stop signals that were added, of the daemons before this one too
  int stops_before_ = 0;               // this one
  int first_stop_ = 0;
};

/// The inputs of a turn log after its first record, those of before() included. Throws InputError.
[[nodiscard]] std::vector<TurnLog::Input> read_turns(const std::filesystem::path& file);

}  // namespace replay::live
