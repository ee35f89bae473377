#include "traces/rereadable_trace.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/name_template.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay {
namespace fs = std::filesystem;

// A file without a name: created, and unlinked at once.
class UnnamedFile {
 public:
  UnnamedFile() {
    const char* const named = std::getenv("TMPDIR");
    folder_ = named != nullptr && *named != '\0' ? named : "/tmp";
    std::string path = name_template(folder_ + "/replay-");
    descriptor_.reset(::mkstemp(path.data()));
    if (!descriptor_.is_open()) fail();
    ::unlink(path.c_str());
  }

  void append(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  [[nodiscard]] std::size_t read_at(std::size_t offset, char* to, std::size_t most) const {
    for (;;) {
      const ssize_t count = ::pread(descriptor_.get(), to, most, static_cast<off_t>(offset));
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(
        fmt::format("{}: cannot keep a copy of what is read from a pipe here: {}: set TMPDIR to a folder with room",
                    folder_, std::generic_category().message(errno)));
  }

  std::string folder_;
  UniqueFd descriptor_;
};

namespace {

class CopySource final : public ByteSource {
 public:
  CopySource(std::shared_ptr<UnnamedFile> file, std::string name)
      : ByteSource(std::move(name)), file_(std::move(file)) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t count = file_->read_at(offset_, to, most);
    offset_ += count;
    return count;
  }

 private:
  std::shared_ptr<UnnamedFile> file_;
  std::size_t offset_ = 0;
};

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

bool is_file(const std::string& path) {
  std::error_code ignored;
  // A missing path or a folder is left to the reader, which reports it.
  return path != "-" &&
         (fs::is_regular_file(path, ignored) || !fs::exists(path, ignored) || fs::is_directory(path, ignored));
}

}  // namespace

RereadableTrace::RereadableTrace(std::string path, TraceReaderOptions options)
    : path_(std::move(path)), options_(std::move(options)) {
  if (is_file(path_)) return;
  if (!options_.job_table) options_.job_table = find_beside(path_, kJobTableEnding);
  copy_ = std::make_shared<UnnamedFile>();
  const auto source = open_source(path_);
  constexpr std::size_t kSpoolBlock = std::size_t{256} * 1024;
  std::vector<char> block(kSpoolBlock);
  while (const std::size_t count = source->read(block.data(), block.size())) copy_->append({block.data(), count});
}

TraceReader RereadableTrace::open() const {
  if (!copy_) return TraceReader(path_, options_);
  return TraceReader(std::make_unique<CopySource>(copy_, name_of(path_)), options_);
}

}  // namespace replay
