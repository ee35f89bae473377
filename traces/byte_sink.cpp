#include "traces/byte_sink.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "scheduler/model/error.hpp"

namespace replay {
namespace {

InputError failed(const std::string& name, const char* what) {
  return InputError(fmt::format("{}: {}: {}", name, what, std::strerror(errno)));
}

class FileSink final : public ByteSink {
 public:
  FileSink(std::string name, std::FILE* file, bool owned) : name_(std::move(name)), file_(file), owned_(owned) {}
  ~FileSink() override {
    if (owned_ && file_ != nullptr) std::fclose(file_);
  }
  void write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) throw failed(name_, "cannot be written");
  }
  void close() override {
    std::FILE* file = std::exchange(file_, nullptr);
    if ((owned_ ? std::fclose(file) : std::fflush(file)) != 0) throw failed(name_, "cannot be written");
  }

 private:
  std::string name_;
  std::FILE* file_;
  bool owned_;
};

class GzipSink final : public ByteSink {
 public:
  GzipSink(std::string name, gzFile file) : name_(std::move(name)), file_(file) {}
  ~GzipSink() override {
    if (file_ != nullptr) gzclose(file_);
  }
  void write(std::string_view bytes) override {
    if (gzfwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) throw failed(name_, "cannot be written");
  }
  void close() override {
    if (gzclose(std::exchange(file_, nullptr)) != Z_OK) throw failed(name_, "cannot be written");
  }

 private:
  std::string name_;
  gzFile file_;
};

class StringSink final : public ByteSink {
 public:
  explicit StringSink(std::string& text) : text_(text) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  void close() override {}

 private:
  std::string& text_;
};

}  // namespace

std::unique_ptr<ByteSink> open_sink(const std::string& path) {
  if (path == "-") return std::make_unique<FileSink>("standard output", stdout, false);
  if (path.ends_with(".gz")) {
    gzFile file = gzopen(path.c_str(), "wb");
    if (file == nullptr) throw failed(path, "cannot be created");
    return std::make_unique<GzipSink>(path, file);
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw failed(path, "cannot be created");
  std::setvbuf(file, nullptr, _IONBF, 0);  // what comes are whole blocks
  return std::make_unique<FileSink>(path, file, true);
}

std::unique_ptr<ByteSink> string_sink(std::string& text) { return std::make_unique<StringSink>(text); }

}  // namespace replay
