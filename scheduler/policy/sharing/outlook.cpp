#include "scheduler/policy/sharing/outlook.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>

#include "scheduler/base/mix_bits.hpp"

namespace replay::sharing {
namespace {

// Sums of these stand for sets: of the jobs that wait, and of those that run with what is left of them.
std::uint64_t bits_of(JobId waiting) { return mix_bits(static_cast<std::uint64_t>(number(waiting))); }
std::uint64_t bits_of(JobId running, double left) {
  return mix_bits(mix_bits(static_cast<std::uint64_t>(number(running)) + 1) ^ std::bit_cast<std::uint64_t>(left));
}
std::uint64_t bits_of(const Release& other) {
  return mix_bits(static_cast<std::uint64_t>(other.until.time_since_epoch().count()) * 2 + 1) *
         static_cast<std::uint64_t>(other.nodes);
}

Release held_by(const RunningJob& other, const ClusterView& view) {
  int nodes = 0;
  for_each_node(other.allocation, view.machine, [&nodes](const NodeShare&) { ++nodes; });
  return {std::max(other.estimated_end, view.now + kOneTick), nodes};
}

const RunningJob* find(const ClusterView& view, const KnownJob& job) {
  for (const RunningJob* running : view.running.by_start())
    if (running->job == job.job) return running->is_gone_in_plan() ? nullptr : running;
  return nullptr;
}

}  // namespace

void Outlook::look(const ClusterView& view) {
  const std::uint64_t sum = sum_of(view);
  cluster_.slowdowns().use(view);
  if (seen_ == sum) return;
  is_own_ = view.now == cluster_.now() && sum == own_sum();
  if (!is_own_) plan(view);
  seen_ = sum;
}

bool Outlook::is_due(const ClusterView& view, const Job& job) const {
  const KnownJob* const known = cluster_.find(job.id);
  if (is_own_ && known != nullptr) return known->planned <= view.now;
  if (!is_own_ && std::ranges::find(due_, job.id) != due_.end()) return true;
  if (std::ranges::any_of(view.waiting, [&job](const Job* waiting) { return waiting == &job; })) return false;
  const KnownJob stranger = cluster_.described(job);
  return profile().fits(stranger.nodes, view.now, stranger.length);
}

std::uint64_t Outlook::sum_of(const ClusterView& view) const {
  auto sum = static_cast<std::uint64_t>(view.now.time_since_epoch().count());
  for (const RunningJob* running : view.running.by_start()) {
    if (running->is_gone_in_plan()) continue;
    const KnownJob* const known = cluster_.find(running->job->id);
    sum +=
        known != nullptr ? bits_of(known->id(), running->budget.left_at(view.now)) : bits_of(held_by(*running, view));
  }
  for (const Job* job : view.waiting) sum += bits_of(job->id);
  Releases closed;
  const auto end_of = [&](const RunningJob& running) {
    const KnownJob* const known = cluster_.find(running.job->id);
    return known != nullptr && known->unit != nullptr ? known->end : held_by(running, view).until;
  };
  hold_closed(view, end_of, closed);
  for (const Release& node : closed) sum += bits_of(node);
  return sum;
}

std::uint64_t Outlook::own_sum() const {
  const Instant now = cluster_.now();
  auto sum = static_cast<std::uint64_t>(now.time_since_epoch().count());
  for (const Company* company : cluster_.companies())
    for (const Unit* unit : company->units)
      for (const KnownJob* job : unit->jobs) sum += bits_of(job->id(), job->work.left_at(now));
  for (const Release& other : cluster_.held_by_others()) sum += bits_of(other);
  for (const KnownJob* job : cluster_.queue()) sum += bits_of(job->id());
  return sum;
}

// As the next pass would have it: waiting jobs in the order of their planned starts, new ones last.
void Outlook::plan(const ClusterView& view) {
  Releases held;
  hold_running(view, held);
  profile_ = Availability(cluster_.nodes().nodes(), view.now);
  hold(profile_, view.now, held);
  struct Waiting {
    Instant planned;
    std::tuple<Instant, JobId> arrival;
    int nodes;
    Duration length;
  };
  std::vector<Waiting> order;
  for (const Job* job : view.waiting) {
    const KnownJob* const known = cluster_.find(job->id);
    if (known != nullptr) {
      order.push_back({known->planned, known->arrival(), known->nodes, known->length});
    } else {
      const KnownJob fresh = cluster_.described(*job);
      order.push_back({kNever, fresh.arrival(), fresh.nodes, fresh.length});
    }
  }
  std::ranges::sort(order, {}, [](const Waiting& job) { return std::tuple{job.planned, job.arrival}; });
  due_.clear();
  for (const Waiting& job : order)
    if (profile_.place(job.nodes, job.length, view.now) <= view.now) due_.push_back(std::get<1>(job.arrival));
}

void Outlook::hold_running(const ClusterView& view, Releases& held) {
  Releases of_company;
  std::unordered_map<const Job*, Instant> ends;
  for (const Company* company : cluster_.companies()) {
    if (!foresee(*company, view)) continue;
    party_.releases(of_company);
    held.insert(held.end(), of_company.begin(), of_company.end());
    for (const Party::Guest& guest : party_.guests()) ends[guest.job->job] = guest.end;
  }
  for (const RunningJob* running : view.running.by_start()) {
    if (running->is_gone_in_plan()) continue;
    const KnownJob* const known = cluster_.find(running->job->id);
    if (known == nullptr || known->unit == nullptr) held.push_back(held_by(*running, view));
  }
  const auto end_of = [&](const RunningJob& running) {
    const auto end = ends.find(running.job);
    return end != ends.end() ? end->second : held_by(running, view).until;
  };
  hold_closed(view, end_of, held);
  put_in_order(held);
}

// False if nothing is left of it.
bool Outlook::foresee(const Company& company, const ClusterView& view) {
  party_.clear(view.now);
  bool is_any_there = false;
  for (const Unit* unit : company.units) {
    std::vector<KnownJob*> there;
    for (KnownJob* const job : unit->jobs)
      if (find(view, *job) != nullptr) there.push_back(job);
    const bool is_empty = there.empty();  // the first one stays the first one
    is_any_there = is_any_there || !is_empty;
    party_.add(there, unit->per_node, is_empty ? 0 : unit->nodes(), is_empty ? 0 : unit->covered);
    for (const KnownJob* job : there) party_.set_work(*job, find(view, *job)->budget);
  }
  if (is_any_there) party_.foresee();
  return is_any_there;
}

}  // namespace replay::sharing
