// The private directory of a node agent: it holds the agent's socket and no file of a user. It is deleted only after
// these checks (scheduler/base/file/locked_folder.hpp): a name of our pattern, mode 0700, our user, a marker file with our
// version in it unless it is empty, no living agent, and no entry of an unknown name. One that fails one of these is left alone.
// A folder in /dev/shm goes with it, under the same checks: for the files through which ranks exchange messages. MPICH and UCX
// remove their names within milliseconds; those of ranks that are killed meanwhile are known to be a job's by where they are.
#pragma once

#include <filesystem>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {

/// Entries of an agent's directory.
inline constexpr const char* kAgentSocket = "socket";
inline constexpr const char* kAgentProxySocket = "proxies";
inline constexpr const char* kAgentVmlibLink = "libreplay-vm.so";

/// An agent's directory, locked by it; the kernel drops the lock with the last process that has it open.
struct AgentDirectory {
  std::filesystem::path path;
  std::filesystem::path shared{};  ///< its folder in /dev/shm; empty: none could be made
  UniqueFd lock;
};

/// Makes one below `base`. Throws std::system_error.
[[nodiscard]] AgentDirectory make_agent_directory(const std::filesystem::path& base);

/// In the agent's process: others see by it at once that the agent lives. Children that it forks have no part in this mark, as
/// they have in the lock; it goes with the process, or when that closes any descriptor of the directory. Best effort: without
/// the mark, others wait for the lock for a second.
void mark_as_living(const AgentDirectory& directory);

/// Deletes the directory of an agent that has ended, and its folder, whether it is locked or not. Empty: it is gone, or was
/// no agent's. Else the unknown entry for which it was left alone.
[[nodiscard]] std::filesystem::path remove_agent_directory(const std::filesystem::path& directory);

/// Ends the processes that dead agents have left (left_processes.hpp), and deletes their directories below `base`, their
/// folders and their control groups. Returns the unknown entries for which directories were left alone. Throws std::system_error
/// when a process does not end: it would run beside its job's next start.
[[nodiscard]] std::vector<std::filesystem::path> remove_stale_agent_directories(const std::filesystem::path& base);

}  // namespace replay::launcher
