#include "scheduler/metrics/sharing_times.hpp"

#include <algorithm>
#include <cstddef>

namespace replay::metrics {

Duration SharingFacts::Clock::at(Instant now) const { return before + std::clamp(now, begins, ends) - begins; }

struct SharingFacts::OnRecord {
  SharingFacts& facts;
  Instant at;

  void operator()(const ResponseExpected& what) const { facts.jobs_[what.job].times.expected = what.response; }
  void operator()(const ClassAssigned& what) const {
    Facts& job = facts.jobs_[what.job];
    job.times.job_class = what.job_class;
    job.clock_at_submission = facts.clocks_[static_cast<std::size_t>(what.job_class)].at(at);
  }
  void operator()(const SliceBegun& what) const {
    for (Clock& clock : facts.clocks_) clock = {clock.at(at), at, at};
    Clock& clock = facts.clocks_[static_cast<std::size_t>(what.job_class)];
    clock.begins = what.begins;
    clock.ends = what.ends;
  }
  void operator()(const GroupFormed& what) const {
    std::vector<JobId>& members = facts.groups_[what.primary];
    members = what.matched;
    members.push_back(what.primary);
    for (const JobId job : members) facts.enter_group(job, at);
  }
  void operator()(const GroupEnded& what) const {
    const auto group = facts.groups_.find(what.primary);
    if (group == facts.groups_.end()) return;
    for (const JobId job : group->second)
      if (const auto found = facts.jobs_.find(job); found != facts.jobs_.end()) leave_group(found->second, at);
    facts.groups_.erase(group);
  }
};

void SharingFacts::on_change(Instant at, const history::Before& before, const history::JobState& state) {
  if (jobs_.empty() || before.phase == history::Phase::kWaiting || before.phase == state.phase) return;
  Facts& job = jobs_[state.id];
  count(job, at);
  if (state.phase == history::Phase::kWaiting) {  // its run counts for nothing
    job.times.in_groups = {};
    job.in_group = false;
  }
  job.suspended = state.phase == history::Phase::kSuspended;
}

void SharingFacts::on_end(Instant at, const history::JobState& state, const JobEnd& /*end*/) {
  const auto found = jobs_.find(state.id);
  if (found == jobs_.end()) return;
  Facts& job = found->second;
  leave_group(job, at);
  if (const auto& of = job.times.job_class)
    job.times.virtual_response = clocks_[static_cast<std::size_t>(*of)].at(at) - job.clock_at_submission;
}

void SharingFacts::enter_group(JobId job, Instant now) {
  Facts& facts = jobs_[job];
  facts.in_group = true;
  facts.counted_from = now;
}

void SharingFacts::leave_group(Facts& facts, Instant now) {
  count(facts, now);
  facts.in_group = false;
}

// Brings the time in groups up to `now`.
void SharingFacts::count(Facts& facts, Instant now) {
  if (facts.in_group && !facts.suspended) facts.times.in_groups += now - facts.counted_from;
  facts.counted_from = now;
}

void SharingFacts::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(OnRecord{*this, record.at}, record.what);
}

log::Kinds SharingFacts::records() const { return log::kinds_of<OnRecord>(); }

const SharingTimes* SharingFacts::find(JobId job) const {
  if (jobs_.empty()) return nullptr;
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second.times;
}

}  // namespace replay::metrics
