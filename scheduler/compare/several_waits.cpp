#include "scheduler/compare/several_waits.hpp"

#include <algorithm>
#include <utility>

namespace replay::compare {

// Hands a record to the jobs that it is about.
struct SeveralWaits::Hand {
  SeveralWaits& self;
  const log::Record& record;

  void operator()(const log::Submitted& what) const {
    if (JobWait* const wait = self.find(what.job.id)) {
      if (self.has_slice_) wait->note(self.slice_, self.state_);
      wait->note(record, self.state_);
      self.live_.push_back(wait);
      self.waiting_.push_back(wait);
    }
  }
  void operator()(const log::Launched& what) const {
    if (JobWait* const wait = to(what.job)) std::erase(self.waiting_, wait);
  }
  void operator()(const log::Finished& what) const {
    if (JobWait* const wait = to(what.job)) {
      std::erase(self.waiting_, wait);
      std::erase(self.live_, wait);
    }
  }
  void operator()(const log::Requeued& what) const {
    to_all();
    JobWait* const wait = self.find(what.job);
    if (wait != nullptr && wait->waits() && std::ranges::find(self.waiting_, wait) == self.waiting_.end())
      self.waiting_.push_back(wait);
  }
  void operator()(const NodeChange& /*what*/) const { to_all(); }
  void operator()(const SliceBegun& /*what*/) const {
    self.slice_ = record;
    self.has_slice_ = true;
    to_all();
  }
  void operator()(const GroupFormed& what) const { to_members(what.primary, what.matched); }
  void operator()(const MatchRefused& what) const { to_members(what.primary, what.matched); }
  void operator()(const GroupEnded& /*what*/) const { to_all(); }
  template <class Other, class = decltype(Other::job)>
  void operator()(const Other& what) const {
    (void)to(what.job);
  }

 private:
  JobWait* to(JobId job) const {
    JobWait* const wait = self.find(job);
    if (wait != nullptr) wait->note(record, self.state_);
    return wait;
  }
  void to_members(JobId primary, const std::vector<JobId>& matched) const {
    (void)to(primary);
    for (const JobId job : matched) (void)to(job);
  }
  void to_all() const {
    for (JobWait* const wait : self.live_) wait->note(record, self.state_);
  }
};

SeveralWaits::SeveralWaits(std::span<const JobId> jobs, WaitingReasonsOptions options)
    : options_(std::move(options)), state_(options_.rate) {
  waits_.reserve(jobs.size());
  for (const JobId job : jobs) {
    places_.emplace(job, waits_.size());
    waits_.emplace_back(job, options_);
  }
}

void SeveralWaits::on_record(const log::Record& record, const history::JobState* job) {
  if (record.at > now_) {
    for (JobWait* const wait : waiting_) wait->pass(state_, now_, record.at);
    now_ = record.at;
  }
  if (const auto change = queue_change(record, state_))
    for (JobWait* const wait : waiting_) wait->note(*change, now_);
  state_.on_record(record, job);
  log::visit(Hand{*this, record}, record.what);
}

std::vector<WaitReport> SeveralWaits::finish() {
  std::vector<WaitReport> reports;
  for (JobWait& wait : waits_) {
    reports.push_back(wait.finish());
    if (reports.back().found) reports.back().log_end = now_;
  }
  return reports;
}

JobWait* SeveralWaits::find(JobId job) {
  const auto place = places_.find(job);
  return place == places_.end() ? nullptr : &waits_[place->second];
}

}  // namespace replay::compare
