// The temporary folder of a process that may be killed.
#pragma once

#include <filesystem>

#include "scheduler/base/file/locked_folder.hpp"

namespace replay {

/// As a TemporaryFolder, with a marker in it. In $TMPDIR, or else /tmp, a new one removes those that processes which were
/// killed have left; a `base` may be one of other computers too, whose locks are not seen everywhere: there it does not.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& base = {});
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path; }

 private:
  LockedFolder folder_;
};

}  // namespace replay
