// Object pool with stable addresses; freed slots are reused.
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

  /// An object of the pool becomes `value`; its address is stable until give_back().
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
