#include "tests/oracle_test/drawn_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/support/memory_bytes.hpp"
#include "tests/support/random.hpp"
#include "traces/job_table.hpp"
#include "traces/workload_reader.hpp"

namespace replay::test {
namespace {

using oracle::Job;
using Law = oracle::Curve::Law;
using oracle::kSecond;
using oracle::Time;

// Mostly seconds; milliseconds and odd lengths show rounding errors; long times lie around one hour.
Time drawn_unit(Random& random, const Draw& draw) {
  constexpr Time kMillisecond = 1'000;
  if (draw.long_times) return random.one_of({kSecond, 10 * kSecond, 60 * kSecond, 600 * kSecond});
  return random.one_of({kSecond, kSecond, kSecond, 7 * kMillisecond, 45 * kSecond, 1000 * kSecond + 1});
}

int drawn_size(Random& random, int cores) {
  switch (random.below(6)) {
    case 0:
    case 1: return 1;
    case 2: return cores;
    default: return static_cast<int>(random.between(1, cores));
  }
}

Time drawn_request(Random& random, const Draw& draw, Time run_time, Time unit, Time favourite) {
  switch (random.below(draw.overruns ? 10 : 8)) {
    case 0: return -1;
    case 1:
    case 2: return std::max(run_time, favourite);
    case 3:
    case 4: return std::max(run_time, unit) * random.between(1, 4);
    case 5: return std::max(run_time, unit) + unit * random.between(0, 5);
    case 8: return std::max<Time>(run_time / random.between(1, 3), unit);
    case 9: return favourite;
    default: return std::max(run_time, unit);
  }
}

void set_behaviour(Random& random, Job& job) {
  job.cpu_use = random.one_of({0.0, 0.25, 0.5, 0.6, 0.75, 1.0});
  job.network_overhead = random.one_of({0.0, 0.125, 0.5, 0.9});
}

// The request takes the place of the run time, which the log does not have.
void set_taken_back(Random& random, Job& job, Time unit) {
  job.taken_back_after = unit * random.between(0, 15);
  if (job.request <= 0) job.request = job.estimate();
  job.run_time = job.request;
}

void set_priorities(Random& random, Job& job) {
  job.user_priority = random.one_of({0.0, 0.0, 0.25, 0.5, 1.0});
  job.political_priority = random.one_of({0.0, 0.0, 0.5, 1.0, -std::numeric_limits<double>::infinity()});
}

oracle::Curve drawn_curve(Random& random, const Draw& draw, int processes, int cores) {
  oracle::Curve curve;
  if (draw.curves == Curves::kThreePoint) return {.law = Law::kThreePoint, .optimum = processes};
  curve.law = draw.curves == Curves::kDowney
                  ? Law::kDowney
                  : random.one_of({Law::kLinear, Law::kDowney, Law::kDowney, Law::kThreePoint, Law::kThreePoint});
  curve.a = static_cast<int>(random.between(100, 100 * cores + 100));
  if (random.one_in(2)) curve.a = curve.a / 50 * 50;
  curve.sigma = random.one_of({0, 25, 50, 95, 100, 121, 200, 350});
  curve.optimum = random.one_in(3) ? static_cast<int>(random.between(1, cores)) : processes;
  // The usual ones, hardly any loss, a gain, a speedup that falls, one that stays from N/2 on.
  curve.efficiency = random.one_of<std::array<int, 3>>(
      {{80, 65, 40}, {80, 65, 40}, {100, 98, 93}, {40, 65, 80}, {90, 60, 25}, {80, 40, 20}});
  return curve;
}

// What a job declares about its sizes. One that would fit the machine at none of them says nothing about them.
void set_sizes(Random& random, const Draw& draw, Job& job, int cores) {
  using oracle::Flexibility;
  job.flexibility = random.one_of({Flexibility::kRigid, Flexibility::kMoldable, Flexibility::kMoldable,
                                   Flexibility::kMoldable, Flexibility::kMalleable});
  if (draw.malleable && !random.one_in(3)) job.flexibility = Flexibility::kMalleable;
  if (!random.one_in(6)) job.curve = drawn_curve(random, draw, job.processes, cores);
  if (random.one_in(2)) job.least = static_cast<int>(random.between(1, cores));
  if (random.one_in(2)) job.most = static_cast<int>(random.between(std::max(job.least, 1), cores + 3));
  if (random.one_in(3))
    for (int size = 1; size <= 2 * cores; ++size)
      if (random.one_in(3)) job.sizes.push_back(size);
  if (!offered_sizes(job, cores).empty()) return;
  job.least = job.most = 0;
  job.sizes.clear();
}

void shuffle_numbers(Random& random, std::vector<Job>& jobs) {
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1].number, jobs[random.below(i)].number);
}

void set_machine(Random& random, const Draw& draw, oracle::Workload& workload) {
  workload.cores_per_node = static_cast<int>(random.between(1, draw.most_cores));
  if (draw.node_events) {
    workload.cores_per_node = draw.halved_nodes ? 4 : static_cast<int>(random.between(1, 4));
    workload.packages_per_node = draw.halved_nodes ? 2 : 1;
    workload.flat = false;
    workload.nodes = static_cast<int>(random.between(2, 6));
    return;
  }
  if (draw.most_nodes == 1 || (!draw.nodes && random.one_in(2))) return;
  workload.flat = false;
  workload.nodes = static_cast<int>(random.between(1, draw.most_nodes));
}

oracle::NodeState drawn_state(Random& random) {
  using oracle::NodeState;
  return random.one_of({NodeState::kDown, NodeState::kDown, NodeState::kDown, NodeState::kDrained, NodeState::kReserved,
                        NodeState::kUp});
}

std::string cell(double value) { return std::isinf(value) ? "-inf" : fmt::format("{}", value); }

std::string cell(int count) { return count == 0 ? "" : std::to_string(count); }

std::string slowdown_cell(double slowdown) { return slowdown == 1 ? "" : fmt::format("{}", slowdown); }

std::string in_seconds(Time time) { return to_text(Duration{time}); }

}  // namespace

oracle::Workload drawn_workload(std::uint64_t seed, const Draw& draw) {
  Random random{seed};
  oracle::Workload workload;
  set_machine(random, draw, workload);
  if (draw.overruns) workload.overrun = random.one_of({oracle::Overrun::kKill, oracle::Overrun::kExtend});
  if (!draw.extends) workload.overrun = oracle::Overrun::kKill;
  if (draw.policy_tells && random.one_in(2)) workload.overrun = oracle::Overrun::kPolicy;
  workload.cut_at_request = random.one_in(4);
  if (draw.days) workload.unix_start = kSecond * random.between(0, 1'000'000'000);
  const Time unit = drawn_unit(random, draw);
  const Time favourite = unit * random.between(1, 8);  // an estimate that many jobs have
  const auto jobs = random.between(1, draw.most_jobs);
  const std::int64_t gap = random.one_of({0, 1, 3, 6});
  Time now = 0;
  for (std::int64_t number = 1; number <= jobs; ++number) {
    Job job;
    job.number = number;
    if (!random.one_in(3)) now += unit * random.between(0, gap);
    if (draw.days && random.one_in(4)) now += kSecond * random.between(0, 86400);
    job.submit = now;
    job.processes = drawn_size(random, workload.cores());
    job.run_time = random.one_in(12) ? 0 : unit * random.between(1, 10);
    if (random.one_in(8)) job.run_time += random.between(0, unit);
    job.request = drawn_request(random, draw, job.run_time, unit, favourite);
    job.flexibility = random.one_in(6) ? oracle::Flexibility::kRigid : oracle::Flexibility::kMalleable;
    if (draw.taken_back && random.one_in(5)) set_taken_back(random, job, unit);
    if (draw.behaviour) set_behaviour(random, job);
    if (draw.priorities) set_priorities(random, job);
    if (draw.moldable) set_sizes(random, draw, job, workload.cores());
    workload.jobs.push_back(job);
  }
  if (random.one_in(5)) shuffle_numbers(random, workload.jobs);
  if (draw.node_events) draw_node_events(random, workload, unit);
  return workload;
}

// From the first submission until the last jobs may run. At submissions and at other rows now and then; some close the
// whole machine, some of these for good.
void draw_node_events(Random& random, oracle::Workload& workload, Time unit) {
  const Time last = workload.jobs.back().submit + 20 * unit;
  const auto rows = random.between(1, 6);
  std::vector<oracle::NodeEvent>& events = workload.node_events;
  for (std::int64_t row = 0; row < rows; ++row) {
    oracle::NodeEvent event;
    event.at = unit * random.between(0, last / unit);
    if (random.one_in(4)) event.at = workload.jobs[random.below(workload.jobs.size())].submit;
    if (!events.empty() && random.one_in(6)) event.at = events.back().at;
    event.state = drawn_state(random);
    if (event.state != oracle::NodeState::kUp && !random.one_in(3))
      event.until = event.at + unit * random.between(1, 12);
    const int nodes = random.one_in(10) ? workload.nodes : static_cast<int>(random.between(1, 2));
    for (int node = 0; node < nodes; ++node) {
      event.node = static_cast<std::size_t>(node);
      if (nodes < workload.nodes) event.node = random.below(static_cast<std::uint64_t>(workload.nodes));
      events.push_back(event);
    }
  }
  // What is closed for good is opened again, in most cases.
  for (std::size_t i = events.size(); i-- > 0;)
    if (events[i].until == oracle::kNever && !random.one_in(3))
      events.push_back({.at = events[i].at + unit * random.between(1, 12), .node = events[i].node});
  std::ranges::stable_sort(events, {}, &oracle::NodeEvent::at);
  workload.requeues_lost = random.one_in(2);
}

std::string swf_text(const oracle::Workload& workload) {
  std::string text = fmt::format("; MaxProcs: {}\n", workload.cores());
  if (workload.unix_start > 0) text += fmt::format("; UnixStartTime: {}\n", workload.unix_start / kSecond);
  for (const Job& job : workload.jobs)
    text += fmt::format("{} {} {} {} {} -1 -1 {} {} -1 {} 1 1 1 1 -1 -1 -1\n", job.number, in_seconds(job.submit),
                        job.is_taken_back() ? in_seconds(job.taken_back_after) : "-1",
                        job.is_taken_back() ? "-1" : in_seconds(job.run_time), job.processes, job.processes,
                        job.request < 0 ? "-1" : in_seconds(job.request), job.is_taken_back() ? 5 : 1);
  return text;
}

std::string side_file_text(const oracle::Workload& workload) {
  constexpr std::array kFlexibilities{"rigid", "moldable", "malleable"};
  std::string text =
      "job,flexibility,least_processes,most_processes,sizes,speedup,cpu_util,ov,user_priority,political_priority,"
      "sl_scr,sl_sno\n";
  for (const Job& job : workload.jobs)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", job.number,
                        kFlexibilities.at(static_cast<std::size_t>(job.flexibility)), cell(job.least), cell(job.most),
                        fmt::join(job.sizes, "|"), job.curve ? as_cell(*job.curve) : "", cell(job.cpu_use),
                        cell(job.network_overhead), cell(job.user_priority), cell(job.political_priority),
                        slowdown_cell(job.same_cpu_slowdown), slowdown_cell(job.same_node_slowdown));
  return text;
}

std::string pairs_text(const oracle::Workload& workload) {
  std::string text = "job,beside,slowdown\n";
  for (const auto& [pair, slowdown] : workload.pairs)
    text += fmt::format("{},{},{}\n", pair.first, pair.second, slowdown);
  return text;
}

std::string nodes_text(const oracle::Workload& workload) {
  constexpr std::array kStates{"up", "drained", "reserved:r", "down"};
  std::string text = "time,nodes,state,until\n";
  for (const oracle::NodeEvent& event : workload.node_events)
    text += fmt::format("{},n{},{},{}\n", in_seconds(event.at), event.node,
                        kStates.at(static_cast<std::size_t>(event.state)),
                        event.until == oracle::kNever ? "" : in_seconds(event.until));
  return text;
}

Workload read_back(const oracle::Workload& workload) {
  CleaningRules rules;
  rules.over_request = workload.cut_at_request ? OverRequest::kCut : OverRequest::kKeep;
  rules.cancelled = Cancelled::kHonour;
  const std::string trace = swf_text(workload);
  const std::string side_file = side_file_text(workload);
  TraceReader reader{memory_source(trace)};
  reader.job_table().emplace(memory_source(side_file));
  return read_workload(std::move(reader), rules).workload;
}

std::vector<NodeEvent> node_events_of(const oracle::Workload& workload) {
  constexpr std::array kStates{NodeState::kUp, NodeState::kDrained, NodeState::kReserved, NodeState::kDown};
  std::vector<NodeEvent> events;
  for (const oracle::NodeEvent& event : workload.node_events) {
    NodeChange change;
    change.node = static_cast<NodeId>(event.node);
    change.state = kStates.at(static_cast<std::size_t>(event.state));
    if (event.until != oracle::kNever) change.until = Instant{Duration{event.until}};
    if (change.state == NodeState::kReserved) change.reservation = "r";
    events.push_back({Instant{Duration{event.at}}, change});
  }
  return events;
}

Machine machine_of(const oracle::Workload& workload) {
  if (workload.flat) return Machine::pool(workload.cores());
  return Machine::cluster(workload.nodes, workload.packages_per_node,
                          workload.cores_per_node / workload.packages_per_node);
}

}  // namespace replay::test
