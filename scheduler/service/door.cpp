#include "scheduler/service/door.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::service {
namespace {

constexpr int kWaitingAtTheDoor = 128;  // connections that are not accepted yet

timeval to_timeval(std::chrono::milliseconds time) { return {time.count() / 1000, time.count() % 1000 * 1000}; }

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
class Door::Connection {
 public:
  Connection(Door& door, Client client, UniqueFd socket, uid_t user, gid_t group)
      : door_(door),
        client_(client),
        user_(user),
        group_(group),
        socket_(std::move(socket)),
        line_(bufferevent_socket_new(door.loop_, socket_.get(), 0)),
        late_(door.loop_, -1, 0, [this] { door_.forget(client_); }),
        next_(door.loop_, -1, 0, [this] { read_requests(); }),
        look_(door.loop_, -1, 0, [this] { look_for_hang_up(); }) {
    INVARIANT(line_ != nullptr, "libevent takes no connection");
    bufferevent_setcb(
        line_.get(), [](bufferevent*, void* self) { static_cast<Connection*>(self)->on_readable(); },
        [](bufferevent*, void* self) { static_cast<Connection*>(self)->on_written(); },
        [](bufferevent*, short what, void* self) { static_cast<Connection*>(self)->on_event(what); }, this);
    const timeval answer = to_timeval(door.limits_.answer);
    bufferevent_set_timeouts(line_.get(), nullptr, &answer);
    bufferevent_enable(line_.get(), EV_READ | EV_WRITE);
    late_.arm_after(door.limits_.request);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    bufferevent_disable(line_.get(), EV_READ | EV_WRITE);
    evbuffer* const output = bufferevent_get_output(line_.get());
    if (evbuffer_get_length(output) == 0) return;
    evbuffer_unfreeze(output, 1);
    evbuffer_write(output, socket_.get());
  }

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
    bufferevent_disable(line_.get(), EV_READ);
    late_.arm_after(door_.limits_.answer);
    send(Refused{error});
  }

 private:
  enum class State : std::uint8_t { kReads, kAsks, kLeaves };

  [[nodiscard]] std::size_t waiting() const { return evbuffer_get_length(bufferevent_get_output(line_.get())); }

  void send(const Answer& answer) {
    const std::string line = to_line(answer) + '\n';
    bufferevent_write(line_.get(), line.data(), line.size());
  }

  [[nodiscard]] std::size_t unread() const { return evbuffer_get_length(bufferevent_get_input(line_.get())); }

  // Reads no further while so much is there. By hand: at its high watermark libevent calls back again and again.
  void on_readable() {
    if (unread() > door_.limits_.line) {
      bufferevent_disable(line_.get(), EV_READ);
      look_.arm_after(door_.limits_.request);
    }
    read_requests();
  }

  // Where nothing is read, nothing tells that the client has gone.
  void look_for_hang_up() {
    if ((bufferevent_get_enabled(line_.get()) & EV_READ) != 0) return;
    if (has_hung_up()) return door_.forget(client_);
    look_.arm_after(door_.limits_.request);
  }

  // Takes the next request of those that have come, if the last one is answered.
  void read_requests() {
    if (state_ != State::kReads || waiting() > door_.limits_.waiting) return;
    evbuffer* const input = bufferevent_get_input(line_.get());
    const evbuffer_ptr end = evbuffer_search_eol(input, nullptr, nullptr, EVBUFFER_EOL_LF);
    const std::size_t there = evbuffer_get_length(input);
    if (end.pos < 0) {
      if (there > door_.limits_.line) return refuse_line();
      if (has_ended_) return waiting() == 0 ? door_.forget(client_) : void();
      if (there > 0 && !std::exchange(in_line_, true)) late_.arm_after(door_.limits_.request);
      return;
    }
    const auto length = static_cast<std::size_t>(end.pos);
    if (length > door_.limits_.line) return refuse_line();
    std::string line(length, '\0');
    evbuffer_remove(input, line.data(), length);
    evbuffer_drain(input, 1);
    if (!has_ended_ && unread() <= door_.limits_.line) bufferevent_enable(line_.get(), EV_READ);
    late_.disarm();
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

  void on_written() {
    if (state_ == State::kLeaves) return door_.forget(client_);
    read_requests();
  }

  // An error, answers that it does not take, or closed by the client. One that has only closed its own direction gets
  // the answers to what it has asked.
  void on_event(short what) {
    if ((what & BEV_EVENT_EOF) == 0 || has_hung_up() || state_ == State::kLeaves) return door_.forget(client_);
    has_ended_ = true;
    read_requests();
  }

  Door& door_;
  Client client_;
  uid_t user_;
  gid_t group_;
  UniqueFd socket_;
  struct Deleter {
    void operator()(bufferevent* line) const { bufferevent_free(line); }
  };
  std::unique_ptr<bufferevent, Deleter> line_;
  launcher::LoopEvent late_;
  launcher::LoopEvent next_;
  launcher::LoopEvent look_;
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
  const bool is_full = connections_.size() >= limits_.clients;
  const Client client = next_++;
  if (is_full) {  // costs nothing more than a try to say so
    const std::string line =
        to_line(Refused{fmt::format("the service has {} clients already", limits_.clients)}) + '\n';
    (void)!::send(stream.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  const auto [there, is_new] =
      connections_.emplace(client, std::make_unique<Connection>(*this, client, std::move(stream), peer.uid, peer.gid));
  INVARIANT(is_new, "client {} is there already", client);
  if (!is_permitted)
    there->second->refuse(
        fmt::format("the service belongs to another user: expected uid {}, found {}", ::geteuid(), peer.uid));
}

void Door::answer(Client client, const Answer& answer) {
  const auto found = connections_.find(client);
  if (found == connections_.end()) return;
  INVARIANT(found->second->is_asking(), "client {} is answered twice", client);
  found->second->answer(answer);
}

bool Door::has_hung_up(Client client) const {
  const auto found = connections_.find(client);
  return found == connections_.end() || found->second->has_hung_up();
}

// Called by a connection about itself, as its last act.
void Door::forget(Client client) { connections_.erase(client); }

}  // namespace replay::service
