#include "scheduler/base/loop/unix_desk.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace replay {

UniqueFd listen_at_unix_socket(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "socket " + text);
  std::memcpy(address.sun_path, text.data(), text.size());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const void* raw = &address;
  if (!fd.is_open() || ::bind(fd.get(), static_cast<const sockaddr*>(raw), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot listen at " + text);
  return fd;
}

std::optional<pid_t> own_caller(int stream) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(stream, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != ::geteuid()) return std::nullopt;
  return peer.pid;
}

}  // namespace replay
