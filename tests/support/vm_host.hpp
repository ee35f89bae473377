// A small stand-in for the node agent: makes a job's segment, the node's core segment, and a socket in a private folder,
// answers the ranks of one job, and lets a test give orders and read reports. It moves no process and takes no token
// away; it checks as an agent must: key, version, rank, each slot once, and that who comes to emulated cores is fit for
// them. Slot = world rank.
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

/// The welcome as an agent sends it; with a slot the segments go beside its first byte.
bool send_welcome(int stream, replay_vm_welcome welcome, const std::array<int, REPLAY_VM_SEGMENTS>& segments);

class VmHost {
 public:
  /// Listens and answers from here on, on a thread of its own. Throws std::system_error if the folder cannot be made.
  explicit VmHost(std::uint32_t ranks, std::uint32_t polls_before_yield = 20, std::uint32_t cores = 4);
  ~VmHost();
  VmHost(const VmHost&) = delete;
  VmHost& operator=(const VmHost&) = delete;

  /// What a rank must find in its environment, REPLAY_VM_* (not LD_PRELOAD).
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  [[nodiscard]] std::string socket_path() const { return (folder_ / "socket").string(); }
  /// Owned by the host.
  [[nodiscard]] int segment_fd() const { return segment_fd_; }
  [[nodiscard]] int cores_fd() const { return cores_fd_; }
  [[nodiscard]] std::string key_text() const;
  [[nodiscard]] replay_vm_segment& segment() { return *segment_; }
  [[nodiscard]] replay_vm_cores& cores() { return *cores_; }

  /// Before the ranks start: they get no core segment that can be believed.
  void spoil_cores() { cores_->magic = 0; }
  /// Before the ranks start: the cores are virtual ones.
  void emulate(std::uint32_t quantum_us = 10'000);

  void share(std::uint32_t slot, bool shared, std::int32_t core = 0);
  void share_all(bool shared);
  /// The rank is on `core`, with the seat of its slot's number there, and gives its core away by the token.
  void seat(std::uint32_t slot, std::uint32_t core, bool shared = true);
  /// Times that the core's token has changed hands.
  [[nodiscard]] std::uint64_t handovers(std::uint32_t core) const;

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
  void count_sharers();
  std::int32_t verdict(const replay_vm_hello& hello);
  /// False: this stream is over.
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

  std::jthread thread_;  // last: stops before anything it uses goes
};

}  // namespace replay::test
