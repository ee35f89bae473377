// The door of a service: its Unix socket, and the clients that are connected. It reads requests, one JSON object a line,
// and hands them to the service one by one; it decides what a client may cost. The service never waits for a client: one
// that sends no whole line, or takes no answer, for too long is dropped, and so is one whose line is too long or no
// request. Only processes of the service's own user, and of root, are served.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/listener.hpp"
#include "scheduler/service/messages.hpp"

namespace replay::service {

/// Changed by tests only.
struct DoorLimits {
  std::size_t clients = 256;                   ///< one more is refused
  std::size_t line = kLongestLine;             ///< bytes of a request
  std::chrono::milliseconds request{10'000};   ///< from a line's first byte, or the connect, to the end of the line
  std::chrono::milliseconds answer{10'000};    ///< a client that takes nothing of its answers for so long is dropped
  std::size_t waiting = std::size_t{4} << 20;  ///< bytes of answers: no further request is read before they are taken
};

/// Makes the socket, to which no client can connect before, in a folder of the service's own; where its file is there, it
/// listens. A socket that is there is replaced. REQUIRES: no other service uses it. Throws InputError.
[[nodiscard]] UniqueFd listen_at(const std::filesystem::path& socket);

class Door {
 public:
  using Client = std::uint64_t;  ///< never used again
  /// A request, and the user and group of its client. Answered by answer(), at once or later; until then the client's
  /// next request is not read.
  using Handle = std::function<void(Client client, uid_t user, gid_t group, Request request)>;

  /// Serves from now on, while the loop runs. `socket` listens and outlives this.
  Door(event_base* loop, int socket, Handle handle, DoorLimits limits = {});
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  /// Closes all connections; what waits for a client is written as far as its socket takes it at once.
  ~Door();

  /// Nothing happens if the client has gone. REQUIRES: its request was handed over and not answered.
  void answer(Client client, const Answer& answer);
  /// Whether the client is connected.
  [[nodiscard]] bool has(Client client) const { return sessions_.contains(client); }
  /// Whether the client has closed its connection, also where the loop has not noticed yet. One that has only closed its
  /// own direction is there. One system call.
  [[nodiscard]] bool has_hung_up(Client client) const;

 private:
  class Session;
  void accept(UniqueFd stream);
  void forget(Client client);

  event_base* loop_;
  Handle handle_;
  DoorLimits limits_;
  std::map<Client, std::unique_ptr<Session>> sessions_;
  Client next_ = 1;
  Listener listener_;
};

}  // namespace replay::service
