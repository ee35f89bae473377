// A child process that computes on one core until its owner goes, as a program that is no job's does.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "launcher/os/pu_id.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"

namespace replay::test {

class BusyLoop {
 public:
  explicit BusyLoop(launcher::PuId core) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(launcher::index_of(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
    for (volatile int forever = 1; forever == 1;) {
    }
  }
  ~BusyLoop() {
    if (pid_ <= 0) return;
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;

  [[nodiscard]] bool is_running() const { return pid_ > 0; }
  /// The CPU time that it has had.
  [[nodiscard]] std::uint64_t ran_ns() const { return cpu_ns(pid_).value_or(0); }

 private:
  pid_t pid_;
};

}  // namespace replay::test
