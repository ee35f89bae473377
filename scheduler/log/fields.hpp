// The fields of each record in the text of the log, in the order in which they are written. The writer, the reader and
// the test of docs/formats/events.md follow this one list. `line` writes, reads or lists what it is called with:
//
//   line.field("estimate", what.estimate)      always written
//   line.optional("reason", what.reason)       left out where the member is zero, empty, no or the first enumerator
//   line.optional("user", job.user, -1)        left out where the member has this value
//   line.together(is_stated, [&] { ... })      these fields, or none of them
//   line.declaration(job.declaration)          its fields, if there is one
//   line.at                                    the time of the record
//
// The type of a member says how it stands in the text and what the reader refuses; a last argument, a rule, says more.
#pragma once

#include <string_view>
#include <type_traits>

#include "scheduler/base/text/field_rule.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/contention.hpp"

namespace replay::log {

inline constexpr std::string_view kFirstLine = "#replay-events 1";
inline constexpr std::string_view kFirstLineName = "#replay-events ";

// The last line of a log that could not be written to its end; the reason follows.
inline constexpr std::string_view kCutMark = "#cut";

// ---- rules ----

struct NoRule {};
/// A double that may be minus infinity.
struct OrMinusInfinity {};
/// So many cores with their processes.
struct NamedCores {
  CoreCount count;
};

inline constexpr CoreCount kMostCores = 100'000'000;  // as Machine::parse: a broken `on` must not ask for all memory

inline constexpr auto kAny = [](const auto&) { return true; };
inline constexpr auto kFromOne = [](const auto& count) { return count >= 1; };
inline constexpr FieldRule kProcesses{"a count of processes, 1 or more", kFromOne};
inline constexpr FieldRule kMpl{"a multiprogramming level, 1 or more", kFromOne};
inline constexpr FieldRule kLoad{"a load", kAny};
inline constexpr FieldRule kCores{"a count of cores, at most 100000000",
                                  [](CoreCount count) { return count >= 0 && count <= kMostCores; }};
inline constexpr FieldRule kSlowdown{"a slowdown of 0.001 to 1000000", [](const auto& slowdown) {
                                       return slowdown >= kLeastStatedSlowdown && slowdown <= kMostStatedSlowdown;
                                     }};

// ---- records ----

/// A record of one of the types, to write or to read.
template <class What, class... Types>
concept OneOf = (std::is_same_v<std::remove_const_t<What>, Types> || ...);

void fields(auto& line, OneOf<Declaration> auto& declared) {
  line.optional("least", declared.least, {}, kProcesses);
  line.optional("most", declared.most, {}, kProcesses);
  line.optional("sizes", declared.sizes);
  line.optional("speedup", declared.speedup);
  line.optional("same_cpu", declared.same_cpu_slowdown, {}, kSlowdown);
  line.optional("same_node", declared.same_node_slowdown, {}, kSlowdown);
  line.optional("pair_key", declared.pair_key);
}

void fields(auto& line, OneOf<Submitted> auto& what) {
  auto& [job, truth] = what;
  line.field("job", job.id);
  line.optional("submitted", job.submitted, line.at);
  line.field("processes", job.processes, kProcesses);
  line.field("estimate", job.estimate);
  line.field("runtime", truth.runtime);
  line.field("flexibility", job.flexibility);
  line.optional("cpu_use", job.declared.cpu_use, 1);
  line.optional("overhead", job.declared.network_overhead);
  line.optional("true_cpu_use", truth.behaviour.cpu_use, job.declared.cpu_use);
  line.optional("true_overhead", truth.behaviour.network_overhead, job.declared.network_overhead);
  line.optional("user", job.user, -1);
  line.optional("group", job.group, -1);
  line.optional("queue", job.queue, -1);
  line.optional("executable", truth.executable, -1);
  line.optional("cut_at_request", truth.cut_at_request);
  line.optional("user_priority", job.user_priority);
  line.optional("political_priority", job.political_priority, 0, OrMinusInfinity{});
  line.declaration(job.declaration);
  line.optional("speedup_power", truth.speedup_power, 1);
  line.optional("slowdown_power", truth.slowdown_power, 1);
}

void fields(auto& line, OneOf<Allocation> auto& held) {
  line.field("cores", held.cores, kCores);
  line.field("mpl", held.mpl, kMpl);
  line.optional("on", held.named, {}, NamedCores{held.cores});
  const bool has_names = !held.named.empty();
  line.optional("shareable", held.shareable, false,
                FieldRule{has_names ? "yes or no" : "no, where cores have no names",
                          [has_names](bool shareable) { return has_names || !shareable; }});
  line.optional("processes", held.processes, 0, kProcesses);
}

void fields(auto& line, OneOf<ResizeDecided, ResizeDone> auto& what) {
  line.field("job", what.job);
  fields(line, what.allocation);
}

void fields(auto& line, OneOf<Launched> auto& what) {
  line.field("job", what.job);
  fields(line, what.allocation);
  line.optional("since", what.since, kNever);
}

void fields(auto& line, OneOf<StartDecided> auto& what) {
  auto& choice = what.choice;
  line.field("job", what.job);
  fields(line, what.allocation);
  line.optional("optimal", choice.optimal, 0, kProcesses);
  line.optional("modifier", choice.modifier);
  line.together(choice.horizon != Duration::zero(), [&] {
    line.field("load", choice.load, kLoad);
    line.field("ideal", choice.ideal, kLoad);
    line.field("horizon", choice.horizon);
  });
}

void fields(auto& line, OneOf<RanksSeen> auto& what) {
  line.field("job", what.job);
  line.field("malleable", what.malleable);
  line.optional("reason", what.reason);
}

void fields(auto& line, OneOf<SuspendDecided, SuspendDone, ResumeDecided, ResumeDone> auto& what) {
  line.field("job", what.job);
}

void fields(auto& line, OneOf<KillDecided> auto& what) {
  line.field("job", what.job);
  line.field("reason", what.reason);
}

void fields(auto& line, OneOf<Extended> auto& what) {
  line.field("job", what.job);
  line.field("estimate", what.estimate);
}

void fields(auto& line, OneOf<Finished> auto& what) {
  auto& end = what.end;
  line.field("job", what.job);
  line.field("outcome", end.outcome);
  line.optional("exit_code", end.exit_code);
  line.optional("verification", end.verification);
  line.optional("cpu_use", end.cpu_use, -1);
  line.optional("reason", end.reason);
}

void fields(auto& line, OneOf<Failed> auto& what) {
  line.field("job", what.job);
  line.field("action", what.action);
  line.field("reason", what.reason);
}

void fields(auto& line, OneOf<Note> auto& what) { line.field("text", what.text); }

void fields(auto& line, OneOf<NodeChange> auto& change) {
  line.field("node", change.node);
  line.field("state", change.state);
  line.optional("until", change.until, kNever);
  line.optional("reason", change.reason);
  line.optional("reservation", change.reservation);
}

void fields(auto& line, OneOf<Requeued> auto& what) {
  line.field("job", what.job);
  line.optional("reason", what.reason);
}

void fields(auto& line, IsFact auto& fact) { fact.fields(line, fact); }

}  // namespace replay::log
