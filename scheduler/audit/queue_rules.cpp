// The rules that need no plan. FCFS: the head of the queue starts as soon as it fits, and no job overtakes it. EASY:
// a later job may start if, by the estimates, the head starts no later for it: it ends by the head's shadow time, or
// it fits into the extra nodes. Sources: Lifka 1995; Talby and Feitelson 1999, section 3.1; the order of passes is
// that of the four reference schedules of the archive's logs.

#include <fmt/core.h>

#include "scheduler/audit/rule.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::audit {
namespace {

struct Shadow {
  Instant at;
  CoreCount extra;
};

class Fcfs : public Rule {
 public:
  using Rule::Rule;

  void pass(std::vector<Decision>& out) override { start_from_head(out); }

  std::string why_not(Index index) const override {
    const Index head = *state_.waiting().begin();
    if (head == index) return too_wide(index);
    return fmt::format("it overtakes job {}, which came before it and waits for {}, {} free", job(head).name,
                       processors(job(head).processors), state_.free());
  }

 protected:
  void start_from_head(std::vector<Decision>& out) {
    while (!state_.waiting().empty()) {
      const Index head = *state_.waiting().begin();
      if (job(head).processors > state_.free()) return;
      out.push_back({.job = head, .ground = Ground::kHead, .free = state_.free()});
      state_.start(head);
    }
  }

  [[nodiscard]] std::string too_wide(Index index) const {
    return fmt::format("it needs {}, and the rule leaves {} free", processors(job(index).processors), state_.free());
  }
};

class Easy final : public Fcfs {
 public:
  Easy(State& state, Pass rule) : Fcfs(state), pass_(rule) {}

  bool asks_for_pass(Index submitted) const override {
    return pass_ == Pass::kInstant || job(submitted).processors <= state_.free();
  }

  void pass(std::vector<Decision>& out) override {
    start_from_head(out);
    if (state_.waiting().size() < 2 || state_.free() <= 0) return;
    const Index head = *state_.waiting().begin();
    Shadow shadow = shadow_of(head);
    for (auto next = ++state_.waiting().begin(); next != state_.waiting().end() && state_.free() > 0;) {
      const Index candidate = *next++;
      const CoreCount size = job(candidate).processors;
      if (size > state_.free()) continue;
      const bool ends_in_time = state_.now() + job(candidate).estimate <= shadow.at;
      if (!ends_in_time && size > shadow.extra) continue;
      out.push_back({.job = candidate,
                     .ground = ends_in_time ? Ground::kEndsInTime : Ground::kExtraNodes,
                     .free = state_.free(),
                     .head = head,
                     .shadow = shadow.at,
                     .extra = shadow.extra});
      state_.start(candidate);
      if (!ends_in_time) shadow.extra -= size;
    }
  }

  std::string why_not(Index index) const override {
    const Index head = *state_.waiting().begin();
    if (head == index || job(index).processors > state_.free()) return too_wide(index);
    const Shadow shadow = shadow_of(head);
    return fmt::format("it would delay head job {} ({}, shadow time {} s, extra nodes {}): it needs {} until {} s",
                       job(head).name, processors(job(head).processors), to_text(shadow.at), shadow.extra,
                       processors(job(index).processors), to_text(state_.now() + job(index).estimate));
  }

 private:
  // When the head fits by the estimates, and what it leaves then. All ends of one instant are released together.
  [[nodiscard]] Shadow shadow_of(Index head) const {
    CoreCount free = state_.free();
    const CoreCount size = job(head).processors;
    const auto& holding = state_.holding();
    for (auto next = holding.begin(); next != holding.end();) {
      const Instant at = next->first;
      for (; next != holding.end() && next->first == at; ++next) free += job(next->second).processors;
      if (free >= size) return {std::max(at, state_.now()), free - size};
    }
    return {kNever, 0};  // never: a job wider than the machine is not in the queue
  }

  Pass pass_;
};

}  // namespace

std::unique_ptr<Rule> make_fcfs(State& state) { return std::make_unique<Fcfs>(state); }

std::unique_ptr<Rule> make_easy(State& state, Pass pass) { return std::make_unique<Easy>(state, pass); }

std::string processors(CoreCount count) { return counted(count, "processor"); }

}  // namespace replay::audit
