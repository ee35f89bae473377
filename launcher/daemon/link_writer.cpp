#include "launcher/daemon/link_writer.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

UniqueFd new_eventfd() {
  UniqueFd fd{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

/// Blocks all signals while a thread is started, which inherits the mask: signals are for the starting thread.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

LinkWriter::LinkWriter(int socket, const protocol::SealKey& key, std::chrono::milliseconds between_pings)
    : socket_(socket), between_pings_(between_pings), wake_(new_eventfd()), sealer_(key) {
  const AllSignalsBlocked blocked;
  thread_ = std::thread{[this] { run(); }};
}

LinkWriter::~LinkWriter() {
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
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
  const std::string ping = protocol::encode(protocol::AgentOrder{protocol::Ping{}});
  Clock::time_point next_ping = Clock::now();
  for (;;) {
    bool wants_to_write = false;
    {
      const std::lock_guard lock{mutex_};
      if (is_ending_) return;
      if (!unsent_.empty()) write_some();
      if (Clock::now() >= next_ping) {
        if (unsent_.empty()) add(ping);  // else there is something on its way already
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
