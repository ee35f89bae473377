// One instant after the other: ends, submissions, slice switch, pass, guests. A virtual machine makes a pass at the begin
// of its slice, and in it when one of its jobs comes, when a job ends, its own or a guest, and at its planned starts.
#include "tests/oracle/sharing/run.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>

namespace replay::oracle::sharing {
namespace {

struct Slice {
  std::size_t job_class;
  Time begin, end;  // the overhead included
};

class Run {
 public:
  Run(const Workload& workload, const Rules& rules)
      : workload_(workload),
        rules_(rules),
        states_(workload.jobs.size()),
        result_{std::vector<JobRun>(workload.jobs.size()), {}} {
    for (int i = 0; i < (rules.sliced ? 3 : 1); ++i) machines_.emplace_back(workload, rules, states_);
    if (!rules.sliced) active_ = 0;
  }

  Result all() {
    std::vector<std::size_t> coming(workload_.jobs.size());
    std::iota(coming.begin(), coming.end(), std::size_t{0});
    std::ranges::sort(coming, {}, [&](std::size_t i) { return std::tuple{job(i).submit, job(i).number}; });
    std::size_t left = coming.size();
    if (rules_.sliced) next_switch_ = 0;
    while (left > 0) {
      Time next = std::min(next_switch_, next_timer());
      if (!coming.empty()) next = std::min(next, job(coming.front()).submit);
      for (const JobState& state : states_)
        if (state.is_executing) next = std::min({next, state.work.end(), state.budget.end()});
      bool has_cause = next == next_timer() || next == next_switch_;
      go_to(next);
      const std::size_t ended = end_jobs();
      left -= ended;
      has_cause = has_cause || ended > 0;
      while (!coming.empty() && job(coming.front()).submit == now_) {
        submit(coming.front());
        has_cause = has_cause || states_[coming.front()].machine == active_;
        coming.erase(coming.begin());
      }
      if (now_ == next_switch_) take_switch();
      if (active_) {
        set_guests();
        VirtualMachine& machine = machines_[*active_];
        if (has_cause) {
          machine.compress();
          machine.pass();
          start_new(machine);
        }
        if (rules_.sliced) take_guests();
      }
      set_rates();
    }
    return result_;
  }

 private:
  [[nodiscard]] const Job& job(std::size_t index) const { return workload_.jobs[index]; }

  [[nodiscard]] Time next_timer() const {
    if (!active_) return kNever;
    const Time start = machines_[*active_].next_planned_start();
    return start == kNever ? kNever : now_ + start - machines_[*active_].clock;
  }

  // The clock of a virtual machine stands outside its slice and in overhead.
  void go_to(Time next) {
    if (active_) machines_[*active_].clock += next - now_;
    now_ = next;
    for (VirtualMachine& machine : machines_) machine.now = now_;
  }

  std::size_t end_jobs() {
    std::size_t ended = 0;
    std::vector<bool> has_ended(machines_.size(), false);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      JobState& state = states_[i];
      if (!state.is_executing || (state.work.end() > now_ && state.budget.end() > now_)) continue;
      state.is_executing = false;
      result_.jobs[i].end = now_;
      result_.jobs[i].response = machines_[state.machine].clock - state.submitted;
      machines_[state.machine].ended(i);
      has_ended[state.machine] = true;
      ++ended;
    }
    set_guests();
    for (std::size_t i = 0; i < machines_.size(); ++i)
      if (has_ended[i]) machines_[i].compress();
    return ended;
  }

  void submit(std::size_t index) {
    states_[index].machine = rules_.sliced ? static_cast<std::size_t>(job_class(job(index))) : 0;
    VirtualMachine& machine = machines_[states_[index].machine];
    set_guests();
    machine.compress();
    machine.submit(index);
    result_.jobs[index].planned_response = static_cast<Time>(states_[index].planned_response);
    result_.jobs[index].response_estimate = rules_.estimate_factor * states_[index].planned_response;
  }

  void start_new(VirtualMachine& machine) {
    for (const std::size_t index : machine.started) {
      JobRun& run = result_.jobs[index];
      run.start = now_;
      run.ppn = states_[index].ppn;
      run.nodes = states_[index].nodes;
      std::ranges::sort(run.nodes);
    }
    machine.started.clear();
    result_.groups.insert(result_.groups.end(), machine.formed.begin(), machine.formed.end());
    machine.formed.clear();
  }

  [[nodiscard]] bool share_a_node(const JobState& a, const JobState& b) const {
    return std::ranges::any_of(a.nodes, [&](int node) { return std::ranges::find(b.nodes, node) != b.nodes.end(); });
  }

  // The runtime model `pairs`: self slowdown times the greatest one by a job on the same nodes.
  void set_rates() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      JobState& state = states_[i];
      double most = 0;
      for (std::size_t k = 0; k < states_.size(); ++k)
        if (k != i && states_[k].is_executing && share_a_node(state, states_[k]))
          most = std::max(most, slowdown_beside(workload_, job(i), job(k)));
      const double slowdown = self_slowdown(workload_, job(i), state.ppn) * (most > 0 ? most : 1);
      state.work.set_slowdown(now_, state.is_executing ? slowdown : 0);
      state.budget.set_slowdown(now_, state.is_executing ? slowdown : 0);
    }
  }

  // Scojo-PECT.

  [[nodiscard]] bool has_jobs(int job_class) const {
    const VirtualMachine& machine = machines_[static_cast<std::size_t>(job_class)];
    return !machine.waiting().empty() || !machine.running().empty();
  }

  void build_slices() {
    const Time begin = now_;
    const Time end = now_ + rules_.interval;
    const bool has_medium = has_jobs(kMedium);
    const bool has_long = has_jobs(kLong);
    Time rest = begin;
    if (has_jobs(kShort)) rest = has_medium || has_long ? begin + rules_.short_slice : end;
    Time middle = rest + static_cast<Time>(rules_.medium_share * static_cast<double>(end - rest));
    if (has_medium && !has_long) middle = end;
    if (!has_medium && has_long) middle = rest;
    slices_.clear();
    if (rest > begin) slices_.push_back({kShort, begin, rest});
    if (middle > rest) slices_.push_back({kMedium, rest, middle});
    if (end > middle) slices_.push_back({kLong, middle, end});
  }

  // A slice begins with the overhead: nothing runs. Its jobs resume after that.
  void take_switch() {
    if (in_overhead_) {
      in_overhead_ = false;
      active_ = slices_.front().job_class;
      next_switch_ = slices_.front().end;
      for (const Group& group : machines_[*active_].running()) resume(group);
      return;
    }
    if (!slices_.empty()) slices_.erase(slices_.begin());
    if (slices_.empty()) build_slices();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].is_executing) continue;
      states_[i].is_executing = false;
      ++result_.jobs[i].suspensions;
    }
    in_overhead_ = true;
    active_.reset();
    next_switch_ = slices_.front().begin + rules_.overhead;
  }

  void resume(const Group& group) {
    for (const Unit& unit : group)
      for (const std::size_t index : unit.jobs) states_[index].is_executing = true;
  }

  // Guests hold their nodes until the end of the slice.
  void set_guests() {
    for (VirtualMachine& machine : machines_) machine.guests.clear();
    if (!active_ || !rules_.sliced) return;
    VirtualMachine& machine = machines_[*active_];
    for (const JobState& state : states_)
      if (state.is_executing && state.machine != *active_)
        for (const int node : state.nodes) machine.guests[node] = machine.clock + slices_.front().end - now_;
  }

  [[nodiscard]] bool is_free(int node) const {
    return std::ranges::none_of(states_, [&](const JobState& state) {
      return state.is_executing && std::ranges::find(state.nodes, node) != state.nodes.end();
    });
  }

  [[nodiscard]] bool is_safe_for_slice(std::size_t nodes) {
    set_guests();
    VirtualMachine& machine = machines_[*active_];
    return machine.keeps_free(static_cast<int>(nodes), machine.clock + slices_.front().end - now_);
  }

  static std::vector<int> nodes_of(const Group& group) {
    std::vector<int> nodes;
    for (const Unit& unit : group) nodes.insert(nodes.end(), unit.nodes.begin(), unit.nodes.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  [[nodiscard]] std::pair<Time, std::int64_t> first_of_group(const Group& group) const {
    std::pair<Time, std::int64_t> first{kNever, 0};
    for (const Unit& unit : group) first = std::min(first, first_of(workload_, unit));
    return first;
  }

  void take_guests() {
    std::vector<Group> preempted;
    std::vector<std::size_t> waiting;
    for (std::size_t other = 0; other < machines_.size(); ++other) {
      if (other == *active_) continue;
      for (const Group& group : machines_[other].running())
        if (!states_[group.front().jobs.front()].is_executing) preempted.push_back(group);
      waiting.insert(waiting.end(), machines_[other].waiting().begin(), machines_[other].waiting().end());
    }
    std::ranges::sort(preempted, {}, [&](const Group& group) { return first_of_group(group); });
    std::ranges::sort(waiting, {}, [&](std::size_t i) { return std::tuple{job(i).submit, job(i).number}; });
    for (const Group& group : preempted) {
      const std::vector<int> nodes = nodes_of(group);
      if (std::ranges::all_of(nodes, [&](int node) { return is_free(node); }) && is_safe_for_slice(nodes.size()))
        resume(group);
    }
    std::vector<int> free;
    for (const std::size_t index : waiting) {
      free.clear();
      for (int node = 0; node < workload_.nodes; ++node)
        if (is_free(node)) free.push_back(node);
      const int ppn = ppn_alone(workload_, job(index), rules_);
      VirtualMachine& own = machines_[states_[index].machine];
      if (!is_safe_for_slice(static_cast<std::size_t>(nodes_at(job(index), ppn)))) continue;
      if (own.start_as_guest(index, free)) start_new(own);
    }
  }

  const Workload& workload_;
  const Rules& rules_;
  Time now_ = 0;
  std::vector<JobState> states_;
  std::vector<VirtualMachine> machines_;  // one, or by class
  std::optional<std::size_t> active_;     // the virtual machine of which the clock runs
  Result result_;

  std::vector<Slice> slices_;  // the one of now, and those that follow in this interval
  bool in_overhead_ = false;
  Time next_switch_ = kNever;
};

}  // namespace

Result run(const Workload& workload, const Rules& rules) { return Run{workload, rules}.all(); }

}  // namespace replay::oracle::sharing
