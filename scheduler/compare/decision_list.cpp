#include "scheduler/compare/decision_list.hpp"

#include <variant>

#include "scheduler/base/mix_bits.hpp"

namespace replay::compare {
namespace {

std::uint64_t hash_of(const CoreLoads& named) {
  std::uint64_t hash = 0;
  for (const CoreLoad& load : named)
    hash = mix_bits(hash ^ (static_cast<std::uint64_t>(load.core) << 32 | static_cast<std::uint32_t>(load.processes)));
  return hash;
}

}  // namespace

struct DecisionList::OnRecord {
  DecisionList& list;
  Instant at;

  void operator()(const log::StartDecided& what) const { add(what.job, DecisionKind::kStart, what.allocation); }
  void operator()(const log::ResizeDecided& what) const { add(what.job, DecisionKind::kResize, what.allocation); }
  void operator()(const log::SuspendDecided& what) const { add(what.job, DecisionKind::kSuspend); }
  void operator()(const log::ResumeDecided& what) const { add(what.job, DecisionKind::kResume); }
  void operator()(const log::KillDecided& what) const { add(what.job, DecisionKind::kKill).reason = what.reason; }
  void operator()(const log::Extended& what) const { add(what.job, DecisionKind::kExtend).estimate = what.estimate; }

  template <class Other>
  void operator()(const Other& /*what*/) const {}

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

void DecisionList::record(const log::Record& record) {
  jobs_.record(record);
  std::visit(OnRecord{*this, record.at}, record.what);
  ++records_;
}

}  // namespace replay::compare
