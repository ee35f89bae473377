// The kinds of failure that are not answers (an answer is a std::optional). Bad input is an InputError and is caught at
// the edge (main, one line of a trace, one connection); a policy's mistake is a PolicyError; our own is a broken
// INVARIANT.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace replay {

/// Bad input. what() reads "file:line: message"; the message says the field, what was expected and what was found.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
  InputError(std::string_view file, std::size_t line, std::string_view message)
      : std::runtime_error(fmt::format("{}:{}: {}", file, line, message)) {}
};

/// Wrong use of the command line: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A policy asked for something impossible, or has failed itself: its run ends with this message.
class PolicyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken INVARIANT while an InvariantsThrow exists; what() is the text that invariant_broken() would print.
class BrokenInvariant : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// While one exists, a broken INVARIANT on its thread throws BrokenInvariant instead of aborting. For calls of a
/// policy: its mistakes must not end the program, and nothing that the call has touched is used afterwards.
class InvariantsThrow {
 public:
  InvariantsThrow();
  ~InvariantsThrow();
  InvariantsThrow(const InvariantsThrow&) = delete;
  InvariantsThrow& operator=(const InvariantsThrow&) = delete;

 private:
  bool before_;
};

/// Prints "file:line: invariant `condition` broken: message" to stderr and aborts, or throws it as BrokenInvariant. On
/// in release builds too: a schedule that breaks a rule must never become a figure.
[[noreturn]] void invariant_broken(const char* file, int line, const char* condition, const std::string& message);

}  // namespace replay

/// INVARIANT(condition, format, arguments...): our own mistake if the condition does not hold.
#define INVARIANT(condition, ...)                                                             \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::replay::invariant_broken(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
