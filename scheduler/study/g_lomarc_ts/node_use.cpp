#include "scheduler/study/g_lomarc_ts/node_use.hpp"

#include <utility>

#include "scheduler/base/error.hpp"

namespace replay::study {

struct NodeUseRecord::OnRecord {
  NodeUseRecord& use;
  Instant at;

  void operator()(const log::Submitted& /*what*/) const {
    use.move_to(at);
    ++use.waiting_;
  }
  void operator()(const log::Launched& what) const {
    use.move_to(at);
    --use.waiting_;
    OnMachine job{.nodes = {}, .cores = what.allocation.cores, .runs = false};
    for_each_node(what.allocation, *use.machine_,
                  [&job](const NodeShare& share) { job.nodes.push_back(static_cast<std::size_t>(share.node)); });
    use.set_running(use.jobs_[what.job] = std::move(job), true);
  }
  void operator()(const log::SuspendDone& what) const { change(what.job, false); }
  void operator()(const log::ResumeDone& what) const { change(what.job, true); }
  void operator()(const log::Finished& what) const {
    use.move_to(at);
    const auto found = use.jobs_.find(what.job);
    if (found == use.jobs_.end()) {  // it has never started
      --use.waiting_;
      return;
    }
    use.set_running(found->second, false);
    use.jobs_.erase(found);
  }

 private:
  void change(JobId job, bool runs) const {
    use.move_to(at);
    if (const auto found = use.jobs_.find(job); found != use.jobs_.end()) use.set_running(found->second, runs);
  }
};

void NodeUseRecord::header(const log::Header& header) {
  machine_ = Machine::parse(header.value("machine"));
  if (!machine_->names_cores())
    throw InputError("event log: the use of nodes needs a machine with nodes, such as 128x2x2");
  jobs_on_node_.assign(static_cast<std::size_t>(machine_->nodes()), 0);
}

void NodeUseRecord::record(const log::Record& record) { log::visit(OnRecord{*this, record.at}, record.what); }

log::Kinds NodeUseRecord::kinds() const { return log::kinds_of<OnRecord>(); }

// Time passes at the state that the last record has left.
void NodeUseRecord::move_to(Instant at) {
  const Duration lasting = at - now_.value_or(at);
  now_ = at;
  if (lasting == Duration::zero()) return;
  const auto add = [&](NodeUse& sum) {
    sum.time += lasting;
    sum.nodes += used_nodes_ * lasting.count();
    sum.cores += used_cores_ * lasting.count();
  };
  const bool is_high = waiting_ >= high_load_;
  if (is_high && !was_high_) ++phases_;
  was_high_ = is_high;
  add(whole_);
  if (is_high) add(high_);
}

void NodeUseRecord::set_running(OnMachine& job, bool runs) {
  if (job.runs == runs) return;
  job.runs = runs;
  used_cores_ += runs ? job.cores : -job.cores;
  for (const std::size_t node : job.nodes) {
    if (runs && jobs_on_node_[node]++ == 0) ++used_nodes_;
    if (!runs && --jobs_on_node_[node] == 0) --used_nodes_;
  }
}

double NodeUseRecord::node_use(const NodeUse& use) const {
  return static_cast<double>(use.nodes) / (static_cast<double>(use.time.count()) * machine_->nodes());
}

double NodeUseRecord::core_use(const NodeUse& use) const {
  return static_cast<double>(use.cores) / (static_cast<double>(use.time.count()) * machine_->size());
}

}  // namespace replay::study
