// A small stand-in for the node agent: makes a job's segment, the node's core segment, and a socket in a private
// folder, answers the ranks of one job, and lets a test give orders and read reports. It moves no process and takes no
// token away. It checks what an agent must check: key, version, rank, each slot once, and that ranks on emulated cores
// are fit for them. Slot = world rank.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::test {

/// Sends the welcome as an agent does; with a slot, the segments' descriptors go with its first byte.
bool send_welcome(int stream, replay_vm_welcome welcome, const std::array<int, REPLAY_VM_SEGMENTS>& segments);

class VmHost {
 public:
  /// Listens and answers from here on, on a thread of its own. Throws std::system_error if the folder cannot be made.
  explicit VmHost(std::uint32_t ranks, std::uint32_t polls_before_yield = 20, std::uint32_t cores = 4);
  ~VmHost();
  VmHost(const VmHost&) = delete;
  VmHost& operator=(const VmHost&) = delete;

  /// The environment that a rank needs, REPLAY_VM_* (not LD_PRELOAD).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  [[nodiscard]] std::string socket_path() const { return (folder_ / "socket").string(); }
  /// The host owns the descriptors.
  [[nodiscard]] int segment_fd() const { return segment_fd_; }
  [[nodiscard]] int cores_fd() const { return cores_fd_; }
  [[nodiscard]] std::string key_text() const;
  [[nodiscard]] replay_vm_segment& segment() { return *segment_; }
  [[nodiscard]] replay_vm_cores& cores() { return *cores_; }

  /// To call before the ranks start: makes the core segment invalid.
  void spoil_cores() { cores_->magic = 0; }
  /// To call before the ranks start: the cores are emulated ones.
  void emulate(std::uint32_t quantum_us = 10'000);

  void share(std::uint32_t slot, bool shared, std::int32_t core = 0);
  void share_all(bool shared);
  /// Puts the rank on `core`, at the seat with its slot's number; it gives its core away by the token.
  void seat(std::uint32_t slot, std::uint32_t core, bool shared = true);
  /// How often the core's token has changed hands.
  [[nodiscard]] std::uint64_t handovers(std::uint32_t core) const;

  /// A snapshot of a rank's half of its slot; the state is read first, with acquire order.
  [[nodiscard]] replay_vm_report report(std::uint32_t slot) const;
  /// Polls until the slot says `state`. False: not within `limit`.
  [[nodiscard]] bool reaches(std::uint32_t slot, replay_vm_state state,
                             std::chrono::milliseconds limit = std::chrono::seconds{10}) const;

  [[nodiscard]] std::vector<replay_vm_hello> accepted() const;
  /// The negative answers, in the order in which they were sent.
  [[nodiscard]] std::vector<std::int32_t> refusals() const;
  /// Streams at end of file: their ranks have exited.
  [[nodiscard]] int ended() const;

 private:
  void serve(const std::stop_token& stop);
  void count_sharers();
  std::int32_t verdict(const replay_vm_hello& hello);
  /// False: this stream is closed.
  bool answer(int stream);

  TemporaryFolder folder_{"replay-vm"};
  std::uint32_t ranks_;
  int segment_fd_ = -1;
  int cores_fd_ = -1;
  replay_vm_segment* segment_ = nullptr;
  std::size_t bytes_ = 0;
  replay_vm_cores* cores_ = nullptr;
  std::size_t cores_bytes_ = 0;
  int listener_ = -1;

  mutable std::mutex mutex_;
  std::vector<replay_vm_hello> accepted_;
  std::vector<std::int32_t> refusals_;
  int ended_ = 0;

  std::jthread thread_;  // last: stops before anything it uses is destroyed
};

}  // namespace replay::test
