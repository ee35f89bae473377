#include "launcher/daemon/link_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw InputError(fmt::format("key file {}: {}", file.string(), why));
}

std::optional<protocol::LinkKey> parse_key(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  protocol::LinkKey key;
  if (text.size() != 2 * key.size()) return std::nullopt;
  for (std::uint8_t& byte : key) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, byte, 16);
    if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
    text.remove_prefix(2);
  }
  return key;
}

template <class Bytes>
Bytes drawn() {
  Bytes bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "cannot draw random bytes");
  return bytes;
}

}  // namespace

protocol::LinkKey read_link_key(const fs::path& file) {
  const UniqueFd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) refuse(file, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse(file, "expected a regular file");
  if (status.st_uid != ::geteuid())
    refuse(file, fmt::format("belongs to user {}, expected one of our own (user {})", status.st_uid, ::geteuid()));
  if ((status.st_mode & 077U) != 0)
    refuse(file, fmt::format("open to others than its owner (mode {:04o}): run `chmod 600 {}`, or make a new key, as "
                             "this one may be known",
                             status.st_mode & 07777U, file.string()));
  char text[2 * sizeof(protocol::LinkKey) + 2];  // one byte more than the longest that is right
  const ssize_t length = ::read(fd.get(), text, sizeof text);
  const auto key = parse_key({text, static_cast<std::size_t>(std::max<ssize_t>(length, 0))});
  if (!key) refuse(file, "expected 64 hex digits on one line; `replay agent --new-key FILE` makes such a file");
  return *key;
}

protocol::LinkKey receive_link_key(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || S_ISREG(status.st_mode))
    throw InputError("key from standard input: expected a pipe or a terminal, with which the agent ends");
  std::string line;
  char next = 0;
  while (line.size() <= 2 * sizeof(protocol::LinkKey) && !line.ends_with('\n')) {
    const ssize_t got = ::read(descriptor, &next, 1);  // no byte past the line
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    line += next;
  }
  if (line.empty())
    throw InputError("key from standard input: nothing came; --bootstrap CMD has to pass its standard input on");
  const auto key = parse_key(line);
  if (!key) throw InputError("key from standard input: expected 64 hex digits on one line");
  return *key;
}

protocol::LinkKey new_link_key() { return drawn<protocol::LinkKey>(); }

std::string text_of_link_key(const protocol::LinkKey& key) { return fmt::format("{:02x}\n", fmt::join(key, "")); }

void make_link_key(const fs::path& file) {
  const std::string text = text_of_link_key(new_link_key());
  const UniqueFd fd{::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!fd.is_open()) refuse(file, fmt::format("cannot be made: {}", std::strerror(errno)));
  if (::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd.get()) == 0)
    return;
  const int error = errno;
  ::unlink(file.c_str());
  refuse(file, fmt::format("cannot be written: {}", std::strerror(error)));
}

protocol::LinkNonce new_nonce() { return drawn<protocol::LinkNonce>(); }

}  // namespace replay::launcher
