#include "vmlib/registration.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace replay::vm {
namespace {

class Deadline {
 public:
  explicit Deadline(int limit_ms) : end_ms_(now_ms() + limit_ms) {}
  [[nodiscard]] int left_ms() const {
    const std::int64_t left = end_ms_ - now_ms();
    return left > 0 ? static_cast<int>(left) : 0;
  }

 private:
  static std::int64_t now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  }
  std::int64_t end_ms_;
};

bool is_ready(int fd, short events, const Deadline& deadline) {
  pollfd waiting{.fd = fd, .events = events, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, deadline.left_ms());
  } while (ready < 0 && errno == EINTR && deadline.left_ms() > 0);
  return ready > 0;
}

/// Moves `size` bytes with `transfer(bytes, count)`, which behaves like recv and never blocks.
template <class Transfer>
bool move_all(int stream, short events, std::size_t size, const Deadline& deadline, Transfer transfer) {
  std::size_t done = 0;
  while (done < size) {
    if (!is_ready(stream, events, deadline)) return false;
    const ssize_t moved = transfer(done, size - done);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

/// A local connect waits only while the agent's queue is full.
void limit_connect(int fd, int limit_ms) {
  const timeval limit{.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool is_trusted_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == ::geteuid() || peer.uid == 0);
}

/// Like recv; the two descriptors that come beside a byte are taken, all others closed.
ssize_t receive_with_descriptors(int stream, void* bytes, std::size_t size, Welcome& into) {
  constexpr std::size_t kRoom = 8;
  iovec place{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(kRoom * sizeof(int))];
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = ::recvmsg(stream, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      UniqueFd fd{number};
      if (count != REPLAY_VM_SEGMENTS) continue;
      (i == 0 ? into.job_segment : into.core_segment) = std::move(fd);
    }
  }
  return received;
}

/// A program that was started without stdin must not find our stream there, and may count on the low numbers.
UniqueFd out_of_the_way(UniqueFd fd) {
  constexpr int kLowest = 64;
  UniqueFd high{::fcntl(fd.get(), F_DUPFD_CLOEXEC, kLowest)};
  return high.is_open() ? std::move(high) : std::move(fd);
}

}  // namespace

std::uint64_t parse_process_start(const char* stat) {
  const char* at = std::strrchr(stat, ')');  // the name may contain blanks and brackets
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
  }
  return at == nullptr ? 0 : std::strtoull(at + 1, nullptr, 10);
}

std::uint64_t process_start() {
  const UniqueFd fd{::open("/proc/self/stat", O_RDONLY | O_CLOEXEC)};
  char text[1024];
  const ssize_t size = fd.is_open() ? ::read(fd.get(), text, sizeof text - 1) : 0;
  if (size <= 0) return 0;
  text[size] = '\0';
  return parse_process_start(text);
}

UniqueFd connect_to_agent(const char* path, int limit_ms) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path, std::strlen(path));  // the rest is zero already

  UniqueFd fd = out_of_the_way(UniqueFd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)});
  if (!fd.is_open()) return {};
  limit_connect(fd.get(), limit_ms);
  const Deadline deadline{limit_ms};
  int failed = 0;
  do {
    failed = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (failed != 0 && errno == EINTR && deadline.left_ms() > 0);
  if (failed != 0 || !is_trusted_peer(fd.get())) return {};
  return fd;
}

replay_vm_hello make_hello(const Settings& settings, replay_vm_mode mode, std::uint32_t flags) {
  replay_vm_hello hello{};
  hello.magic = REPLAY_VM_MAGIC;
  hello.version = REPLAY_VM_VERSION;
  hello.mode = mode;
  std::memcpy(hello.key, settings.key.data(), settings.key.size());
  hello.world_rank = settings.world_rank;
  hello.world_size = settings.world_size;
  hello.pid = ::getpid();
  hello.flags = flags;
  hello.pid_start = process_start();
  return hello;
}

std::optional<Welcome> introduce(int stream, const replay_vm_hello& hello, int limit_ms) {
  const Deadline deadline{limit_ms};
  const auto* out = reinterpret_cast<const unsigned char*>(&hello);
  if (!move_all(stream, POLLOUT, sizeof hello, deadline, [&](std::size_t done, std::size_t left) {
        return ::send(stream, out + done, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      })) {
    return std::nullopt;
  }
  replay_vm_welcome welcome{};
  Welcome answer{};
  auto* in = reinterpret_cast<unsigned char*>(&welcome);
  if (!move_all(stream, POLLIN, sizeof welcome, deadline, [&](std::size_t done, std::size_t left) {
        return receive_with_descriptors(stream, in + done, left, answer);
      })) {
    return std::nullopt;
  }
  if (welcome.magic != REPLAY_VM_MAGIC || welcome.version != REPLAY_VM_VERSION) return std::nullopt;
  if (welcome.slot >= 0 && !(answer.job_segment.is_open() && answer.core_segment.is_open())) return std::nullopt;
  answer.slot = welcome.slot;
  return answer;
}

}  // namespace replay::vm
