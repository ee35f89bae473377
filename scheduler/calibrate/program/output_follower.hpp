// Copies a growing output file to a descriptor: the agent lets a job write into its folder, and the user wants to see
// the output at once. Bytes are copied unchanged.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::calibrate {

class OutputFollower {
 public:
  /// `file` need not be there yet. `to` belongs to the caller.
  OutputFollower(std::filesystem::path file, int to) : path_(std::move(file)), to_(to) {}

  /// Copies the bytes added since the last call; blocks while the output does. False: writing has failed (a closed
  /// pipe, a full disk), error() says why, and nothing more will be copied. REQUIRES: SIGPIPE ignored.
  bool pass_on();
  /// The errno of writing; 0: it did not fail.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::filesystem::path path_;
  int to_;
  UniqueFd file_;
  off_t passed_on_ = 0;
  int error_ = 0;
};

}  // namespace replay::calibrate
