// A call that may block, such as one that connects to another machine, on a thread of its own; its result comes in the loop.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/quiet_thread.hpp"

namespace replay {

template <class Value>
class BlockingCall {
 public:
  /// What the call returned, or what it threw.
  using Result = std::variant<Value, std::string>;

  /// `call` blocks no longer once `cancel` can be read. `done` is called once, by the loop; it may destroy this. Throws
  /// std::system_error.
  BlockingCall(event_base* loop, std::function<Value(int cancel)> call, std::function<void(Result)> done)
      : cancel_(new_eventfd()),
        over_(new_eventfd()),
        done_(std::move(done)),
        over_event_(loop, over_.get(), EV_READ, [this] {
          const auto then = std::move(done_);
          then(std::move(*result_));
        }) {
    over_event_.arm();
    thread_ = quiet_thread([this, call = std::move(call)] {
      try {
        result_.emplace(call(cancel_.get()));
      } catch (const std::exception& error) {
        result_.emplace(std::string{error.what()});
      }
      ::eventfd_write(over_.get(), 1);
    });
  }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
  /// Cancels the call and waits for it.
  ~BlockingCall() {
    ::eventfd_write(cancel_.get(), 1);
    thread_.join();
  }

 private:
  UniqueFd cancel_;  // eventfds
  UniqueFd over_;
  std::optional<Result> result_;  // written by the thread before over_
  std::function<void(Result)> done_;
  LoopEvent over_event_;
  std::thread thread_;
};

}  // namespace replay
