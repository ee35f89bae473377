#include "scheduler/study/g_lomarc_ts/node_use.hpp"

namespace replay::study {

void NodeUseRecord::on_begin(const log::Header& /*header*/, const Machine& machine) {
  if (!machine.names_cores()) throw log::BadRecord("the use of nodes needs a machine with nodes, such as 128x2x2");
  machine_ = machine;
  jobs_on_node_.assign(static_cast<std::size_t>(machine.nodes()), 0);
}

void NodeUseRecord::on_change(Instant /*at*/, const history::Before& before, const history::JobState& job) {
  if (before.phase == history::Phase::kRunning) use(before.held, -1);
  if (job.phase == history::Phase::kRunning) use(job.held, 1);
}

void NodeUseRecord::on_end(Instant /*at*/, const history::JobState& job, const JobEnd& /*end*/) {
  if (job.phase == history::Phase::kRunning) use(job.held, -1);
}

// Time has passed at the state that the last change left.
void NodeUseRecord::on_load(Instant at, const history::Load& load) {
  if (state_ && state_->from != at) {
    const Duration lasting = at - state_->from;
    const auto add = [&](NodeUse& sum) {
      sum.time += lasting;
      sum.nodes += state_->nodes * lasting.count();
    };
    const bool is_high = state_->waiting >= high_load_;
    if (is_high && !was_high_) ++phases_;
    was_high_ = is_high;
    add(whole_);
    if (is_high) add(high_);
  }
  state_ = {at, used_nodes_, load.queued};
}

// One job more or less is there.
void NodeUseRecord::use(const Allocation& held, int by) {
  for_each_node(held, *machine_, [&](const NodeShare& share) {
    std::int32_t& jobs = jobs_on_node_[static_cast<std::size_t>(share.node)];
    used_nodes_ -= jobs > 0 ? 1 : 0;
    jobs += by;
    used_nodes_ += jobs > 0 ? 1 : 0;
  });
}

double NodeUseRecord::node_use(const NodeUse& use) const {
  return static_cast<double>(use.nodes) / (static_cast<double>(use.time.count()) * machine_->nodes());
}

}  // namespace replay::study
