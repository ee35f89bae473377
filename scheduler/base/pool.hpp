// Things that come and go, and stay where they are between: the memory of one that has left is used again.
#pragma once

#include <deque>
#include <utility>
#include <vector>

namespace replay {

/// `Value` can be default-constructed and moved.
template <class Value>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// It becomes `value`, and stays where it is until it is given back.
  Value& take(Value&& value) {
    if (spare_.empty()) spare_.push_back(&values_.emplace_back());
    Value& taken = *spare_.back();
    spare_.pop_back();
    taken = std::move(value);
    return taken;
  }
  /// REQUIRES: it was taken here, and not given back.
  void give_back(Value& value) { spare_.push_back(&value); }

 private:
  std::deque<Value> values_;
  std::vector<Value*> spare_;
};

}  // namespace replay
