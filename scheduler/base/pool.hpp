// Object pool with stable addresses; freed slots are reused.
#pragma once

#include <deque>
#include <vector>

namespace replay {

/// `Value` can be default-constructed.
template <class Value>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// An object as it was given back, or a new one; its address is stable until give_back().
  Value& take() {
    if (spare_.empty()) return values_.emplace_back();
    Value& taken = *spare_.back();
    spare_.pop_back();
    return taken;
  }
  /// It is taken again as it is now. REQUIRES: it was taken here, and not given back.
  void give_back(Value& value) { spare_.push_back(&value); }

 private:
  std::deque<Value> values_;
  std::vector<Value*> spare_;
};

}  // namespace replay
