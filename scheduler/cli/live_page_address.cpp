#include "scheduler/cli/live_page_address.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "scheduler/base/file/whole_file.hpp"

namespace replay::cli {

LivePageAddress::LivePageAddress(std::FILE* out, const std::string& url, std::filesystem::path file) {
  if (::isatty(::fileno(out)) != 0) {
    fmt::print(out, "live page: {}\n", url);
  } else {
    WholeFile address{file};
    ::fchmod(address.descriptor(), 0600);
    address.write(url + '\n');
    address.finish();
    file_ = std::move(file);
    fmt::print(out, "live page: its address is in {}\n", file_.string());
  }
  std::fflush(out);  // a pipe's reader wants to open it now
}

LivePageAddress::~LivePageAddress() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace replay::cli
