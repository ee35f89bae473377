// The lock of a service's folder: one service at a time, and none while processes of the last one may still use the cores.
// The file has two locks. flock() belongs to the open file, which the agent inherits: it is free when daemon and agent are
// gone. The folder is locked by flock(), too: that lock stays if the file is removed. A record lock (fcntl) belongs to the daemon's process alone, so it tells which process that is, and whether it lives.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::service {

class ServiceLock {
 public:
  /// Makes the file, in a folder that is there. If a daemon lives, throws InputError with its pid. If only what a dead
  /// one left has the lock, calls `on_wait` once and waits, `patience` at most, or until a stop signal; then throws
  /// InputError.
  ServiceLock(const std::filesystem::path& file, std::chrono::milliseconds patience,
              const std::function<void()>& on_wait);

  /// Whether the file is not there any more, or is another one: something has removed it under this service. The folder's own
  /// lock holds on.
  [[nodiscard]] bool is_gone() const;
  /// Removes a file of the locked folder, wherever that folder is by now: its path may lead to another service's.
  void remove_beside(const std::string& name) const;
  /// For the agent to inherit.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  std::filesystem::path path_;
  UniqueFd folder_;
  UniqueFd file_;  // no other descriptor of the file is opened by this process: closing it would free the record lock
};

/// Makes the service's folder, which only its user may enter. Throws InputError if it cannot be made, belongs to another
/// user, or others may enter it.
void make_private_folder(const std::filesystem::path& folder);

}  // namespace replay::service
