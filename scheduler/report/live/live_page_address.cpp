#include "scheduler/report/live/live_page_address.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "scheduler/base/file/whole_file.hpp"

namespace replay::report {

LivePageAddress::LivePageAddress(std::FILE* out, const std::string& url, std::filesystem::path file) {
  if (::isatty(::fileno(out)) != 0) {
    fmt::print(out, "live page: {}\n", url);
  } else {
    WholeFile address{file};
    ::fchmod(address.descriptor(), 0600);
    address.write(url + '\n');
    static_cast<void>(::fstat(address.descriptor(), &written_));
    address.finish();
    file_ = std::move(file);
    static_cast<void>(std::fputs(fmt::format("live page: its address is in {}\n", file_.string()).c_str(), out));
  }
  std::fflush(out);  // a pipe's reader wants to open it now
}

LivePageAddress::~LivePageAddress() {
  struct stat there {};
  if (!file_.empty() && ::lstat(file_.c_str(), &there) == 0 && there.st_dev == written_.st_dev &&
      there.st_ino == written_.st_ino)
    ::unlink(file_.c_str());
}

}  // namespace replay::report
