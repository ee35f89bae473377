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

/// Set, and to something else than "0": vmlib does nothing at all.
[[nodiscard]] bool is_switched_off(Lookup lookup);

/// Nothing: not started by replay, or with impossible values.
[[nodiscard]] std::optional<Settings> read_settings(Lookup lookup);

/// 32 hex digits, either case.
[[nodiscard]] std::optional<Key> parse_key(const char* text);

}  // namespace replay::vm
