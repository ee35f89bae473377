// A Unix socket at which each caller says one thing within a time limit. The kernel names the process that calls; those of
// other users are not heard. A caller that is late or says something else loses its own connection and nothing else.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/listener.hpp"
#include "scheduler/base/loop/read_deadline.hpp"

namespace replay {

/// Non-blocking. Throws std::system_error.
[[nodiscard]] UniqueFd listen_at_unix_socket(const std::filesystem::path& path);
/// The process at the other end of a Unix socket. Nothing: it is another user's.
[[nodiscard]] std::optional<pid_t> own_caller(int stream);

enum class Heard : std::uint8_t { kPart, kAll, kNonsense };

/// `Words` is what a caller has said so far.
template <typename Words>
class UnixDesk {
 public:
  /// Reads on into `words` without waiting.
  using Listen = std::function<Heard(int stream, Words& words)>;
  /// A caller has said all; `stream` is its connection.
  using Take = std::function<void(Words words, UniqueFd stream, pid_t caller)>;

  /// Creates the socket, which the destructor removes. Throws std::system_error.
  UnixDesk(event_base* loop, std::filesystem::path path, std::chrono::milliseconds limit, Listen listen, Take take)
      : loop_(loop),
        path_(std::move(path)),
        limit_(limit),
        listen_(std::move(listen)),
        take_(std::move(take)),
        listener_(loop, listen_at_unix_socket(path_), [this](UniqueFd stream) { add(std::move(stream)); }) {}
  UnixDesk(UnixDesk&&) = delete;
  ~UnixDesk() { ::unlink(path_.c_str()); }

 private:
  struct Caller {
    UniqueFd stream;
    pid_t pid = 0;
    Words words{};
    std::optional<ReadDeadline> events;
  };
  using Place = typename std::list<Caller>::iterator;

  void add(UniqueFd stream) {
    const auto pid = own_caller(stream.get());
    if (!pid) return;
    const Place caller = callers_.emplace(callers_.end());
    caller->stream = std::move(stream);
    caller->pid = *pid;
    caller->events.emplace(
        loop_, caller->stream.get(), limit_, [this, caller] { hear(caller); },
        [this, caller] { callers_.erase(caller); });
  }

  void hear(Place caller) {
    const Heard heard = listen_(caller->stream.get(), caller->words);
    if (heard == Heard::kPart) return;
    std::list<Caller> said;
    said.splice(said.begin(), callers_, caller);
    caller->events.reset();  // before its descriptor is given away
    if (heard == Heard::kAll) take_(std::move(caller->words), std::move(caller->stream), caller->pid);
  }

  event_base* loop_;
  std::filesystem::path path_;
  std::chrono::milliseconds limit_;
  Listen listen_;
  Take take_;
  std::list<Caller> callers_;
  Listener listener_;
};

}  // namespace replay
