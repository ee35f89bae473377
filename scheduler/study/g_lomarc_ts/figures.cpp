#include "scheduler/study/g_lomarc_ts/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/percentile.hpp"

namespace replay::study {
namespace {

double relative_response(const metrics::JobRow& row, double runtime_s, double bound_s) {
  return std::max(1.0, seconds(row.response()) / std::max(runtime_s, bound_s));
}

// R / R_est; nothing if the policy said nothing.
std::optional<double> delay_of(const metrics::SharingTimes* sharing) {
  if (sharing == nullptr || !sharing->virtual_response || sharing->expected.value_or(Duration{}) <= Duration::zero())
    return std::nullopt;
  return static_cast<double>(sharing->virtual_response->count()) / static_cast<double>(sharing->expected->count());
}

class JobsOfGroup {
 public:
  void add(const metrics::JobRow& row, double runtime_s, std::optional<double> delay) {
    relative_.push_back(relative_response(row, runtime_s, glomarc_paper::kBound));
    relative_600_.push_back(relative_response(row, runtime_s, glomarc_paper::kImpliedBound));
    response_.push_back(seconds(row.response()));
    wait_.push_back(seconds(row.wait()));
    suspended_.push_back(seconds(row.suspended));
    if (delay) delays_.push_back(*delay);
  }
  void add_to(Figures& figures, std::string_view group) {
    const auto add = [&](std::string_view name, double value) { figures[fmt::format("{} {}", name, group)] = value; };
    add("jobs", static_cast<double>(relative_.size()));
    add("relative 30", mean_of(relative_));
    add("relative 600", mean_of(relative_600_));
    add("response", mean_of(response_));
    add("wait", mean_of(wait_));
    add("suspended", mean_of(suspended_));
    add("delay", mean_of(delays_));
    add("delay 75 %", percentile(delays_, 0.75));
    add("delay 95 %", percentile(delays_, 0.95));
  }

 private:
  std::vector<double> relative_, relative_600_, response_, wait_, suspended_, delays_;
};

}  // namespace

struct GroupRecord::OnRecord {
  GroupRecord& record;

  void operator()(const GroupFormed& what) const {
    ++record.by_case_.at(static_cast<std::size_t>(what.way - 1));
    record.jobs_ += 1 + static_cast<std::int64_t>(what.matched.size());
    record.members_.insert(what.primary);
    record.members_.insert(what.matched.begin(), what.matched.end());
  }
};

void GroupRecord::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(OnRecord{*this}, record.what);
}

log::Kinds GroupRecord::records() const { return log::kinds_of<OnRecord>(); }

Figures GlomarcRecord::figures(const GlomarcWorkload& workload) const {
  const auto rows = jobs_.rows();
  INVARIANT(rows.size() == workload.facts.size(), "{} rows for {} jobs", rows.size(), workload.facts.size());
  std::map<std::string_view, JobsOfGroup> groups;
  Instant last_end = rows.front().finished;
  double in_groups_s = 0, eligible_s = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const metrics::JobRow& row = rows[i];
    const GlomarcJob& job = workload.facts[i];
    INVARIANT(row.ran(), "job {} did not run", number(row.job));
    const metrics::SharingTimes* const sharing = sharing_.find(row.job);
    const std::optional<double> delay = delay_of(sharing);
    for_each_group_of(job.group, [&](std::string_view group) { groups[group].add(row, job.runtime_s, delay); });
    last_end = std::max(last_end, row.finished);
    if (job.group == "short") continue;
    eligible_s += seconds(row.execution() - row.suspended);
    if (sharing != nullptr) in_groups_s += seconds(sharing->in_groups);
  }
  Figures made;
  for (const std::string_view group : kGlomarcGroups) groups[group].add_to(made, group);
  const Instant first = rows.front().submitted, last = rows.back().submitted;
  made["past the end"] = seconds(last_end - last) / seconds(last - first);
  made["time in group"] = in_groups_s / eligible_s;
  made["in group"] = static_cast<double>(groups_.members()) / made.at("jobs medium and long");
  made["node use"] = nodes_.node_use(nodes_.whole());
  made["node use high"] = nodes_.node_use(nodes_.high_load());
  made["high load"] = seconds(nodes_.high_load().time) / seconds(nodes_.whole().time);
  made["phases"] = static_cast<double>(nodes_.phases());
  const auto core_use = [&](metrics::Wide busy, metrics::Wide time) {
    return static_cast<double>(busy) / (static_cast<double>(time) * load_.cores());
  };
  const metrics::Integrals& load = load_.total();
  made["core use"] = core_use(load.busy_cores, load.time);
  made["core use high"] = core_use(load.high_load_busy_cores, load.high_load_time);
  made["groups"] = static_cast<double>(groups_.groups());
  for (std::size_t way = 1; way <= 3; ++way)
    made[fmt::format("groups {}", way)] = static_cast<double>(groups_.groups(way));
  made["group size"] = static_cast<double>(groups_.jobs()) / made.at("groups");
  return made;
}

}  // namespace replay::study
