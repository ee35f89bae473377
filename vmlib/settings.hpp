// A rank's settings from its environment: where its agent listens, which job it belongs to, which rank it will be. The
// rank and size come from the process manager's PMI_RANK and PMI_SIZE, because MPI_Comm_rank does not work yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"

namespace replay::vm {

using Key = std::array<std::uint8_t, REPLAY_VM_KEY_BYTES>;

struct Settings {
  const char* socket;  // not owned: the environment outlives us
  Key key;
  std::int32_t world_rank;
  std::int32_t world_size;
};

/// getenv's signature, so that a test brings its own environment.
using Lookup = const char* (*)(const char* name);

/// Set, and to something else than "0": vmlib does nothing but lead MPICH's file to where own_shared_name() says.
[[nodiscard]] bool is_switched_off(Lookup lookup);

/// Nothing: not started by replay, or with impossible values.
[[nodiscard]] std::optional<Settings> read_settings(Lookup lookup);

/// 32 hex digits, either case.
[[nodiscard]] std::optional<Key> parse_key(const char* text);

// MPICH takes /dev/shm and a fixed name for the file that the ranks of a node share, and removes the name within milliseconds; a
// rank that is killed meanwhile would leave a file of which nothing says that it was a job's.

/// "/dev/shm/mpich_shar_tmpXXXXXX", with the 0 at its end.
using SharedName = std::array<char, 30>;

/// The template for mkstemp() in our agent's folder, instead of MPICH's, for which it has to be as long. Nothing: `name` is not
/// MPICH's, or the agent has no such folder.
[[nodiscard]] std::optional<SharedName> own_shared_name(const char* name, Lookup lookup);

}  // namespace replay::vm
