#include "launcher/agent/registrar.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "scheduler/base/loop/read_deadline.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;
constexpr auto kRankHelloWithin = 5000ms;

UniqueFd listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), fmt::format("socket {}", text));
  std::memcpy(address.sun_path, text.data(), text.size());
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const void* raw = &address;
  if (!fd.is_open() || ::bind(fd.get(), static_cast<const sockaddr*>(raw), sizeof address) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot listen at {}", text));
  return fd;
}

/// Sends the welcome, with the descriptors attached to its first byte.
bool send_welcome(int stream, const Admission& answer) {
  replay_vm_welcome welcome{REPLAY_VM_MAGIC, REPLAY_VM_VERSION, answer.slot};
  iovec bytes{&welcome, sizeof welcome};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(REPLAY_VM_SEGMENTS * sizeof(int))> control{};
  if (answer.segments.size() == REPLAY_VM_SEGMENTS) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(REPLAY_VM_SEGMENTS * sizeof(int));
    std::memcpy(CMSG_DATA(rights), answer.segments.data(), REPLAY_VM_SEGMENTS * sizeof(int));
  }
  return ::sendmsg(stream, &message, MSG_NOSIGNAL) == ssize_t{sizeof welcome};
}

}  // namespace

/// A connection that has not finished its hello.
struct Registrar::Caller {
  Caller(event_base* loop, UniqueFd fd, std::function<void()> readable, std::function<void()> late)
      : stream(std::move(fd)), events(loop, stream.get(), kRankHelloWithin, std::move(readable), std::move(late)) {}
  UniqueFd stream;
  ReadDeadline events;
  replay_vm_hello hello{};
  std::size_t received = 0;
};

Registrar::Registrar(event_base* loop, std::filesystem::path path, Admit admit, Keep keep)
    : loop_(loop),
      path_(std::move(path)),
      admit_(std::move(admit)),
      keep_(std::move(keep)),
      listener_(loop, listen_at(path_), [this](UniqueFd stream) { add(std::move(stream)); }) {}

Registrar::~Registrar() { ::unlink(path_.c_str()); }

void Registrar::add(UniqueFd stream) {
  const auto place = std::make_shared<Caller*>(nullptr);
  callers_.emplace_back(
      loop_, std::move(stream), [this, place] { read_from(**place); }, [this, place] { dismiss(**place); });
  *place = &callers_.back();
}

void Registrar::read_from(Caller& caller) {
  char* into = static_cast<char*>(static_cast<void*>(&caller.hello));
  const ssize_t count =
      ::recv(caller.stream.get(), into + caller.received, sizeof caller.hello - caller.received, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return dismiss(caller);
  caller.received += static_cast<std::size_t>(count);
  if (caller.received < sizeof caller.hello) return;

  const Admission answer = judge(caller);
  const bool sent = send_welcome(caller.stream.get(), answer);
  const replay_vm_hello hello = caller.hello;
  UniqueFd stream = std::move(caller.stream);
  dismiss(caller);  // its events go before its descriptor is given away
  if (sent && answer.slot >= 0) keep_(hello, std::move(stream));
}

Admission Registrar::judge(const Caller& caller) const {
  const replay_vm_hello& hello = caller.hello;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(caller.stream.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  if (hello.magic != REPLAY_VM_MAGIC || peer.uid != ::geteuid() || peer.pid != hello.pid) return {};
  return admit_(hello);
}

void Registrar::dismiss(const Caller& caller) {
  callers_.remove_if([&caller](const Caller& other) { return &other == &caller; });
}

}  // namespace replay::launcher
