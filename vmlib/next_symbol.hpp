// Lookup of the function that would have been called without vmlib. There is no link to MPI or UCX, so that a shell or
// any other child of a rank runs with the preload as without.
#pragma once

#include <atomic>

namespace replay::vm {

/// The next definition of `name` after ours, be it MPI's or another tool's. nullptr: there is none.
[[nodiscard]] void* next_symbol(const char* name);

/// A function looked up at its first call. REQUIRES: `name` lives for ever.
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  template <class Function>
  [[nodiscard]] Function* as() {
    void* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {
      found = look_up();
    }
    return reinterpret_cast<Function*>(found);
  }
  [[nodiscard]] bool was_called() const { return found_.load(std::memory_order_relaxed) != nullptr; }

 private:
  void* look_up();

  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace replay::vm
