#include "scheduler/service/door.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/connection.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::service {
namespace {

constexpr int kWaitingAtTheDoor = 128;  // connections that are not accepted yet

[[noreturn]] void cannot_listen(const std::filesystem::path& socket) {
  throw InputError(fmt::format("{}: cannot be listened on: {}", socket.string(), std::strerror(errno)));
}

}  // namespace

UniqueFd listen_at(const std::filesystem::path& socket) {
  const auto expect_none_or_socket = [](const std::filesystem::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
      throw InputError(fmt::format("{}: expected a socket or nothing, found another file", path.string()));
  };
  expect_none_or_socket(socket);
  // It gets its name when it listens: until then a client would be refused.
  const std::filesystem::path other = socket.parent_path() / ".new";
  expect_none_or_socket(other);
  ::unlink(other.c_str());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = other.string();
  INVARIANT(path.size() < sizeof address.sun_path, "the socket's path is too long: {}", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd made{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!made.is_open()) cannot_listen(socket);
  ::fchmod(made.get(), 0600);  // the socket's file gets the mode of its inode
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(made.get(), kWaitingAtTheDoor) != 0 ||
      ::rename(path.c_str(), socket.c_str()) != 0) {
    const int why = errno;
    ::unlink(path.c_str());
    errno = why;
    cannot_listen(socket);
  }
  return made;
}

// One client.
class Door::Session final : Connection::Owner {
 public:
  Session(Door& door, Client client, UniqueFd socket, uid_t user, gid_t group)
      : door_(door),
        client_(client),
        user_(user),
        group_(group),
        socket_(std::move(socket)),
        line_(door.loop_, socket_.get(), *this),
        next_(door.loop_, -1, 0, [this] { read_requests(); }),
        look_(door.loop_, -1, 0, [this] { look_for_hang_up(); }) {
    line_.drop_if_stalled(door.limits_.answer);
    line_.set_deadline(door.limits_.request);
    line_.read();
  }
  ~Session() { line_.write_last_bytes(); }

  [[nodiscard]] bool is_asking() const { return state_ == State::kAsks; }

  // A peer that has only closed its own direction is no hang-up.
  [[nodiscard]] bool has_hung_up() const {
    pollfd state{socket_.get(), 0, 0};
    return ::poll(&state, 1, 0) != 0;
  }

  void answer(const Answer& answer) {
    state_ = State::kReads;
    send(answer);
    next_.arm_after(std::chrono::milliseconds{0});  // not from inside of a call of the service
  }

  /// Says why, and closes when that is taken.
  void refuse(const std::string& error) {
    state_ = State::kLeaves;
    line_.pause_reading();
    line_.set_deadline(door_.limits_.answer);
    send(Refused{error});
  }

 private:
  enum class State : std::uint8_t { kReads, kAsks, kLeaves };

  void send(const Answer& answer) { line_.send(to_line(answer) + '\n'); }

  // Reads no further while so much is there.
  void on_bytes() override {
    if (line_.unread().size() > door_.limits_.line) {
      line_.pause_reading();
      look_.arm_after(door_.limits_.request);
    }
    read_requests();
  }

  // Where nothing is read, nothing tells that the client has gone.
  void look_for_hang_up() {
    if (has_hung_up()) return door_.forget(client_);
    look_.arm_after(door_.limits_.request);
  }

  // Takes the next request of those that have come, if the last one is answered.
  void read_requests() {
    if (state_ != State::kReads || line_.waiting() > door_.limits_.waiting) return;
    const std::string_view there = line_.unread();
    const std::size_t length = there.find('\n');
    if (std::min(length, there.size()) > door_.limits_.line) return refuse_line();
    if (length == std::string_view::npos) {
      if (has_ended_) return line_.waiting() == 0 ? door_.forget(client_) : void();
      if (!there.empty() && !std::exchange(in_line_, true)) line_.set_deadline(door_.limits_.request);
      return;
    }
    const std::string line{there.substr(0, length)};
    line_.drop(length + 1);
    if (!has_ended_ && line_.unread().size() <= door_.limits_.line) {
      line_.read();
      look_.disarm();
    }
    line_.clear_deadline();
    in_line_ = false;  // between two requests it may be silent
    Request request;
    try {
      request = parse_request(line);
    } catch (const InputError& error) {
      return refuse(clean_line(error.what(), kLongestReason));
    }
    state_ = State::kAsks;
    door_.handle_(client_, user_, group_, std::move(request));
  }

  void refuse_line() { refuse(fmt::format("request: expected a line of at most {} bytes", door_.limits_.line)); }

  void on_written() override {
    if (state_ == State::kLeaves) return door_.forget(client_);
    read_requests();
  }

  // One that has only closed its own direction gets the answers to what it has asked.
  void on_end(Connection::End end) override {
    if (end != Connection::End::kSendsNoMore || has_hung_up() || state_ == State::kLeaves) return door_.forget(client_);
    has_ended_ = true;
    read_requests();
  }

  Door& door_;
  Client client_;
  uid_t user_;
  gid_t group_;
  UniqueFd socket_;
  Connection line_;
  LoopEvent next_;
  LoopEvent look_;
  State state_ = State::kReads;
  bool in_line_ = false;    // the beginning of a line has come
  bool has_ended_ = false;  // it sends nothing more
};

Door::Door(event_base* loop, int socket, Handle handle, DoorLimits limits)
    : loop_(loop),
      handle_(std::move(handle)),
      limits_(limits),
      listener_(loop, UniqueFd{::fcntl(socket, F_DUPFD_CLOEXEC, 3)},
                [this](UniqueFd stream) { accept(std::move(stream)); }) {}

Door::~Door() = default;

void Door::accept(UniqueFd stream) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(stream.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const bool is_permitted = peer.uid == ::geteuid() || peer.uid == 0;
  const bool is_full = sessions_.size() >= limits_.clients;
  const Client client = next_++;
  if (is_full) {  // costs nothing more than a try to say so
    const std::string line =
        to_line(Refused{fmt::format("the service has {} clients already", limits_.clients)}) + '\n';
    (void)!::send(stream.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  const auto [there, is_new] =
      sessions_.emplace(client, std::make_unique<Session>(*this, client, std::move(stream), peer.uid, peer.gid));
  INVARIANT(is_new, "client {} is there already", client);
  if (!is_permitted)
    there->second->refuse(
        fmt::format("the service belongs to another user: expected uid {}, found {}", ::geteuid(), peer.uid));
}

void Door::answer(Client client, const Answer& answer) {
  const auto found = sessions_.find(client);
  if (found == sessions_.end()) return;
  INVARIANT(found->second->is_asking(), "client {} is answered twice", client);
  found->second->answer(answer);
}

bool Door::has_hung_up(Client client) const {
  const auto found = sessions_.find(client);
  return found == sessions_.end() || found->second->has_hung_up();
}

// Called by a session about itself, as its last act.
void Door::forget(Client client) { sessions_.erase(client); }

}  // namespace replay::service
