// Observers of logs that are made by hand: what a run or a reader of files passes to a follower.
#pragma once

#include <concepts>
#include <span>
#include <utility>

#include "scheduler/history/follower.hpp"
#include "scheduler/log/record.hpp"

namespace replay::test {

/// An observer and a follower for it alone, as a sink: `followed->` is the observer.
template <class Observer>
class Followed final : public log::Sink {
 public:
  template <class... Arguments>
  explicit Followed(Arguments&&... arguments) : observer_{std::forward<Arguments>(arguments)...} {}
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  void header(const log::Header& header) override { follower_.header(header); }
  void record(const log::Record& record) override { follower_.record(record); }
  [[nodiscard]] log::Kinds kinds() const override { return follower_.kinds(); }

  Observer* operator->() { return &observer_; }
  Observer& operator*() { return observer_; }

 private:
  Observer observer_;
  history::Follower follower_{{&observer_}};
};

/// Passes a log to a sink, to an observer, or to what has observers.
template <class Reader>
void feed(const log::Header& header, std::span<const log::Record> records, Reader& reader) {
  if constexpr (std::derived_from<Reader, log::Sink>) {
    reader.header(header);
    for (const log::Record& record : records) reader.record(record);
  } else if constexpr (requires { reader.follower(); }) {
    feed(header, records, reader.follower());
  } else if constexpr (requires { reader.observers(); }) {
    history::Follower follower{reader.observers()};
    feed(header, records, follower);
  } else {
    history::Follower follower{{&reader}};
    feed(header, records, follower);
  }
}

}  // namespace replay::test
