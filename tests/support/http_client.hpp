// A hand-made HTTP client over a socket, for tests of servers: it sends any bytes, and reads when the test says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::test {

class HttpClient {
 public:
  /// Connects to 127.0.0.1. `receive_buffer`: bytes that the kernel keeps for it, 0: as usual.
  explicit HttpClient(std::uint16_t port, int receive_buffer = 0);

  void send(std::string_view bytes);
  /// "GET PATH" with a Host field, and more fields, each with its line end.
  void get(std::string_view path, std::string_view more = "");
  /// Takes what has come, without waiting.
  void read();
  /// All that has come.
  [[nodiscard]] const std::string& received() const { return received_; }
  /// The server has closed the connection; all that it sent has been read.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  void close() { socket_.reset(); }

  /// The part of received() behind the head; empty before it has come.
  [[nodiscard]] std::string body() const;
  /// The status line's number; 0: none has come.
  [[nodiscard]] int status() const;

 private:
  UniqueFd socket_;
  std::string received_;
  bool is_closed_ = false;
};

/// Waits for the server's end of the connection, in steps of `turn` or of the client's own reading. False: not within 20 s.
[[nodiscard]] bool reads_to_end(HttpClient& client, const std::function<void()>& turn = {});

/// An event of a stream of server-sent events.
struct SentEvent {
  std::string name;
  std::string data;
};
/// The events that are complete. Everything else in the stream makes a test fail: an event without a name or data.
[[nodiscard]] std::vector<SentEvent> events_in(const std::string& body);

}  // namespace replay::test
