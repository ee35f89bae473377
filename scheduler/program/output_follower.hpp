// The output of a program that goes into a file, passed on while it grows: what the agent has a job write into its folder
// appears where a person expects it. Bytes are passed on as they are.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::program {

class OutputFollower {
 public:
  /// `file` need not be there yet. `to` belongs to the caller.
  OutputFollower(std::filesystem::path file, int to) : path_(std::move(file)), to_(to) {}

  /// Passes on what the file has now and did not have the last time; blocks as long as the reader makes it wait. False: nobody reads any
  /// more (the reader's end of the pipe is closed, the disk is full), and nothing will be passed on again: error() says why.
  /// REQUIRES: SIGPIPE ignored.
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

}  // namespace replay::program
