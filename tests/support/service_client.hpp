// A client of a service, as a test drives it: bytes go out and come in without waiting.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scheduler/base/file/unique_fd.hpp"
#include "tests/support/background.hpp"

namespace replay::test {

class ServiceClient {
 public:
  /// Not `may_fail`: a failure of the test if nothing listens there.
  explicit ServiceClient(const std::filesystem::path& socket, bool may_fail = false)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, socket.c_str());
    is_closed_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0;
    EXPECT_TRUE(may_fail || !is_closed_) << std::strerror(errno);
  }
  /// As much as the socket takes.
  std::size_t send(std::string_view bytes) const {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  void say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }
  /// What has come so far. Notes when the door has closed.
  const std::string& take() {
    char bytes[65536];
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got == 0 || (got < 0 && errno != EAGAIN)) is_closed_ = true;
      if (got <= 0) return text_;
      text_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  /// The whole lines that have come so far.
  [[nodiscard]] std::size_t lines() {
    const std::string& text = take();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// The last whole line, without its end.
  [[nodiscard]] std::string last_line() {
    const std::string text = take().substr(0, text_.rfind('\n'));
    return text.substr(text.rfind('\n') + 1);
  }
  [[nodiscard]] bool is_closed() {
    (void)take();
    return is_closed_;
  }

 private:
  UniqueFd socket_;
  std::string text_;
  bool is_closed_ = false;
};

/// What the service answers, which is asked again while it begins or is busy. An object without "ok": none has come within
/// `limit`, or the service has ended.
inline nlohmann::json answer_of(Background& service, const std::filesystem::path& socket, const nlohmann::json& request,
                                std::chrono::seconds limit) {
  nlohmann::json answer = nlohmann::json::object();
  (void)comes_true(
      [&] {
        if (!service.is_running()) return true;
        ServiceClient client{socket, true};
        (void)client.send(request.dump() + "\n");
        (void)comes_true([&] { return client.lines() > 0 || client.is_closed(); }, limit);
        if (client.lines() == 0 || client.last_line().find("the service is busy") != std::string::npos) return false;
        answer = nlohmann::json::parse(client.last_line());
        return true;
      },
      limit);
  return answer;
}

}  // namespace replay::test
