#include "scheduler/cli/run_plan.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/live/engine.hpp"

namespace replay::cli {
namespace {

/// "node1 0,1; node2 0", "cores 0,1": by their numbers on each node.
std::string place_text(const Allocation& on, const experiment::Prepared& run, const experiment::PreparedPolicy& policy,
                       const experiment::RealMachine& machine) {
  const std::vector<std::string> hosts = machine.hosts();
  std::vector<std::string> nodes;
  for_each_node(on, run.machine_of(policy), [&](const NodeShare& share) {
    std::vector<launcher::PuId> cores;
    for (const CoreLoad& load : share.cores)
      cores.push_back(
          machine.pu_of_core()[index_of(policy.part ? policy.part->cores[index_of(load.core)] : load.core)]);
    const auto node = static_cast<std::size_t>(share.node);
    const std::string name = !hosts.empty()                  ? hosts[node] + " "
                             : machine.machine().nodes() > 1 ? fmt::format("node {}: ", node)
                                                             : "cores ";
    nodes.push_back(fmt::format("{}{}", name, fmt::join(launcher::numbers(cores), ",")));
  });
  return fmt::format("{}", fmt::join(nodes, "; "));
}

}  // namespace

void announce(std::FILE* out, const experiment::Prepared& run, const experiment::RealMachine& machine,
              const experiment::Needs& needs) {
  fmt::print(out, "{} on {}, policies: {}\n", counted(run.workload().jobs.size(), "job"), machine.description(),
             fmt::join(texts_of(run.policies), ", "));
  fmt::print(out, "it will take about {}; widest job {}, start-up up to about {:.1f} s, about {} of memory\n",
             about_text(needs.seconds), counted(needs.widest, "process", "processes"), needs.start_up_s,
             size_text(needs.bytes));
  if (const auto end = machine.end())
    fmt::print(out, "{} is about {} away; a run that is not over ends {} s before it\n", end->what,
               about_text(std::chrono::duration<double>(end->at - std::chrono::steady_clock::now()).count()),
               live::kBeforeMachineEnd.count());
  for (const std::string& note : run.notes) fmt::print(out, "note: {}\n", clean_lines(note));
}

void print_plan(const experiment::Prepared& run, const experiment::RealMachine& machine,
                const experiment::Programs& programs) {
  for (const std::string& line : machine.layout()) fmt::print("{}\n", clean_line(line));
  const experiment::PreparedPolicy& policy = run.policies.front();
  const auto starts = experiment::expected_starts(run, policy);
  fmt::print("starts and cores are those of a simulation of {}\n", policy.text);
  for (const TracedJob& traced : run.workload().jobs) {
    const auto start = starts.find(traced.job.id);
    const std::string where = start == starts.end() ? "not started"
                                                    : fmt::format("starts at {} s on {}", to_text(start->second.at),
                                                                  place_text(start->second.on, run, policy, machine));
    fmt::print("job {}: at {} s, {}, mpiexec -n {} {}\n", static_cast<std::int64_t>(traced.job.id),
               to_text(traced.job.submitted), where, traced.job.processes,
               visible_text(fmt::format("{}", fmt::join(programs.command(traced), " "))));
  }
}

}  // namespace replay::cli
