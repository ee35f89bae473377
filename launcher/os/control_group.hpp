// A control group of our own. A process that was put into it, and all that it starts, stay in it whatever they do to
// their environment, session or parent; so it names exactly the processes of one job. It only names them: no limit is
// set, and no group is made where that would change how the kernel shares the CPUs (launcher/os/cgroup.hpp reads limits).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

class ControlGroup {
 public:
  /// A new group below this process's own, in version 2 or, of version 1, one of the trees that divide no CPU time
  /// (systemd's, pids, freezer). Nothing: no tree permits it. `root` is "/" but in tests.
  [[nodiscard]] static std::optional<ControlGroup> make(const std::string& name,
                                                        const std::filesystem::path& root = "/");
  /// The group that another process, now dead, has made there under this name; it is ours from here on.
  [[nodiscard]] static std::optional<ControlGroup> find(const std::string& name,
                                                        const std::filesystem::path& root = "/");
  /// Removes those there that another process, now dead, has made, and in which there is no process. `is_ours` of their names.
  static void remove_empty_ones_of_dead(bool (*is_ours)(std::string_view name),
                                        const std::filesystem::path& root = "/");
  ControlGroup(ControlGroup&& other) noexcept
      : directory_(std::exchange(other.directory_, {})), lock_(std::move(other.lock_)) {}
  ControlGroup& operator=(ControlGroup&&) = delete;
  /// Removes the group and those below it, as far as no process is in them.
  ~ControlGroup();

  [[nodiscard]] std::optional<ControlGroup> make_below(const std::string& name) const;

  /// Puts a process, and all that is below it, into the group. False: the kernel refuses.
  [[nodiscard]] bool take_with_all_below(const Process& process) const;
  /// Those in it and in groups below it.
  [[nodiscard]] std::vector<pid_t> processes() const;
  [[nodiscard]] bool has(pid_t pid) const;

 private:
  explicit ControlGroup(std::filesystem::path directory, UniqueFd lock = {})
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  std::filesystem::path directory_;  // empty: moved from
  UniqueFd lock_;                    // of one that we have made: it is ours while we live
};

}  // namespace replay::launcher
