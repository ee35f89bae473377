#include "scheduler/base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "scheduler/base/terminal/give_back.hpp"

namespace replay {
namespace {

thread_local bool invariants_throw = false;

}  // namespace

InvariantsThrow::InvariantsThrow() : before_(std::exchange(invariants_throw, true)) {}
InvariantsThrow::~InvariantsThrow() { invariants_throw = before_; }

void invariant_broken(const char* file, int line, const char* condition, const std::string& message) {
  const std::string text = fmt::format("{}:{}: invariant `{}` broken: {}", file, line, condition, message);
  if (invariants_throw) throw BrokenInvariant(text);
  terminal::give_back();  // the message would go with a screen that the terminal forgets
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

}  // namespace replay
