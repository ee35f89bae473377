#include "tests/support/http_client.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace replay::test {

HttpClient::HttpClient(std::uint16_t port, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0) ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::system_error(errno, std::generic_category(), "connect");
}

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // the server has closed: what it said is still to be read
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpClient::get(std::string_view path, std::string_view more) {
  send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, more));
}

void HttpClient::read() {
  std::array<char, 65536> bytes;
  while (!is_closed_) {
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      received_.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
      is_closed_ = count == 0 || (errno != EAGAIN && errno != EINTR);
      if (count < 0) return;
    }
  }
}

std::string HttpClient::body() const {
  const std::size_t end = received_.find("\r\n\r\n");
  return end == std::string::npos ? "" : received_.substr(end + 4);
}

int HttpClient::status() const {
  return received_.starts_with("HTTP/1.1 ") && received_.size() > 12 ? std::stoi(received_.substr(9, 3)) : 0;
}

bool reads_to_end(HttpClient& client, const std::function<void()>& turn) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!client.is_closed()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    if (turn) {
      turn();
    } else {
      ::poll(nullptr, 0, 5);
    }
    client.read();
  }
  return true;
}

std::vector<SentEvent> events_in(const std::string& body) {
  std::vector<SentEvent> events;
  std::size_t begin = 0;
  for (std::size_t end = body.find("\n\n"); end != std::string::npos; begin = end + 2, end = body.find("\n\n", begin)) {
    const std::string text = body.substr(begin, end - begin);
    const std::size_t line = text.find('\n');
    if (!text.starts_with("event: ") || line == std::string::npos || text.compare(line, 7, "\ndata: ") != 0 ||
        text.find('\n', line + 1) != std::string::npos)
      throw std::runtime_error("no event: " + text.substr(0, 200));
    events.push_back({text.substr(7, line - 7), text.substr(line + 7)});
  }
  return events;
}

}  // namespace replay::test
