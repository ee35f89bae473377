#include "scheduler/base/file/scratch_folder.hpp"

#include <system_error>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

constexpr FolderKind kScratch{"replay-run-", "replay-run", "replay run folder 1\n"};

LockedFolder make_in(const fs::path& base) {
  if (!base.empty()) return make_locked_folder(kScratch, base);
  const fs::path temporary = folder_for_temporary_files();
  remove_folders_of_dead(kScratch, temporary);
  return make_locked_folder(kScratch, temporary);
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& base) : folder_(make_in(base)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder_.path, ignored);
}

}  // namespace replay
