// The choice of the means by which a rank notices that it waits: MPICH's progress function, loops of tests, or nothing.
// A pure function of what the process has and what the environment asks for.
#pragma once

#include <optional>

#include "scheduler/protocol/wire.h"

namespace replay::vm {

struct Means {
  bool has_progress_hook = false;      // ucp_worker_progress is there, and has not been seen to be unused
  bool has_nonblocking_calls = false;  // all that test_loops.hpp needs
  bool is_fortran08 = false;           // `use mpi_f08`: blocking calls do not come through the wrappers
};

/// The value of REPLAY_VM_MODE. Nothing: not set, or not a mode, which counts as not set.
[[nodiscard]] std::optional<replay_vm_mode> parse_mode(const char* text);

/// The best mode that these means allow. With `wanted`, that mode or none: a forced mode does not fall back.
[[nodiscard]] replay_vm_mode best_mode(std::optional<replay_vm_mode> wanted, const Means& means);

}  // namespace replay::vm
