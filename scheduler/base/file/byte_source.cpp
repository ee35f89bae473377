#include "scheduler/base/file/byte_source.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay {
namespace {

constexpr std::size_t kCompressedBlock = std::size_t{128} * 1024;
constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};

class FileSource final : public ByteSource {
 public:
  // A file's name may come from elsewhere as well as what is in it.
  FileSource(std::string_view name, std::FILE* file, bool owned)
      : ByteSource(clean_line(name)), file_(file), owned_(owned) {
    std::setvbuf(file_, nullptr, _IONBF, 0);  // readers bring their own large buffer
  }
  ~FileSource() override {
    if (owned_) std::fclose(file_);
  }
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t count = std::fread(to, 1, most, file_);
    if (count == 0 && std::ferror(file_) != 0)
      throw InputError(fmt::format("{}: cannot be read: {}", name(), std::strerror(errno)));
    return count;
  }

 private:
  std::FILE* file_;
  bool owned_;
};

// Returns the bytes that were read to recognise the format, then the rest.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> inner, std::string peeked)
      : ByteSource(inner->name()), inner_(std::move(inner)), peeked_(std::move(peeked)) {}
  std::size_t read(char* to, std::size_t most) override {
    if (given_ == peeked_.size()) return inner_->read(to, most);
    const std::size_t count = std::min(most, peeked_.size() - given_);
    std::copy_n(peeked_.data() + given_, count, to);
    given_ += count;
    return count;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::string peeked_;
  std::size_t given_ = 0;
};

// One or more gzip members, as gzip and pigz write and cat joins them. Zero bytes behind the last one are padding.
class GunzipSource final : public ByteSource {
 public:
  explicit GunzipSource(std::unique_ptr<ByteSource> inner)
      : ByteSource(inner->name()), inner_(std::move(inner)), block_(kCompressedBlock) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&zlib_, kGzipOnly) != Z_OK)
      throw InputError(fmt::format("{}: cannot start to decompress: out of memory", name()));
  }
  ~GunzipSource() override { inflateEnd(&zlib_); }

  std::size_t read(char* to, std::size_t most) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, 1U << 30U));
    const uInt room = zlib_.avail_out;
    while (zlib_.avail_out == room && !finished_) step();
    return room - zlib_.avail_out;
  }

 private:
  void step() {
    if (zlib_.avail_in == 0 && !refill()) throw cut_off();
    const int answer = inflate(&zlib_, Z_NO_FLUSH);
    if (answer == Z_STREAM_END)
      start_next_member();
    else if (answer != Z_OK && answer != Z_BUF_ERROR)
      throw InputError(fmt::format("{}: the gzip data are damaged ({}): copy the file again", name(),
                                   zlib_.msg != nullptr ? zlib_.msg : "inflate failed"));
  }

  void start_next_member() {
    do {
      while (zlib_.avail_in > 0 && *zlib_.next_in == 0) ++zlib_.next_in, --zlib_.avail_in;
    } while (zlib_.avail_in == 0 && refill());
    finished_ = zlib_.avail_in == 0;
    if (finished_) return;
    if (*zlib_.next_in != kGzipMagic[0])
      throw InputError(fmt::format("{}: other data follow the end of the gzip data: copy the file again", name()));
    inflateReset(&zlib_);
  }

  bool refill() {
    zlib_.next_in = reinterpret_cast<Bytef*>(block_.data());
    zlib_.avail_in = static_cast<uInt>(inner_->read(block_.data(), block_.size()));
    return zlib_.avail_in > 0;
  }

  [[nodiscard]] InputError cut_off() const {
    return InputError(fmt::format("{}: the gzip data end too early: the file was cut off, copy it again", name()));
  }

  std::unique_ptr<ByteSource> inner_;
  std::vector<char> block_;
  z_stream zlib_{};
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> inflate_if_gzip(std::unique_ptr<ByteSource> raw) {
  std::string first(sizeof kGzipMagic, '\0');
  std::size_t have = 0;
  for (std::size_t got = 1; have < first.size() && got > 0; have += got)
    got = raw->read(first.data() + have, first.size() - have);
  first.resize(have);
  const bool is_gzip = have == sizeof kGzipMagic && std::memcmp(first.data(), kGzipMagic, have) == 0;
  auto whole = std::make_unique<PeekedSource>(std::move(raw), std::move(first));
  if (is_gzip) return std::make_unique<GunzipSource>(std::move(whole));
  return whole;
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  if (path == "-") return inflate_if_gzip(std::make_unique<FileSource>("standard input", stdin, false));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(fmt::format("{}: expected a file, found a directory", path));
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  return inflate_if_gzip(std::make_unique<FileSource>(path, file, true));
}

}  // namespace replay
