// Fixture for tests of ranks that share cores: launches several jobs on one agent, and reads from the shared segments
// what the agent tells their ranks and what the ranks report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/protocol/wire.h"
#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {

class SharedCores : public Launcher {
 protected:
  static constexpr JobId kFirst{1};
  static constexpr JobId kSecond{2};

  /// Tells the agent to emulate `cores` cores.
  void use_emulated_cores(int cores);
  /// Launches the job in a directory of its own; `cores` has a core for each rank.
  void launch_on(JobId job, std::vector<std::string> command, const std::vector<int>& cores);
  /// Waits for the job's start. False: it ended instead or timed out; the test has failed with the reason.
  bool starts(JobId job);
  bool ends(JobId job) {
    return until([&] { return seen_.ended.contains(job); }, std::chrono::seconds{60});
  }
  /// Orders the resize and does not wait.
  void order_move(JobId job, const std::vector<int>& cores);
  /// Resizes the job and waits for the acknowledgement.
  bool moves(JobId job, const std::vector<int>& cores);
  /// Waits for the job's end and expects that it completed with a verified result.
  void expect_verified(JobId job);
  /// The same of ranks that talk (rank_program.c), which are told to end.
  void finish_verified(JobId job);
  [[nodiscard]] std::string output(JobId job, const std::string& name) const;

  /// Copies from the segments; zeros when the job does not exist.
  [[nodiscard]] replay_vm_segment header(JobId job) const;
  [[nodiscard]] replay_vm_slot slot(JobId job, std::uint32_t rank) const;
  [[nodiscard]] PuId pu_of(int core) const { return local_.pu_of_core.at(static_cast<std::size_t>(core)); }
  [[nodiscard]] replay_vm_core token(int core) const;
  /// Waits until each of its ranks has given its core away once more.
  bool hands_off(JobId job, std::uint32_t ranks);
};

}  // namespace replay::launcher
