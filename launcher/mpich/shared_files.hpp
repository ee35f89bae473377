// The files in /dev/shm through which the ranks of a job exchange messages. MPICH and UCX remove them themselves; a job
// that is killed leaves them, and they take memory until the machine is started again. Only a file is removed that a
// process of the job was seen to map, that is still the same one and this user's, and that no living process maps. Nearly all
// are made in the agent's own folder there (agent_directory.hpp): UCX is told so, and vmlib leads MPICH to it. This is for MPICH
// in static programs, and where vmlib is not preloaded.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace replay::launcher {

class SharedFiles {
 public:
  /// Notes the files that this process, one of the job's, has mapped now.
  void note(pid_t pid);
  /// Removes those noted. Best effort.
  void remove();

 private:
  struct File {
    std::string path;
    ino_t inode;
  };
  std::vector<File> files_;
};

/// UCX names a variable for where it makes its files.
inline constexpr const char* kUcxSharedFolder = "UCX_POSIX_DIR";

/// Whether MPICH (by vmlib) or UCX names a file of its ranks so in an agent's folder.
[[nodiscard]] bool is_file_of_ranks(std::string_view name);
/// In an agent's folder: removes the files of ranks that are dead. The maker of a file has it open or mapped as long as it
/// has a name, so one that no process has is of no use.
void remove_unused_files(const std::filesystem::path& folder);

}  // namespace replay::launcher
