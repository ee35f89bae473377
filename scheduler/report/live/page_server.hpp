// A small HTTP server for one page and its stream of events, on 127.0.0.1 only. A program that has its address may read, and do
// nothing else: the address has a random token of 160 bits, without which every path is "not found". It bounds what a client
// costs: connections, their time, the size of a request, and the bytes that wait for a client. It knows nothing of runs; the
// owner gives it the page and sends events, and it waits on the owner's loop. Why it is no evhttp: ADR 25.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/loop/listener.hpp"

namespace replay::report {

/// Changed by tests only.
struct ServerLimits {
  /// When one more comes, the oldest that has not shown the token is closed, else the new one.
  std::size_t connections = 32;
  std::size_t streams = 8;                   ///< of events; one more is answered with 503
  std::size_t head = 16'384;                 ///< bytes of a request
  std::chrono::milliseconds request{5'000};  ///< until a request is complete
  std::chrono::milliseconds answer{10'000};  ///< until an answer that ends is taken
  std::chrono::milliseconds stall{30'000};   ///< a client that takes nothing of its events for so long is dropped
};

class PageServer {
 public:
  /// Listens from now on; answers when the loop runs. `port` 0: any that is free. Throws InputError if there is no such port.
  PageServer(event_base* loop, std::uint16_t port, ServerLimits limits = {});
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:PORT/TOKEN/".
  [[nodiscard]] std::string url() const;
  /// What a page's source names as the path of its events, seen from url().
  static constexpr std::string_view kEvents = "events";

  /// The page, from now on; until then it is "not found".
  void show(std::string page);

  using Stream = std::uint64_t;
  /// Those that are open, in the order in which they came. A number is never used again.
  [[nodiscard]] std::vector<Stream> streams() const;
  /// Bytes that the client has not taken. REQUIRES: it is among streams().
  [[nodiscard]] std::size_t waiting(Stream stream) const;
  /// Queues an event; `data` is one line. REQUIRES: as waiting().
  void send(Stream stream, std::string_view event, std::string_view data);
  /// No connection comes any more, and those that are open are closed when they have taken what waits for them.
  void close();
  /// Whether no connection is open.
  [[nodiscard]] bool is_idle() const { return sessions_.empty(); }
  /// Whether the kernel has all that was sent: it arrives also if this is destroyed now.
  [[nodiscard]] bool has_sent_all() const;

 private:
  class Session;
  struct Answer;

  void accept(UniqueFd stream);
  [[nodiscard]] Answer answer(std::string_view head) const;
  [[nodiscard]] Session& of(Stream stream) const;
  void forget(const Session& session);

  event_base* loop_;
  ServerLimits limits_;
  std::string token_;
  std::uint16_t port_ = 0;
  std::shared_ptr<const std::string> page_;
  std::unique_ptr<Listener> listener_;  // null: closed
  std::list<std::unique_ptr<Session>> sessions_;
  Stream next_ = 1;
};

}  // namespace replay::report
