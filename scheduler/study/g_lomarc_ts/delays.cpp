#include "scheduler/study/g_lomarc_ts/delays.hpp"

#include <algorithm>

namespace replay::study {

void SliceClocks::begin(const SliceBegun& slice) {
  Clock& clock = clocks_[static_cast<std::size_t>(slice.job_class)];
  clock.past += clock.ends - clock.begins;
  clock.begins = slice.begins;
  clock.ends = slice.ends;
}

Duration SliceClocks::reading(JobClass of, Instant at) const {
  const Clock& clock = clocks_[static_cast<std::size_t>(of)];
  return clock.past + std::max(std::min(at, clock.ends) - clock.begins, Duration::zero());
}

struct DelayRecord::OnRecord {
  DelayRecord& record;
  Instant at;

  void operator()(const SliceBegun& what) const { record.clocks_.begin(what); }
  void operator()(const ClassAssigned& what) const {
    record.jobs_[what.job] = {.job_class = what.job_class, .submitted = record.clocks_.reading(what.job_class, at)};
  }
  void operator()(const ResponseExpected& what) const { record.jobs_[what.job].expected = what.response; }
  void operator()(const log::Finished& what) const {
    const auto found = record.jobs_.find(what.job);
    if (found == record.jobs_.end()) return;
    Times& job = found->second;
    job.response = record.clocks_.reading(job.job_class, at) - job.submitted;
  }
};

void DelayRecord::record(const log::Record& record) { log::visit(OnRecord{*this, record.at}, record.what); }

log::Kinds DelayRecord::kinds() const { return log::kinds_of<OnRecord>(); }

std::optional<double> DelayRecord::delay(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.expected <= Duration::zero()) return std::nullopt;
  return static_cast<double>(found->second.response.count()) / static_cast<double>(found->second.expected.count());
}

}  // namespace replay::study
