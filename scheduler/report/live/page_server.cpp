#include "scheduler/report/live/page_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/connection.hpp"
#include "scheduler/report/live/http_request.hpp"

namespace replay::report {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::size_t kTokenBytes = 20;
constexpr std::size_t kMostIgnored = 65'536;  // bytes that a client sends behind its request
constexpr int kBacklog = 16;
constexpr auto kLeaving = 1'000ms;  // a client that has its answer closes the connection within this time

// That of the page itself, which the browser obeys too, and what only a header can say. Nothing is kept, nothing is told to
// other sites, and no other site may put the page into a frame.
constexpr std::string_view kHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "
    "data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Cache-Control: no-store\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Connection: close\r\n";

std::string random_token() {
  INVARIANT(sodium_init() >= 0, "libsodium has no random numbers");
  std::array<unsigned char, kTokenBytes> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::string token(2 * kTokenBytes + 1, '\0');
  sodium_bin2hex(token.data(), token.size(), bytes.data(), bytes.size());
  token.pop_back();  // the NUL
  return token;
}

[[noreturn]] void fail_to_listen(std::uint16_t port) {
  const int error = errno;
  const std::string address = fmt::format("port {} of 127.0.0.1", port);
  if (error == EADDRINUSE)
    throw InputError(address + ": another program listens there: expected a free port, or none for any that is free");
  throw InputError(fmt::format("{}: cannot be listened on: {}", address, std::strerror(error)));
}

UniqueFd listen_on(std::uint16_t port) {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!socket.is_open()) fail_to_listen(port);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // connections of a run before may linger
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0)
    fail_to_listen(port);
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  INVARIANT(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0, "a socket has no address");
  return ntohs(address.sin_port);
}

}  // namespace

// What a request gets.
struct PageServer::Answer {
  std::string_view status;
  std::string_view more{};  // header fields
  std::string_view type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body{};  // null: the status
  bool has_token = false;
  bool is_stream = false;
  bool without_body = false;
};

// One client: one request, then its answer or events.
class PageServer::Session final : Connection::Owner {
 public:
  Session(PageServer& server, UniqueFd socket)
      : server_(server), socket_(std::move(socket)), line_(server.loop_, socket_.get(), *this) {
    line_.set_deadline(server.limits_.request);
    line_.read();
  }

  [[nodiscard]] bool has_token() const { return has_token_; }
  [[nodiscard]] Stream stream() const { return state_ == State::kStreams ? stream_ : 0; }
  [[nodiscard]] std::size_t waiting() const { return line_.waiting(); }
  void send(std::string_view bytes) { line_.send(bytes); }
  /// Closes it when what waits has been taken.
  void end() {
    if (state_ == State::kLeaves) return;
    if (state_ == State::kReads || waiting() == 0) return leave();
    state_ = State::kAnswers;
    line_.set_deadline(server_.limits_.answer);
  }

 private:
  enum class State : std::uint8_t { kReads, kAnswers, kStreams, kLeaves };

  void on_bytes() override {
    const std::string_view bytes = line_.unread();
    if (state_ != State::kReads) {
      ignored_ += bytes.size();
      line_.drop(bytes.size());
      if (ignored_ > kMostIgnored) server_.forget(*this);
      return;
    }
    const auto head = head_length(bytes);
    if (!head && bytes.size() <= server_.limits_.head) return;
    const Answer answer = head && *head <= server_.limits_.head ? server_.answer(bytes.substr(0, *head))
                                                                : Answer{"431 Request Header Fields Too Large"};
    line_.drop(bytes.size());
    begin(answer);
  }

  void begin(const Answer& answer) {
    has_token_ = answer.has_token;
    std::string head =
        fmt::format("HTTP/1.1 {}\r\n{}{}Content-Type: {}\r\n", answer.status, kHeaders, answer.more, answer.type);
    const auto body =
        answer.body ? answer.body : std::make_shared<const std::string>(fmt::format("{}\n", answer.status));
    if (!answer.is_stream) head += fmt::format("Content-Length: {}\r\n", body->size());
    send(head + "\r\n");
    if (answer.is_stream && !answer.without_body) {
      line_.clear_deadline();
      state_ = State::kStreams;
      stream_ = server_.next_++;
      return line_.drop_if_stalled(server_.limits_.stall);
    }
    state_ = State::kAnswers;
    line_.set_deadline(server_.limits_.answer);
    if (!answer.without_body) line_.send(body);
  }

  void on_written() override {
    if (state_ == State::kAnswers) leave();
  }

  // The client has everything. It may still send: a connection closed now would be reset, and the answer lost.
  void leave() {
    state_ = State::kLeaves;
    ::shutdown(socket_.get(), SHUT_WR);
    line_.set_deadline(kLeaving);
  }

  void on_end(Connection::End end) override {
    if (end == Connection::End::kSendsNoMore && state_ == State::kAnswers) return;  // it still reads
    server_.forget(*this);
  }

  PageServer& server_;
  UniqueFd socket_;
  Connection line_;
  State state_ = State::kReads;
  bool has_token_ = false;
  std::size_t ignored_ = 0;
  Stream stream_ = 0;
};

PageServer::PageServer(event_base* loop, std::uint16_t port, ServerLimits limits)
    : loop_(loop), limits_(limits), token_(random_token()) {
  UniqueFd socket = listen_on(port);
  port_ = port_of(socket.get());
  listener_ =
      std::make_unique<Listener>(loop, std::move(socket), [this](UniqueFd client) { accept(std::move(client)); });
}

PageServer::~PageServer() = default;

std::string PageServer::url() const { return fmt::format("http://127.0.0.1:{}/{}/", port_, token_); }

void PageServer::show(std::string page) { page_ = std::make_shared<const std::string>(std::move(page)); }

void PageServer::accept(UniqueFd stream) {
  if (sessions_.size() >= limits_.connections) {
    const auto stranger = std::ranges::find_if(sessions_, [](const auto& one) { return !one->has_token(); });
    if (stranger == sessions_.end()) return;
    sessions_.erase(stranger);
  }
  sessions_.push_back(std::make_unique<Session>(*this, std::move(stream)));
}

// The token is looked at last, so that no other answer depends on it.
PageServer::Answer PageServer::answer(std::string_view head) const {
  const auto request = parse_request(head);
  if (!request) return {"400 Bad Request"};
  if (!is_loopback_name(request->host)) return {"403 Forbidden"};
  if (request->method == HttpRequest::Method::kOther) return {"405 Method Not Allowed", "Allow: GET, HEAD\r\n"};
  Answer answer{"404 Not Found"};
  answer.without_body = request->method == HttpRequest::Method::kHead;
  std::string_view path = request->path.substr(1, request->path.find('?') - 1);
  if (path.size() <= token_.size() || sodium_memcmp(path.data(), token_.data(), token_.size()) != 0) return answer;
  path.remove_prefix(token_.size());
  if (path == "/" && page_) {
    answer = {"200 OK", {}, "text/html; charset=utf-8", page_, true, false, answer.without_body};
  } else if (path.substr(1) == kEvents && path.front() == '/') {
    if (streams().size() >= limits_.streams) return {"503 Service Unavailable", "Retry-After: 10\r\n"};
    answer = {"200 OK", {}, "text/event-stream", nullptr, true, true, answer.without_body};
  }
  return answer;
}

std::vector<PageServer::Stream> PageServer::streams() const {
  std::vector<Stream> open;
  for (const auto& session : sessions_)
    if (session->stream() != 0) open.push_back(session->stream());
  std::ranges::sort(open);
  return open;
}

PageServer::Session& PageServer::of(Stream stream) const {
  const auto found = std::ranges::find_if(sessions_, [stream](const auto& one) { return one->stream() == stream; });
  INVARIANT(stream != 0 && found != sessions_.end(), "there is no stream {}", stream);
  return **found;
}

std::size_t PageServer::waiting(Stream stream) const { return of(stream).waiting(); }

void PageServer::send(Stream stream, std::string_view event, std::string_view data) {
  of(stream).send(fmt::format("event: {}\ndata: {}\n\n", event, data));
}

void PageServer::close() {
  listener_.reset();
  for (const auto& session : sessions_) session->end();
}

bool PageServer::has_sent_all() const {
  return std::ranges::all_of(sessions_, [](const auto& session) { return session->waiting() == 0; });
}

void PageServer::forget(const Session& session) {
  std::erase_if(sessions_, [&session](const auto& one) { return one.get() == &session; });
}

}  // namespace replay::report
