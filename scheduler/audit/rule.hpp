// Interface of a rule for the audit. The auditor keeps the State; a rule reads it and starts jobs in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/audit/audit.hpp"
#include "scheduler/audit/state.hpp"

namespace replay::audit {

/// Why the rule starts a job.
enum class Ground : std::uint8_t { kHead, kEndsInTime, kExtraNodes, kPlanned };

struct Decision {
  Index job = 0;
  Ground ground = Ground::kHead;
  CoreCount free = 0;         ///< before its start
  Index head = 0;             ///< the job that it is backfilled behind
  Instant shadow = kNever;    ///< of the head
  CoreCount extra = 0;        ///< nodes beside the head at its shadow time
  Instant promised = kNever;  ///< start at the latest, as promised at its submission (conservative)
};

class Rule {
 public:
  explicit Rule(State& state) : state_(state) {}
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  /// At the beginning of an instant, before its events.
  virtual void advance() {}
  /// The state has it in the queue already.
  virtual void submitted(Index /*job*/) {}
  /// It has ended, or left the queue; the state does not have it any more.
  virtual void gone(Index /*job*/) {}
  /// Whether its submission alone asks for a pass.
  [[nodiscard]] virtual bool asks_for_pass(Index /*submitted*/) const { return true; }
  /// Starts in the state all jobs that must start now, and adds the decisions to `out`.
  virtual void pass(std::vector<Decision>& out) = 0;
  /// The next instant at which the rule starts a job without an event; kNever if there is none.
  [[nodiscard]] virtual Instant next_start() const { return kNever; }

  /// After the passes of an instant: why the waiting job is not among those that start, in words.
  [[nodiscard]] virtual std::string why_not(Index job) const = 0;
  /// After why_not(): the planned start of the job; kNever if the rule has none.
  [[nodiscard]] virtual Instant planned_start(Index /*job*/) const { return kNever; }

  /// The schedule differed from the rule, and the state has been corrected: `put_off` do not start now, `jumped` do.
  virtual void follow(const std::vector<Index>& /*put_off*/, const std::vector<Index>& /*jumped*/) {}

 protected:
  [[nodiscard]] const Job& job(Index index) const { return state_.job(index); }
  State& state_;  // NOLINT(cppcoreguidelines-non-private-member-variables-in-classes): of all rules
};

[[nodiscard]] std::unique_ptr<Rule> make_fcfs(State& state);
[[nodiscard]] std::unique_ptr<Rule> make_easy(State& state, Pass pass);
[[nodiscard]] std::unique_ptr<Rule> make_conservative(State& state, Compress compress, CompressAt compress_at);

/// "4 processors", "1 processor".
[[nodiscard]] std::string processors(CoreCount count);

}  // namespace replay::audit
