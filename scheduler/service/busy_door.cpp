#include "scheduler/service/busy_door.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/quiet_thread.hpp"
#include "scheduler/service/messages.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 50ms;         // from one look at the loop, or the socket, to the next
constexpr auto kForRequest = 250ms;  // a client has sent its request by then

bool is_readable(int socket, std::chrono::milliseconds wait) {
  pollfd state{socket, POLLIN, 0};
  return ::poll(&state, 1, static_cast<int>(wait.count())) > 0;
}

// Unread bytes would break the connection before its answer is read.
void take_request(int client) {
  const auto deadline = std::chrono::steady_clock::now() + kForRequest;
  char bytes[65536];
  while (std::chrono::steady_clock::now() < deadline) {
    if (!is_readable(client, kLook)) continue;
    const ssize_t got = ::recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0 || bytes[got - 1] == '\n') return;
  }
}

}  // namespace

BusyDoor::BusyDoor(int socket, std::chrono::milliseconds patience)
    : socket_(socket),
      patience_(patience),
      thread_(quiet_thread<std::jthread>([this](const std::stop_token& stop) { serve(stop); })) {}

BusyDoor::~BusyDoor() = default;

void BusyDoor::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (busy_for() < patience_)
      std::this_thread::sleep_for(kLook);
    else if (is_readable(socket_, kLook) && busy_for() >= patience_)
      answer_one();
  }
}

void BusyDoor::answer_one() const {
  const UniqueFd client{::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  if (!client.is_open()) return;
  take_request(client.get());
  const std::string line =
      to_line(Refused{fmt::format("the service is busy since {} s, with a decision of its policy or a write to its "
                                  "journal: nothing was done, try again",
                                  std::chrono::duration_cast<std::chrono::seconds>(busy_for()).count())}) +
      '\n';
  (void)!::send(client.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace replay::service
