#include "tests/oracle/sharing/virtual_machine.hpp"

#include <algorithm>
#include <tuple>

namespace replay::oracle::sharing {

// What is left of the estimate; a job that waits has all of it.
Work VirtualMachine::left(std::size_t index) const {
  if (std::ranges::find(waiting_, index) != waiting_.end()) return {job(index).estimate(), 0, 0};
  Work rest = jobs_[index].budget;
  rest.set_slowdown(now, 0);
  return rest;
}

Left VirtualMachine::left_of_all() const {
  return [this](std::size_t index) { return left(index); };
}

Time VirtualMachine::length(std::size_t index, int ppn) const {
  return Work{job(index).estimate(), 0, self_slowdown(workload_, job(index), ppn)}.end();
}

std::vector<int> VirtualMachine::free_nodes() const {
  std::vector<int> free;
  for (int node = 0; node < workload_.nodes; ++node) {
    bool taken = guests.contains(node);
    for (const Group& group : running_)
      for (const Unit& unit : group) taken = taken || std::ranges::find(unit.nodes, node) != unit.nodes.end();
    if (!taken) free.push_back(node);
  }
  return free;
}

// Each node is busy until the last job on it ends.
Plan VirtualMachine::busy(const std::vector<Group>& running, std::map<std::size_t, Time>& ends) const {
  std::map<int, Time> until = guests;
  for (const Group& group : running) {
    const std::map<std::size_t, Time> of_group = planned_ends(workload_, group, left_of_all(), clock);
    for (const Unit& unit : group)
      for (const std::size_t index : unit.jobs) {
        ends[index] = of_group.at(index);
        for (const int node : unit.nodes) until[node] = std::max(until[node], ends[index]);
      }
  }
  Plan plan{workload_.nodes};
  for (const auto& [node, to] : until) plan.put(1, clock, to);
  return plan;
}

VirtualMachine::Outlook VirtualMachine::outlook(const std::vector<Group>& running,
                                                std::vector<std::size_t> waiting) const {
  Outlook outlook;
  Plan plan = busy(running, outlook.ends);
  std::ranges::sort(waiting, {}, [&](std::size_t index) {
    return std::tuple{jobs_[index].planned_start, job(index).submit, job(index).number};
  });
  for (const std::size_t index : waiting) {
    const int ppn = ppn_alone(workload_, job(index), rules_);
    const int nodes = nodes_at(job(index), ppn);
    const Time start = plan.earliest(nodes, clock, length(index, ppn));
    plan.put(nodes, start, start + length(index, ppn));
    outlook.starts[index] = start;
    outlook.ends[index] = start + length(index, ppn);
  }
  return outlook;
}

VirtualMachine::Outlook VirtualMachine::present() const {
  Outlook outlook;
  (void)busy(running_, outlook.ends);
  for (const std::size_t index : waiting_) {
    outlook.starts[index] = jobs_[index].planned_start;
    outlook.ends[index] = jobs_[index].planned_start + length(index, ppn_alone(workload_, job(index), rules_));
  }
  return outlook;
}

Plan VirtualMachine::plan_without(std::size_t waiting) const {
  std::map<std::size_t, Time> ends;
  Plan plan = busy(running_, ends);
  for (const std::size_t index : waiting_) {
    if (index == waiting) continue;
    const int ppn = ppn_alone(workload_, job(index), rules_);
    const Time start = jobs_[index].planned_start;
    plan.put(nodes_at(job(index), ppn), start, start + length(index, ppn));
  }
  return plan;
}

void VirtualMachine::compress() {
  for (const auto& [index, start] : outlook(running_, waiting_).starts) jobs_[index].planned_start = start;
}

void VirtualMachine::submit(std::size_t index) {
  const int ppn = ppn_alone(workload_, job(index), rules_);
  JobState& state = jobs_[index];
  state.submitted = clock;
  state.planned_start = plan_without(index).earliest(nodes_at(job(index), ppn), clock, length(index, ppn));
  state.planned_response = static_cast<double>(state.planned_start + length(index, ppn) - clock);
  waiting_.push_back(index);
}

// A group without its primary, or without matched jobs, is disbanded.
void VirtualMachine::ended(std::size_t index) {
  std::vector<Group> after;
  for (Group group : running_) {
    for (Unit& unit : group) std::erase(unit.jobs, index);
    const bool disband = group.front().jobs.empty();
    std::erase_if(group, [](const Unit& unit) { return unit.jobs.empty(); });
    if (disband)
      for (const Unit& unit : group) after.push_back({unit});
    else
      after.push_back(group);
  }
  running_ = after;
}

Time VirtualMachine::next_planned_start() const {
  Time next = kNever;
  for (const std::size_t index : waiting_)
    if (jobs_[index].planned_start > clock) next = std::min(next, jobs_[index].planned_start);
  return next;
}

bool VirtualMachine::keeps_free(int nodes, Time until) const {
  return plan_without(workload_.jobs.size()).fits(nodes, clock, until - clock);
}

bool VirtualMachine::has_hole_now(std::size_t index, int ppn) const {
  return plan_without(index).fits(nodes_at(job(index), ppn), clock, length(index, ppn));
}

bool VirtualMachine::is_fair(const Outlook& then) const {
  const Outlook before = present();
  for (const auto& [index, end] : then.ends) {
    const double most = rules_.slack * rules_.estimate_factor * jobs_[index].planned_response;
    if (static_cast<double>(end - jobs_[index].submitted) > most && end > before.ends.at(index)) return false;
  }
  return true;
}

// A scan is the head, as long as it starts, and then once all behind it. Scans repeat until nothing starts.
void VirtualMachine::pass() {
  bool has_started = true;
  while (has_started) {
    has_started = false;
    while (!waiting_.empty() && try_start(waiting_.front(), true)) {
    }
    const std::vector<std::size_t> queue = waiting_;
    for (std::size_t place = 1; place < queue.size(); ++place)
      if (std::ranges::find(waiting_, queue[place]) != waiting_.end() && try_start(queue[place], false))
        has_started = true;
  }
}

bool VirtualMachine::try_start(std::size_t index, bool is_head) {
  const int alone = ppn_alone(workload_, job(index), rules_);
  if (rules_.variant == Way::kSsp || job_class(job(index)) == kShort) return start_alone(index, alone);
  if (is_head && all_fit_at_one(index)) {
    Unit unit{{index}, 1, job(index).processes, {}};
    enter(placed({unit}));
    compress();
    return true;
  }
  if (job(index).processes == 1) return join(index) || start_alone(index, alone);
  const std::optional<Choice> choice = best_choice(index, is_head);
  if (!choice) return start_alone(index, alone);
  if (choice->way == 5) return start_alone(index, workload_.cores_per_node);
  const Group group = placed(choice->proposal.group);
  FormedGroup record{now, choice->way, {}, {}, choice->proposal.gain};
  for (std::size_t unit = 0; unit < group.size(); ++unit)
    for (const std::size_t one : group[unit].jobs)
      (unit == 0 ? record.primary : record.matched).push_back(job(one).number);
  formed.push_back(record);
  enter(group);
  compress();
  return true;
}

bool VirtualMachine::start_alone(std::size_t index, int ppn) {
  if (!has_hole_now(index, ppn)) return false;
  enter(placed({Unit{{index}, ppn, nodes_at(job(index), ppn), {}}}));
  compress();
  return true;
}

bool VirtualMachine::start_as_guest(std::size_t index, const std::vector<int>& nodes) {
  const int ppn = ppn_alone(workload_, job(index), rules_);
  Unit unit{{index}, ppn, nodes_at(job(index), ppn), {}};
  for (const int node : free_nodes())
    if (std::ranges::find(nodes, node) != nodes.end() && static_cast<int>(unit.nodes.size()) < unit.size)
      unit.nodes.push_back(node);
  // The question is about a plan that is compressed now; the answer leaves no trace in it.
  std::map<std::size_t, Time> before;
  for (const std::size_t one : waiting_) before[one] = jobs_[one].planned_start;
  compress();
  const bool starts = static_cast<int>(unit.nodes.size()) == unit.size && has_hole_now(index, ppn);
  for (const auto& [one, start] : before) jobs_[one].planned_start = start;
  if (starts) enter({unit});
  return starts;
}

// "All running + waiting fit at PPN 1."
bool VirtualMachine::all_fit_at_one(std::size_t index) const {
  int sum = 0;
  for (const std::size_t waiting : waiting_) sum += job(waiting).processes;
  for (const Group& group : running_)
    for (const Unit& unit : group)
      for (const std::size_t one : unit.jobs) sum += job(one).processes;
  return sum <= workload_.nodes && static_cast<int>(free_nodes().size()) >= job(index).processes;
}

bool VirtualMachine::join(std::size_t index) {
  std::vector<Unit> bundles = running_units(job_class(job(index)));
  std::erase_if(bundles, [&](const Unit& unit) {
    return job(unit.jobs.front()).processes > 1 || static_cast<int>(unit.jobs.size()) >= workload_.cores_per_node / 2;
  });
  std::ranges::sort(bundles, {}, [](const Unit& unit) { return unit.nodes.front(); });
  for (const Unit& bundle : bundles) {
    const bool match = std::ranges::all_of(bundle.jobs, [&](std::size_t mate) {
      return planned_slowdown(workload_, job(mate), job(index)) <= rules_.max_slowdown &&
             planned_slowdown(workload_, job(index), job(mate)) <= rules_.max_slowdown;
    });
    if (!match) continue;
    Unit larger = bundle;
    larger.jobs.push_back(index);
    std::vector<Group> running = running_without({bundle});
    running.push_back({larger});
    std::vector<std::size_t> waiting = waiting_;
    std::erase(waiting, index);
    if (!is_fair(outlook(running, waiting))) continue;
    running_ = running_without({bundle});
    enter({larger});
    compress();
    return true;
  }
  return false;
}

Unit VirtualMachine::waiting_unit(std::size_t index) const {
  const int ppn = ppn_in_group(workload_, job(index), rules_);
  return {{index}, ppn, nodes_at(job(index), ppn), {}};
}

// Of the same class, in the order of arrival, if their sizes in a group fit the machine.
std::vector<Unit> VirtualMachine::waiting_units_but(std::size_t index) const {
  std::vector<Unit> units;
  for (const std::size_t other : waiting_)
    if (other != index && job_class(job(other)) == job_class(job(index)) && waiting_unit(other).size <= workload_.nodes)
      units.push_back(waiting_unit(other));
  return units;
}

// Of that class, in no group, with half of the cores of their nodes free; the least delayed first.
std::vector<Unit> VirtualMachine::running_units(int of_class) const {
  std::vector<Unit> units;
  for (const Group& group : running_)
    if (group.size() == 1 && job_class(job(group.front().jobs.front())) == of_class &&
        group.front().ppn <= workload_.cores_per_node / 2)
      units.push_back(group.front());
  std::ranges::sort(units, {}, [&](const Unit& unit) { return std::tuple{delay(unit), first_of(workload_, unit)}; });
  return units;
}

// R / R_est in millionths; of a bundle the greatest. The planned ends are rounded to microseconds, and jobs that nothing
// has delayed are equal.
Time VirtualMachine::delay(const Unit& unit) const {
  double most = 0;
  for (const auto& [index, end] : planned_ends(workload_, {unit}, left_of_all(), clock))
    most = std::max(most, static_cast<double>(end - jobs_[index].submitted) /
                              (rules_.estimate_factor * jobs_[index].planned_response));
  return static_cast<Time>(std::llround(most * 1e6));
}

Search VirtualMachine::search(const Unit& primary) const {
  return {workload_, rules_, left_of_all(), primary, {}, {}, [this](const Group& group) { return can_start(group); }};
}

std::optional<Proposal> VirtualMachine::fair_one(const Search& search) const {
  for (const Proposal& one : proposals(search)) {
    std::vector<Group> running = running_without(one.group);
    const Group group = placed(one.group);
    running.push_back(group);
    std::vector<std::size_t> waiting = waiting_;
    for (const Unit& unit : group)
      for (const std::size_t index : unit.jobs) std::erase(waiting, index);
    if (is_fair(outlook(running, waiting))) return one;
  }
  return std::nullopt;
}

// Cases 1, 2, 3 and 5.
std::optional<VirtualMachine::Choice> VirtualMachine::best_choice(std::size_t index, bool is_head) const {
  std::optional<Choice> best;
  const auto consider = [&](int way, const std::optional<Proposal>& one) {
    if (one && (!best || one->gain > best->proposal.gain + kGainTolerance)) best = Choice{way, *one};
  };
  const Unit unit = waiting_unit(index);
  if (unit.size <= workload_.nodes) {
    Search waiting = search(unit);
    waiting.pool = waiting_units_but(index);
    consider(1, fair_one(waiting));
  }
  if (unit.size <= workload_.nodes && is_head) {
    Search running = search(unit);
    running.pool = running_units(job_class(job(index)));
    consider(2, fair_one(running));
    std::vector<Unit> primaries = running.pool;
    primaries.resize(std::min(primaries.size(), rules_.running_primaries));
    for (const Unit& primary : primaries) {
      Search beside = search(primary);
      beside.forced = unit;
      beside.pool = waiting_units_but(index);
      consider(3, fair_one(beside));
    }
  }
  const Job& alone = job(index);
  const int cores = workload_.cores_per_node;
  if (alone.same_cpu_slowdown * alone.same_node_slowdown <= rules_.max_slowdown && has_hole_now(index, cores)) {
    const double used = self_slowdown(workload_, alone, cores) * nodes_at(alone, cores);
    consider(5, Proposal{{}, alone.processes / used - 1});
  }
  return best;
}

// A waiting job beside a running one needs free nodes only where it is larger.
bool VirtualMachine::can_start(const Group& group) const {
  const int primary = group.front().size;
  const int matched = matched_nodes(group);
  int needed = std::max(primary, matched);
  if (!group.front().nodes.empty()) needed = std::max(0, matched - primary);
  if (!group.back().nodes.empty()) needed = std::max(0, primary - matched);
  return needed <= static_cast<int>(free_nodes().size());
}

// Each unit with its nodes.
Group VirtualMachine::placed(Group group) const {
  const std::vector<int> free = free_nodes();
  const auto take = [](Unit& unit, std::vector<int>& nodes) {
    unit.nodes.assign(nodes.begin(), nodes.begin() + unit.size);
    nodes.erase(nodes.begin(), nodes.begin() + unit.size);
  };
  Unit& primary = group.front();
  const bool matched_run = group.size() > 1 && !group.back().nodes.empty();
  if (primary.nodes.empty()) {
    std::vector<int> nodes;
    for (std::size_t unit = 1; matched_run && unit < group.size(); ++unit)
      nodes.insert(nodes.end(), group[unit].nodes.begin(), group[unit].nodes.end());
    nodes.insert(nodes.end(), free.begin(), free.end());
    take(primary, nodes);
  }
  if (matched_run) return group;
  std::vector<int> nodes = primary.nodes;
  for (const int node : free)
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  for (std::size_t unit = 1; unit < group.size(); ++unit) take(group[unit], nodes);
  return group;
}

std::vector<Group> VirtualMachine::running_without(const Group& group) const {
  std::vector<Group> others;
  for (const Group& one : running_)
    if (std::ranges::none_of(group, [&](const Unit& unit) { return unit.jobs == one.front().jobs; }))
      others.push_back(one);
  return others;
}

// Starts those of its jobs that wait.
void VirtualMachine::enter(const Group& group) {
  running_ = running_without(group);
  running_.push_back(group);
  for (const Unit& unit : group)
    for (const std::size_t index : unit.jobs)
      if (std::erase(waiting_, index) > 0) begin(index, unit);
}

void VirtualMachine::begin(std::size_t index, const Unit& unit) {
  JobState& state = jobs_[index];
  Time run_time = job(index).run_time;
  if (workload_.cut_at_request) run_time = std::min(run_time, job(index).estimate());
  state.is_executing = true;
  state.ppn = unit.ppn;
  state.nodes = unit.nodes;
  state.work = {run_time, now, 0};
  state.budget = {job(index).estimate(), now, 0};
  started.push_back(index);
}

}  // namespace replay::oracle::sharing
