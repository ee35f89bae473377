// Fixture for tests of failures: brings a job into a situation and checks its end. The end is reported once and with
// the right outcome; the job's cores are free, so that the next job runs on them; and nothing of it is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {

/// What job 7, of two ranks, is doing.
enum class Situation : std::uint8_t { kInit, kComputing, kShrunk, kSuspended, kShrunkAndSuspended };
enum class Victim : std::uint8_t { kRank0, kRank1, kMpiexec, kProxy };
std::string name_of(Situation situation);
std::string name_of(Victim victim);
inline std::ostream& operator<<(std::ostream& out, Situation s) { return out << name_of(s); }
inline std::ostream& operator<<(std::ostream& out, Victim v) { return out << name_of(v); }

class Failures : public Launcher {
 protected:
  using Clock = std::chrono::steady_clock;

  /// Lowers the time limit for registration, by default to a third, for programs that never register.
  void expect_registrations_soon(std::chrono::milliseconds limit = std::chrono::milliseconds{1500});

  /// Launches job 7 and waits until it is in this situation.
  void bring_to(Situation situation);
  [[nodiscard]] pid_t pid_of(Victim victim) const;
  void send(Victim victim, int signal);

  /// The order that a used-up estimate, a cancellation and so on give.
  void order_end(Outcome outcome);

  /// Waits for the job's end, then checks all of it. `reason` must be part of the reported reason. After an order to
  /// end the job, or a signal to one of its processes, this prints how long the end took.
  void expect_end(Outcome outcome, const std::string& reason);
  /// Checks that nothing of the job is left and that its cores can be used.
  void expect_nothing_left();
  void expect_rigid_because(const std::string& reason);

 private:
  [[nodiscard]] std::optional<std::uint32_t> state_of(std::uint32_t slot) const;
  [[nodiscard]] bool has_segment() const;

  std::optional<Clock::time_point> since_;  // the failure, or the order to end
  bool is_ordered_ = false;
};

}  // namespace replay::launcher
