#include "launcher/agent/registrar.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;
constexpr auto kRankHelloWithin = 5000ms;

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

Registrar::Registrar(event_base* loop, std::filesystem::path path, Admit admit, Keep keep)
    : admit_(std::move(admit)),
      keep_(std::move(keep)),
      desk_(loop, std::move(path), kRankHelloWithin, read_hello,
            [this](const Hello& hello, UniqueFd stream, pid_t caller) {
              answer(hello.words, std::move(stream), caller);
            }) {}

Heard Registrar::read_hello(int stream, Hello& hello) {
  char* into = static_cast<char*>(static_cast<void*>(&hello.words));
  const ssize_t count = ::recv(stream, into + hello.received, sizeof hello.words - hello.received, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::kPart;
  if (count <= 0) return Heard::kNonsense;
  hello.received += static_cast<std::size_t>(count);
  return hello.received < sizeof hello.words ? Heard::kPart : Heard::kAll;
}

void Registrar::answer(const replay_vm_hello& hello, UniqueFd stream, pid_t caller) {
  const bool is_true = hello.magic == REPLAY_VM_MAGIC && caller == hello.pid;
  const Admission answer = is_true ? admit_(hello) : Admission{};
  if (send_welcome(stream.get(), answer) && answer.slot >= 0) keep_(hello, std::move(stream));
}

}  // namespace replay::launcher
