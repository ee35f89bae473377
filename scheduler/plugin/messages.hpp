// The messages to and from a policy that is a program: one JSON object per line (docs/formats/policy-protocol.md). A
// pass has only what has changed since the one before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/plugin/answer_book.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::plugin {

inline constexpr int kPolicyProtocol = 2;

/// The first line to the program.
[[nodiscard]] std::string hello_line(const Machine& machine, std::string_view policy);
/// Throws Refused if the program does not answer with a hello of our protocol version: says both versions and what to do.
void check_hello(std::string_view line);

/// Enters the answers of one pass into `book`. Throws Refused: not the object that is expected, an unknown action or
/// field, a wrong type, or what the book refuses; the program may also say `{"error":"why"}`.
void read_answer(std::string_view line, AnswerBook& book);

/// The actions of an answer that decide something, all but notes, as JSON; nothing: the line is no answer.
[[nodiscard]] std::optional<std::string> actions_of(std::string_view line);

/// What the program has been told so far.
class ToldSoFar {
 public:
  /// The line of this pass: what has changed, and why there is a pass. O(waiting + running), without names of cores.
  [[nodiscard]] std::string pass_line(const ClusterView& view);
  /// The next line tells that these actions (actions_of()) were carried out, and not those of the last answer.
  void tell_what_stands(std::string actions) { stands_ = std::move(actions); }

 private:
  struct Waiting {
    Instant submitted;
    JobId id;
    auto operator<=>(const Waiting&) const = default;
  };
  struct Running {
    std::uint64_t start_order;
    JobId id;
    Instant estimated_end;
    Allocation allocation;
    bool launched, malleable, suspended;
    double cpu_use;
    bool operator==(const Running&) const = default;
  };

  [[nodiscard]] static Running state_of(const RunningJob& job);

  std::vector<Waiting> waiting_, waiting_now_;  // in queue order
  std::vector<Running> running_, running_now_;  // in start order
  std::string stands_;                          // empty: its last answer does
};

}  // namespace replay::plugin
