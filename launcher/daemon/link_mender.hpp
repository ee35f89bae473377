// Connects to an agent again after a cut, on a thread of its own, since looking up, connecting and the handshake block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "launcher/daemon/agent_link.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class LinkMender {
 public:
  /// The mended link, or why there is none, as the end of a sentence.
  using Result = std::variant<AgentLink, std::string>;

  /// Tries until `until`. `done` is called once, by the loop; it may destroy this. Throws std::system_error.
  LinkMender(event_base* loop, const LinkTarget& cut, std::uint64_t received,
             std::chrono::steady_clock::time_point until, std::function<void(Result)> done);
  LinkMender(const LinkMender&) = delete;
  LinkMender& operator=(const LinkMender&) = delete;
  /// Gives up at once.
  ~LinkMender();

 private:
  UniqueFd cancel_;  // eventfds
  UniqueFd over_;
  std::optional<Result> result_;  // written by the thread before over_
  std::function<void(Result)> done_;
  LoopEvent over_event_;
  std::thread thread_;
};

}  // namespace replay::launcher
