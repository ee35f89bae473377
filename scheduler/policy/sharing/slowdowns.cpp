#include "scheduler/policy/sharing/slowdowns.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace replay::sharing {

double Slowdowns::rate_alone(const Job& job, int per_node) {
  return ask(job, std::min<int>(per_node, job.processes), {});
}

double Slowdowns::rate_beside(KnownJob& job, int per_node, const KnownJob& other) {
  const std::uint64_t key = static_cast<std::uint64_t>(number(other.id())) * 2 + (per_node == 1 ? 1 : 0);
  const auto [known, is_new] = job.rates_beside.try_emplace(key, 0);
  if (is_new) {
    const ModelledJob* const others[] = {&other.modelled};
    const double rate = ask(*job.job, std::min<int>(per_node, job.processes()), others);
    known->second = std::min(rate, rate_alone(job, per_node));
  }
  return known->second;
}

double Slowdowns::ask(const Job& job, int on_node, std::span<const ModelledJob* const> others) {
  return view_->rate_of(job, on_one_node(on_node), {.on_its_nodes = others, .machine = &view_->machine});
}

const Allocation& Slowdowns::on_one_node(int processes) {
  const auto at = static_cast<std::size_t>(processes);
  if (at >= on_one_node_.size()) on_one_node_.resize(at + 1);
  if (!on_one_node_[at]) {
    const Seat seat{0, Half::kFirst};
    on_one_node_[at] = nodes_.allocation(processes, processes, {&seat, 1});
    on_one_node_[at]->processes = processes;
  }
  return *on_one_node_[at];
}

}  // namespace replay::sharing
