#include "scheduler/compare/decision_list.hpp"

#include <fmt/format.h>

#include "scheduler/base/mix_bits.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::compare {
namespace {

std::uint64_t hash_of(const CoreLoads& named) {
  std::uint64_t hash = 0;
  for (const CoreLoad& load : named)
    hash = mix_bits(hash ^ (static_cast<std::uint64_t>(load.core) << 32 | static_cast<std::uint32_t>(load.processes)));
  return hash;
}

std::string cores_text(const Decision& decision, DecisionDetails details) {
  std::string text = counted(decision.cores, "core");
  if (decision.mpl > 1) text += fmt::format(" ({} processes each)", decision.mpl);
  if (decision.shareable && details == DecisionDetails::kAll) text += ", shared";
  return text;
}

}  // namespace

std::string text_of(const Decision& decision, DecisionDetails details) {
  const std::int64_t job = number(decision.job);
  const bool all = details == DecisionDetails::kAll;
  switch (decision.kind) {
    case DecisionKind::kStart: return fmt::format("starts job {} on {}", job, cores_text(decision, details));
    case DecisionKind::kResize: return fmt::format("resizes job {} to {}", job, cores_text(decision, details));
    case DecisionKind::kSuspend: return fmt::format("suspends job {}", job);
    case DecisionKind::kResume: return fmt::format("resumes job {}", job);
    case DecisionKind::kKill:
      return fmt::format("kills job {}", job) + (all ? fmt::format(" ({})", to_text(decision.reason)) : "");
    case DecisionKind::kExtend:
      return fmt::format("extends the estimate of job {}", job) +
             (all ? fmt::format(" to {} s", replay::to_text(decision.estimate)) : "");
  }
  return "";
}

std::string_view word(DecisionKind kind) {
  constexpr std::string_view kWords[] = {"start", "resize", "suspend", "resume", "kill", "extend"};
  return kWords[static_cast<std::size_t>(kind)];
}

Duration apart(Instant a, Instant b) {
  if (a == b) return Duration::zero();
  if (a == kNever || b == kNever) return Duration::max();
  return a < b ? b - a : a - b;
}

struct DecisionList::OnRecord {
  DecisionList& list;
  Instant at;

  void operator()(const log::StartDecided& what) const { add(what.job, DecisionKind::kStart, what.allocation); }
  void operator()(const log::ResizeDecided& what) const { add(what.job, DecisionKind::kResize, what.allocation); }
  void operator()(const log::SuspendDecided& what) const { add(what.job, DecisionKind::kSuspend); }
  void operator()(const log::ResumeDecided& what) const { add(what.job, DecisionKind::kResume); }
  void operator()(const log::KillDecided& what) const { add(what.job, DecisionKind::kKill).reason = what.reason; }
  void operator()(const log::Extended& what) const { add(what.job, DecisionKind::kExtend).estimate = what.estimate; }

 private:
  Decision& add(JobId job, DecisionKind kind) const {
    Decision& decision = list.decisions_.emplace_back();
    decision.at = at;
    decision.job = job;
    decision.kind = kind;
    decision.record = list.records_;
    return decision;
  }
  void add(JobId job, DecisionKind kind, const Allocation& allocation) const {
    Decision& decision = add(job, kind);
    decision.cores = allocation.cores;
    decision.mpl = allocation.mpl;
    decision.shareable = allocation.shareable;
    decision.places = hash_of(allocation.named);
  }
};

void DecisionList::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(OnRecord{*this, record.at}, record.what);
  ++records_;
}

}  // namespace replay::compare
