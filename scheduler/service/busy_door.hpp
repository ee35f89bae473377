// Answers clients while the thread of the service's loop is busy: a policy may compute a decision for minutes, and until
// then the door (door.hpp) takes no client. A thread of its own refuses their requests, of which nothing is carried out, and
// says since when the service is busy.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace replay::service {

class BusyDoor {
 public:
  /// `socket` listens and outlives this. The loop is busy if it has not called beat() for so long. Throws std::system_error.
  BusyDoor(int socket, std::chrono::milliseconds patience);
  BusyDoor(const BusyDoor&) = delete;
  BusyDoor& operator=(const BusyDoor&) = delete;
  ~BusyDoor();

  /// The loop turns. Of the loop's thread.
  void beat() { last_beat_ = std::chrono::steady_clock::now().time_since_epoch(); }

 private:
  using Clock = std::chrono::steady_clock;
  void serve(const std::stop_token& stop);
  [[nodiscard]] Clock::duration busy_for() const { return Clock::now().time_since_epoch() - last_beat_.load(); }
  void answer_one() const;

  int socket_;
  std::chrono::milliseconds patience_;
  std::atomic<Clock::duration> last_beat_{Clock::now().time_since_epoch()};
  std::jthread thread_;
};

}  // namespace replay::service
