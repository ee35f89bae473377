// Where a live page is, said to its user alone: the address is all that reading the page takes, and where standard output
// is no terminal others may read it, in systemd's journal or in the log of a batch job.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace replay::report {

/// Of one page, as long as it is there.
class LivePageAddress {
 public:
  /// Prints `url` to `out` if that is a terminal; otherwise writes it into `file`, mode 0600, and prints where that is.
  /// Throws InputError: the file cannot be written.
  LivePageAddress(std::FILE* out, const std::string& url, std::filesystem::path file);
  LivePageAddress(const LivePageAddress&) = delete;
  LivePageAddress& operator=(const LivePageAddress&) = delete;
  /// Removes the file, if it was written and no other one has taken its place.
  ~LivePageAddress();

 private:
  std::filesystem::path file_;  // empty: none was written
  struct stat written_ {};
};

}  // namespace replay::report
