// Registration of a rank with its node's agent: connect, hello, welcome. All of it within one time limit, and any doubt
// about the answer means "not registered".
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/protocol/wire.h"
#include "vmlib/settings.hpp"
#include "vmlib/unique_fd.hpp"

namespace replay::vm {

/// When this process was started, in clock ticks since boot: unique together with the pid. 0: unknown.
[[nodiscard]] std::uint64_t process_start();
/// Field 22 of the text of /proc/PID/stat (NUL-terminated), whatever the program's name contains. 0: not there.
[[nodiscard]] std::uint64_t parse_process_start(const char* stat);

/// A stream to the agent at `path`, closed on exec, with a number above those that programs count on; not open: no
/// agent of our own user (or root) answers there within `limit_ms`.
[[nodiscard]] UniqueFd connect_to_agent(const char* path, int limit_ms);

[[nodiscard]] replay_vm_hello make_hello(const Settings& settings, replay_vm_mode mode, std::uint32_t flags = 0);

/// The agent's answer.
struct Welcome {
  std::int32_t slot;  // negative: refused
  UniqueFd job_segment;
  UniqueFd core_segment;
};

/// Says hello and waits for the welcome. Nothing if there was no valid answer within `limit_ms`; a slot without both
/// segments is none.
[[nodiscard]] std::optional<Welcome> introduce(int stream, const replay_vm_hello& hello, int limit_ms);

}  // namespace replay::vm
