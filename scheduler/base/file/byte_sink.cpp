#include "scheduler/base/file/byte_sink.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"

namespace replay {
namespace {

InputError failed(const std::string& name, const char* what) {
  return InputError(fmt::format("{}: {}: {}", name, what, std::strerror(errno)));
}

[[noreturn]] void cannot_overwrite(const std::string& name) {
  throw InputError(fmt::format("{}: its beginning cannot be written again: expected a plain file", name));
}

class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void overwrite(std::string_view bytes) override { file_.overwrite(0, bytes); }
  void finish() override {}
  void close() override { file_.finish(); }

 private:
  WholeFile file_;
};

class StandardOutputSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) throw failed(kName, "cannot be written");
  }
  void overwrite(std::string_view) override { cannot_overwrite(kName); }
  void finish() override {
    if (std::fflush(stdout) != 0) throw failed(kName, "cannot be written");
  }
  void close() override { finish(); }

 private:
  static constexpr const char* kName = "standard output";
};

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(const std::string& path) : file_(path) {
    const int copy = ::fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0);  // gzclose() closes it
    if (copy >= 0) gzip_ = gzdopen(copy, "wb");
    if (gzip_ != nullptr) return;
    if (copy >= 0) ::close(copy);
    throw failed(path, "cannot be created");
  }
  ~GzipSink() override {
    if (gzip_ != nullptr) gzclose(gzip_);
  }
  void write(std::string_view bytes) override {
    if (gzfwrite(bytes.data(), 1, bytes.size(), gzip_) != bytes.size())
      throw failed(file_.path().string(), "cannot be written");
  }
  void overwrite(std::string_view) override { cannot_overwrite(file_.path().string()); }
  void finish() override {
    if (gzip_ != nullptr && gzclose(std::exchange(gzip_, nullptr)) != Z_OK)
      throw failed(file_.path().string(), "cannot be written");
  }
  void close() override {
    finish();
    file_.finish();
  }

 private:
  WholeFile file_;
  gzFile gzip_ = nullptr;
};

}  // namespace

std::unique_ptr<ByteSink> open_sink(const std::string& path) {
  if (path == "-") return std::make_unique<StandardOutputSink>();
  if (path.ends_with(".gz")) return std::make_unique<GzipSink>(path);
  return std::make_unique<FileSink>(path);
}

}  // namespace replay
