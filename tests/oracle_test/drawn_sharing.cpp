#include "tests/oracle_test/drawn_sharing.hpp"

#include <algorithm>

#include "tests/oracle_test/drawn_workload.hpp"
#include "tests/support/random.hpp"

namespace replay::test {
namespace {

using oracle::Job;
using oracle::kSecond;
using oracle::Time;

constexpr Time kMillisecond = 1'000;

// What most jobs of a workload have in common.
struct Style {
  int mostly = 0;         // of this class; 0: any
  bool is_good = false;   // slowdowns for which sharing pays
  bool is_small = false;  // sizes
  Time gap = 0;           // between submissions
};

Style drawn_style(Random& random) {
  return {static_cast<int>(random.below(3)), !random.one_in(3), random.one_in(2),
          random.one_of({0, 200, 1000, 4000}) * kSecond};
}

Time drawn_length(Random& random, const Style& style) {
  if (style.mostly == 1 && !random.one_in(8)) return random.between(601, 10'800) * kSecond;
  if (style.mostly == 2 && !random.one_in(8)) return random.between(10'801'000, 20'000'000) * kMillisecond;
  switch (random.below(6)) {
    case 0: return random.between(30, 600) * kSecond;
    case 1:
    case 2: return random.between(601'000, 10'800'000) * kMillisecond;
    case 3: return random.between(2, 36) * 300 * kSecond;
    default: return random.between(10'801'000, 30'000'000) * kMillisecond;
  }
}

// A job that would run longer than its request is killed then.
Time drawn_run_time(Random& random, const SharingDraw& draw, Time request) {
  if (draw.exact || random.one_in(2)) return request;
  if (random.one_in(8)) return request * 2;
  return std::max(kSecond, request / random.between(1, 40));
}

int drawn_processes(Random& random, const Style& style, int nodes) {
  if (style.is_small && !random.one_in(3)) return static_cast<int>(random.between(1, nodes));
  switch (random.below(8)) {
    case 0:
    case 1: return 1;
    case 2:
    case 3: return std::min(1 << random.below(6), 4 * nodes);
    case 4: return 4 * nodes;
    case 5: return 2 * nodes;
    default: return static_cast<int>(random.between(2, 4 * nodes));
  }
}

double drawn_slowdown(Random& random, int least, int most) {
  return static_cast<double>(random.between(least, most)) / 100;
}

void set_self_slowdowns(Random& random, const Style& style, Job& job) {
  if (style.is_good && !random.one_in(4)) {
    job.same_node_slowdown = drawn_slowdown(random, 95, 110);
    job.same_cpu_slowdown = drawn_slowdown(random, 132, 165);
    return;
  }
  job.same_node_slowdown = random.one_in(3) ? 1 : drawn_slowdown(random, 90, random.one_in(3) ? 140 : 112);
  job.same_cpu_slowdown = random.one_in(3) ? 1.4 : drawn_slowdown(random, 100, 165);
}

void set_pairs(Random& random, const SharingDraw& draw, const Style& style, oracle::Workload& workload) {
  const int most = style.is_good ? random.one_of({105, 110, 125}) : random.one_of({110, 130, 170});
  for (const Job& one : workload.jobs)
    for (const Job& other : workload.jobs)
      if (one.number != other.number && !random.one_in(4))
        workload.pairs[{one.number, other.number}] = drawn_slowdown(random, draw.speedups ? 90 : 100, most);
}

void set_parameters(Random& random, oracle::sharing::Rules& rules) {
  rules.block = random.one_of<std::size_t>({1, 2, 3, 16});
  rules.larger = random.one_of({0.0, 0.125, 0.5, 1.0});
  rules.running_primaries = random.one_of<std::size_t>({0, 1, 2, 8});
  rules.longer = random.one_of({0, 600, 3000, 20'000}) * kSecond;
  rules.slack = random.one_of({1.0, 1.5, 2.0, 4.0});
  rules.max_slowdown = random.one_of({1.1, 1.25, 1.5});
  rules.self_slowdown_2 = random.one_of({1.0, 1.12, 1.3});
  rules.least_gain = random.one_of({0.1, 0.45, 1.5});
}

}  // namespace

SharingWorkload drawn_sharing(std::uint64_t seed, const SharingDraw& draw) {
  Random random{seed};
  SharingWorkload drawn;
  drawn.rules.variant = draw.variant;
  drawn.rules.sliced = draw.sliced;
  if (draw.parameters) set_parameters(random, drawn.rules);
  oracle::Workload& workload = drawn.workload;
  workload.flat = false;
  workload.nodes = static_cast<int>(random.between(2, 8));
  workload.packages_per_node = 2;
  workload.cores_per_node = 4;
  const std::int64_t jobs = random.between(3, 25);
  const Style style = drawn_style(random);
  Time now = 0;
  for (std::int64_t number = 1; number <= jobs; ++number) {
    Job job;
    if (number > 1 && random.one_in(6)) {
      job = workload.jobs.back();  // a burst of equal jobs
    } else {
      if (!random.one_in(3)) now += random.between(0, style.gap / kMillisecond) * kMillisecond;
      job.request = drawn_length(random, style);
      job.run_time = drawn_run_time(random, draw, job.request);
      job.processes = drawn_processes(random, style, workload.nodes);
      set_self_slowdowns(random, style, job);
    }
    job.number = number;
    job.submit = now;
    workload.jobs.push_back(job);
  }
  set_pairs(random, draw, style, workload);
  if (draw.node_events) draw_node_events(random, workload, 1200 * kSecond);
  return drawn;
}

}  // namespace replay::test
