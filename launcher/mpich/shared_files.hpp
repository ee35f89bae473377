// The files in /dev/shm through which the ranks of a job exchange messages. MPICH and UCX remove them themselves; a job
// that is killed leaves them, and they take memory until the machine is started again. Only a file is removed that a
// process of the job was seen to map, that is still the same one and this user's, and that no living process maps.
#pragma once

#include <sys/types.h>

#include <string>
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

}  // namespace replay::launcher
