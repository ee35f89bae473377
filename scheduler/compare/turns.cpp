#include "scheduler/compare/turns.hpp"

#include <algorithm>

namespace replay::compare {

Duration Turns::suspended(Instant end) const {
  Duration sum{};
  for (const Suspension& suspension : suspensions) sum += std::min(suspension.to, end) - suspension.from;
  return sum;
}

struct TurnsOfJob::OnRecord {
  TurnsOfJob& self;
  Instant at;

  void operator()(const ClassAssigned& what) const {
    if (what.job == self.job_) self.turns_.job_class = what.job_class;
  }
  void operator()(const ResponseExpected& what) const {
    if (what.job == self.job_) self.turns_.expected = what.response;
  }
  void operator()(const SliceBegun& what) const {
    self.slice_ = what;
    // A job is suspended at the instant of the switch, before or after it is said.
    if (!self.turns_.suspensions.empty() && self.turns_.suspensions.back().from == at)
      self.turns_.suspensions.back().in_favour = what.job_class;
  }
  void operator()(const GroupFormed& what) const {
    if (is_in(what.primary, what.matched)) self.turns_.groups.push_back({at, what});
  }
  void operator()(const GroupEnded& what) const {
    for (GroupOfJob& group : self.turns_.groups)
      if (group.group.primary == what.primary && group.ended == kNever) group.ended = at;
  }
  void operator()(const MatchRefused& what) const {
    if (is_in(what.primary, what.matched)) self.turns_.refusals.push_back({at, what});
  }
  void operator()(const log::SuspendDecided& what) const {
    if (what.job != self.job_) return;
    self.turns_.suspensions.push_back({at});
    if (self.slice_) self.turns_.suspensions.back().in_favour = self.slice_->job_class;
  }
  void operator()(const log::ResumeDecided& what) const { wake(what.job); }
  void operator()(const log::Finished& what) const { wake(what.job); }

 private:
  [[nodiscard]] bool is_in(JobId primary, const std::vector<JobId>& matched) const {
    return primary == self.job_ || std::ranges::find(matched, self.job_) != matched.end();
  }
  void wake(JobId job) const {
    auto& suspensions = self.turns_.suspensions;
    if (job == self.job_ && !suspensions.empty() && suspensions.back().to == kNever) suspensions.back().to = at;
  }
};

void TurnsOfJob::note(const log::Record& record) { log::visit(OnRecord{*this, record.at}, record.what); }

bool TurnsOfJob::is_off_turn(Instant now) const {
  if (!slice_ || !turns_.job_class) return false;
  return *turns_.job_class != slice_->job_class || now < slice_->begins || now >= slice_->ends;
}

}  // namespace replay::compare
