// For tests of ranks that share cores: several jobs on one agent, and what their ranks are told and say, read where they
// read and write it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/protocol/wire.h"
#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {

class SharedCores : public Launcher {
 protected:
  static constexpr JobId kFirst{1};
  static constexpr JobId kSecond{2};

  /// Cores that are not there.
  void use_emulated_cores(int cores);
  /// In a directory of its own.
  void launch_on(JobId job, std::vector<std::string> command, std::vector<CoreId> cores);
  /// Whether it has started; else the test has failed, and says why.
  bool starts(JobId job);
  bool ends(JobId job) {
    return until([&] { return seen_.ended.contains(job); }, std::chrono::seconds{60});
  }
  /// Carried out and acknowledged.
  bool moves(JobId job, std::vector<CoreId> cores);
  /// Waits for the end, and that the job has completed with the right result.
  void expect_verified(JobId job);
  [[nodiscard]] std::string output(JobId job, const std::string& name) const;

  /// Copies; zeros when the job is not there.
  [[nodiscard]] replay_vm_segment header(JobId job) const;
  [[nodiscard]] replay_vm_slot slot(JobId job, std::uint32_t rank) const;
  [[nodiscard]] replay_vm_core token(CoreId core) const;
  /// Waits until each of its ranks has given its core away once more.
  bool hands_off(JobId job, std::uint32_t ranks);
};

}  // namespace replay::launcher
