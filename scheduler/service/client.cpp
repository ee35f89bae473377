#include "scheduler/service/client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace replay::service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// A request that changes a job may have been carried out although no answer has come; a job that is waited for may go on.
std::string doubt_about(const Request& request) {
  if (std::holds_alternative<Submit>(request))
    return "; whether the job has been submitted is not known: look with `replay jobs --all` before it is submitted "
           "again";
  if (std::holds_alternative<CancelJob>(request))
    return "; whether the job has been cancelled is not known: `replay jobs NUMBER` says";
  if (const auto* const wait = std::get_if<WaitForJob>(&request))
    return fmt::format("; whether job {0} goes on is not known: `replay jobs {0}` says, once a service is there",
                       number(wait->job));
  return "";
}

bool is_trusted(uid_t user) { return user == ::geteuid() || user == 0; }

// In a folder that others may write, any user can put a socket of his own.
void expect_trusted_folder(const std::filesystem::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return;  // connect() says what is wrong
  if (!is_trusted(status.st_uid))
    throw InputError(fmt::format("{}: expected a service's folder of uid {} or of root, found one of uid {}",
                                 folder.string(), ::geteuid(), status.st_uid));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw InputError(
        fmt::format("{}: expected a service's folder that no other user may write (mode 0700), found mode {:04o}",
                    folder.string(), status.st_mode & 07777));
}

void expect_trusted_service(int stream, const std::string& place) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(stream, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    throw InputError(fmt::format("the service at {}: its user cannot be found: {}", place, std::strerror(errno)));
  if (!is_trusted(peer.uid))
    throw InputError(fmt::format("the service at {} belongs to another user: expected uid {} or root, found {}", place,
                                 ::geteuid(), peer.uid));
}

UniqueFd connected(const ServiceFolder& folder, std::chrono::milliseconds patience) {
  const std::string place = folder.path().string();
  expect_trusted_folder(folder.path());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.socket().string();  // short enough, says ServiceFolder
  std::ranges::copy(path, std::begin(address.sun_path));
  UniqueFd stream{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!stream.is_open()) throw InputError(fmt::format("no socket can be had: {}", std::strerror(errno)));
  // A blocking connect() waits while the service has no time for a new client.
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timeval limit{whole.count(), (patience - whole).count() * 1000};
  (void)::setsockopt(stream.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int result = 0;
  do {
    result = ::connect(stream.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result != 0 && errno == EINTR);
  if (result == 0) {
    expect_trusted_service(stream.get(), place);
    return stream;
  }
  const int error = errno;
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR)
    throw InputError(fmt::format("no service at {}: `replay serve` starts one, --service DIR names another", place));
  if (error == EAGAIN)
    throw InputError(fmt::format("the service at {} takes no connection: it is busy, or stopped", place));
  throw InputError(fmt::format("the service at {} cannot be reached: {}", place, std::strerror(error)));
}

}  // namespace

Client::Client(const ServiceFolder& folder, std::chrono::milliseconds patience)
    : name_(fmt::format("the service at {}", folder.path().string())),
      patience_(patience),
      stream_(connected(folder, patience)) {}

Answer Client::answer_to(const Request& request) {
  const std::string asked = to_line(request);
  if (asked.size() > kLongestLine)
    throw InputError(fmt::format("the request has {} bytes, expected at most {}: most of a job's is its environment",
                                 asked.size(), kLongestLine));
  send(asked + '\n');
  doubt_ = doubt_about(request);
  const bool may_take_long = std::holds_alternative<WaitForJob>(request);
  const std::string answer = line(may_take_long ? Deadline::max() : Clock::now() + patience_);
  try {
    Answer parsed = parse_answer(answer);
    doubt_.clear();
    return parsed;
  } catch (const InputError& error) {
    fail(fmt::format("has sent what is no answer: {}", error.what()));
  }
}

void Client::send(std::string_view bytes) {
  const Deadline until = Clock::now() + patience_;
  while (!bytes.empty()) {
    wait_for(POLLOUT, until);
    const ssize_t sent = ::send(stream_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    // A service that refuses a client says why and closes: what it said is read instead.
    if (errno == EPIPE || errno == ECONNRESET) return;
    if (errno != EAGAIN && errno != EINTR) fail(fmt::format("cannot be written to: {}", std::strerror(errno)));
  }
}

std::string Client::line(Deadline until) {
  for (std::size_t searched = 0;;) {
    if (const std::size_t end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > kLongestAnswer) fail(fmt::format("has sent an answer of more than {} bytes", kLongestAnswer));
    wait_for(POLLIN, until);
    received_.resize(searched + kReadBytes);
    const ssize_t got = ::recv(stream_.get(), received_.data() + searched, kReadBytes, MSG_DONTWAIT);
    received_.resize(searched + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    if (got == 0 || (got < 0 && errno == ECONNRESET)) fail("has ended the connection, and not answered");
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
}

void Client::wait_for(short events, Deadline until) const {
  for (;;) {
    const bool has_limit = until != Deadline::max();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (has_limit && left.count() <= 0) fail(fmt::format("has not answered for {} s", patience_.count() / 1000));
    pollfd stream{stream_.get(), events, 0};
    const int found = ::poll(&stream, 1, has_limit ? static_cast<int>(left.count()) : -1);
    if (found > 0) return;
    if (found < 0 && errno != EINTR) fail(fmt::format("cannot be waited for: {}", std::strerror(errno)));
  }
}

bool Client::has_service_gone() const {
  std::array<char, 1> byte{};
  const ssize_t got = ::recv(stream_.get(), byte.data(), byte.size(), MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void Client::fail(const std::string& what) const { throw InputError(fmt::format("{} {}{}", name_, what, doubt_)); }

void Client::fail_on_other_answer() const { fail("has answered another request than this one"); }

}  // namespace replay::service
