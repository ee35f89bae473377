// Small random workloads with the corner cases in which schedulers differ: equal submit times and estimates, estimates
// that are exact, too long, too short or missing, run times of zero, serial and machine-wide jobs, job numbers that are
// not in the order of submission.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "scheduler/model/node_change.hpp"
#include "scheduler/model/workload.hpp"
#include "tests/oracle/workload.hpp"
#include "tests/support/random.hpp"

namespace replay::test {

enum class Curves : std::uint8_t {
  kAny,
  kThreePoint,  ///< that of SCOJO-P, with the same efficiencies for all jobs
  kDowney
};

/// Options of the draw.
struct Draw {
  int most_jobs = 14;
  int most_cores = 8;         ///< of the machine, or of a node
  int most_nodes = 1;         ///< above 1: one machine in two has nodes, and names its cores
  bool nodes = false;         ///< every machine has
  bool overruns = true;       ///< jobs that reach the end of their estimates, under a drawn overrun rule
  bool long_times = false;    ///< times around the bounds between classes of jobs: a minute, an hour
  bool priorities = false;    ///< user and political ones, -infinity too
  bool behaviour = false;     ///< CPU use and network overhead below 1 and above 0
  bool extends = true;        ///< --overrun extend is among the drawn overrun rules
  bool policy_tells = false;  ///< --overrun policy is
  bool taken_back = false;    ///< users take some of the jobs back, waiting or running
  bool moldable = false;      ///< rigid, moldable and malleable jobs with curves, bounds and lists of sizes
  bool malleable = false;     ///< most of these are malleable
  Curves curves = Curves::kAny;
  bool node_events = false;   ///< machines of two nodes and more, some of which are closed for a while or for good
  bool halved_nodes = false;  ///< nodes of two packages with two cores each
  bool days = false;          ///< submissions spread over days that begin anywhere in the log's day
};

/// One seed and draw give the same workload on every machine.
[[nodiscard]] oracle::Workload drawn_workload(std::uint64_t seed, const Draw& draw);

/// Closes nodes of the workload, some for good, while its jobs come and run: at multiples of `unit`, at submissions now and
/// then. Says whether jobs that are lost wait again.
void draw_node_events(Random& random, oracle::Workload& workload, oracle::Time unit);

/// The workload as a trace and its side file: the input of `replay simulate`.
[[nodiscard]] std::string swf_text(const oracle::Workload& workload);
[[nodiscard]] std::string side_file_text(const oracle::Workload& workload);
/// NAME.pairs.csv, for workloads with pairs.
[[nodiscard]] std::string pairs_text(const oracle::Workload& workload);

/// NAME.nodes.csv, for workloads with node events.
[[nodiscard]] std::string nodes_text(const oracle::Workload& workload);

/// The workload as the program's reader returns it, and the machine.
[[nodiscard]] Workload read_back(const oracle::Workload& workload);
[[nodiscard]] std::vector<NodeEvent> node_events_of(const oracle::Workload& workload);
[[nodiscard]] Machine machine_of(const oracle::Workload& workload);

}  // namespace replay::test
