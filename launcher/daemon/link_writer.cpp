#include "launcher/daemon/link_writer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "scheduler/base/process/quiet_thread.hpp"

namespace replay::launcher {

using namespace std::chrono_literals;

LinkWriter::LinkWriter(int socket, const protocol::SealKey& key, const protocol::Ping& ping,
                       std::chrono::milliseconds between_pings)
    : socket_(socket), between_pings_(between_pings), wake_(new_eventfd()), sealer_(key), ping_(ping) {
  thread_ = quiet_thread([this] { run(); });
}

LinkWriter::~LinkWriter() {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void LinkWriter::acknowledge(const protocol::Ping& ping) {
  const std::lock_guard lock{mutex_};
  ping_ = ping;
}

void LinkWriter::send(std::string_view frame) {
  bool is_left = false;
  {
    const std::lock_guard lock{mutex_};
    add(frame);
    is_left = !unsent_.empty();
  }
  if (is_left) ::eventfd_write(wake_.get(), 1);  // the thread waits until the socket takes it
}

/// REQUIRES: the lock.
void LinkWriter::add(std::string_view frame) {
  if (is_broken_) return;
  unsent_ += sealer_.seal(frame);
  write_some();
}

/// REQUIRES: the lock.
void LinkWriter::write_some() {
  std::size_t sent = 0;
  while (sent < unsent_.size()) {
    const ssize_t count = ::send(socket_, unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0)
      sent += static_cast<std::size_t>(count);
    else if (errno != EINTR) {
      is_broken_ = errno != EAGAIN;
      break;
    }
  }
  unsent_.erase(0, sent);
  if (is_broken_) unsent_.clear();
}

void LinkWriter::run() {
  Clock::time_point next_ping = Clock::now();
  for (;;) {
    bool wants_to_write = false;
    {
      const std::lock_guard lock{mutex_};
      if (is_ending_) return;
      if (!unsent_.empty()) write_some();
      if (Clock::now() >= next_ping) {
        if (unsent_.empty()) add(protocol::encode(protocol::AgentOrder{ping_}));
        next_ping = Clock::now() + between_pings_;
      }
      wants_to_write = !unsent_.empty();
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ping - Clock::now());
    std::array<pollfd, 2> ends{{{wake_.get(), POLLIN, 0}, {wants_to_write ? socket_ : -1, POLLOUT, 0}}};
    ::poll(ends.data(), ends.size(), static_cast<int>(std::max(left, 0ms).count()));
    eventfd_t ignored = 0;
    if (ends[0].revents != 0) ::eventfd_read(wake_.get(), &ignored);
  }
}

}  // namespace replay::launcher
