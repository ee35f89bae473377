// A small stand-in for the node agent: makes a job's segment and socket in a private folder, answers the ranks of one
// job, and lets a test give orders and read reports. It moves no process and checks as an agent must: key, version,
// rank, and each slot once. Slot = world rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/protocol/wire.h"

namespace replay::test {

class VmHost {
 public:
  /// Listens and answers from here on, on a thread of its own. Throws std::system_error if the folder cannot be made.
  explicit VmHost(std::uint32_t ranks, std::uint32_t polls_before_yield = 20);
  ~VmHost();
  VmHost(const VmHost&) = delete;
  VmHost& operator=(const VmHost&) = delete;

  /// What a rank must find in its environment, REPLAY_VM_* (not LD_PRELOAD).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  [[nodiscard]] std::string socket_path() const { return (folder_ / "socket").string(); }
  [[nodiscard]] std::string segment_path() const { return (folder_ / "segment").string(); }
  [[nodiscard]] std::string key_text() const;
  [[nodiscard]] replay_vm_segment& segment() { return *segment_; }

  void share(std::uint32_t slot, bool shared, std::int32_t core = 0);
  void share_all(bool shared);

  /// One moment of a rank's half of its slot; the state is read first, with acquire order.
  [[nodiscard]] replay_vm_report report(std::uint32_t slot) const;
  /// Polls until the slot says `state`. False: not within `limit`.
  [[nodiscard]] bool reaches(std::uint32_t slot, replay_vm_state state,
                             std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

  [[nodiscard]] std::vector<replay_vm_hello> accepted() const;
  /// The negative answers given, in order.
  [[nodiscard]] std::vector<std::int32_t> refusals() const;
  /// Streams that have come to their end: ranks that are gone.
  [[nodiscard]] int ended() const;

 private:
  void serve(const std::stop_token& stop);
  std::int32_t verdict(const replay_vm_hello& hello);
  /// False: this stream is over.
  bool answer(int stream);

  std::filesystem::path folder_;
  std::uint32_t ranks_;
  replay_vm_segment* segment_ = nullptr;
  std::size_t bytes_ = 0;
  int listener_ = -1;

  mutable std::mutex mutex_;
  std::vector<replay_vm_hello> accepted_;
  std::vector<std::int32_t> refusals_;
  int ended_ = 0;

  std::jthread thread_;  // last: stops before anything it uses goes
};

}  // namespace replay::test
