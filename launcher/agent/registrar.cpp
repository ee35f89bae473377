#include "launcher/agent/registrar.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "scheduler/base/process/descriptor_message.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;
constexpr auto kRankHelloWithin = 5000ms;

/// Sends the welcome, with the descriptors attached to its first byte.
bool send_welcome(int stream, const Admission& answer) {
  const replay_vm_welcome welcome{REPLAY_VM_MAGIC, REPLAY_VM_VERSION, answer.slot};
  const char* const bytes = static_cast<const char*>(static_cast<const void*>(&welcome));
  return send_with_descriptors(stream, {bytes, sizeof welcome}, answer.segments);
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
