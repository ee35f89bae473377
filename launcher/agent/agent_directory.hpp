// The private directory of a node agent: its socket, and nothing that a user has made. It is deleted only as what it is known
// to be: a name of our pattern, mode 0700, our user, a marker file with our version in it, no living agent, and no entry of
// an unknown name. A directory that fails one of these is left alone. Every step is relative to an open directory and
// follows no link, so nothing can be exchanged between the look and the deletion.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {

/// What an agent has in its directory.
inline constexpr const char* kAgentSocket = "socket";
inline constexpr const char* kAgentVmlibLink = "libreplay-vm.so";

/// An agent's directory, locked by it: the lock goes with the last process that has it.
struct AgentDirectory {
  std::filesystem::path path;
  UniqueFd lock;
};

/// Makes one below `base`. Throws std::system_error.
[[nodiscard]] AgentDirectory make_agent_directory(const std::filesystem::path& base);

/// Deletes the directory of an agent that has ended, whether it is locked or not. Empty: it is gone, or was no agent's.
/// Else the entry because of which it is left alone.
[[nodiscard]] std::filesystem::path remove_agent_directory(const std::filesystem::path& directory);

/// Deletes those below `base` that dead agents have left, and their empty control groups. The entries because of which others
/// were left alone.
[[nodiscard]] std::vector<std::filesystem::path> remove_stale_agent_directories(const std::filesystem::path& base);

}  // namespace replay::launcher
