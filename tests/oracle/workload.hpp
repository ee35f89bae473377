// The input and the output of an oracle. An oracle is a second implementation of a policy: plain and slow, written from
// the policy's page and not from the program, with which it shares no line: this folder includes nothing of the tree
// but itself, and tests/unit/layers_test.cpp checks that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/oracle/curve.hpp"

namespace replay::oracle {

using Time = std::int64_t;  ///< an instant or a duration, in microseconds

inline constexpr Time kSecond = 1'000'000;
inline constexpr Time kNever = INT64_MAX;

enum class Flexibility : std::uint8_t { kRigid, kMoldable, kMalleable };

/// A job, with the fields of its line in the trace and its row in the side file.
struct Job {
  std::int64_t number = 0;
  Time submit = 0;
  Time run_time = 0;  ///< expanded, alone on its cores; >= 0
  Time request = -1;  ///< -1: not stated
  /// So long after its submission its user takes the job back, waiting or running; -1: not. It would run for its request.
  Time taken_back_after = -1;
  int processes = 1;
  Flexibility flexibility = Flexibility::kMalleable;
  // Not stated: 0, an empty list, no curve.
  int least = 0;
  int most = 0;
  std::vector<int> sizes;  ///< ascending
  std::optional<Curve> curve;
  double cpu_use = 1;
  double network_overhead = 0;
  double user_priority = 0;
  double political_priority = 0;  ///< may be -infinity
  double same_cpu_slowdown = 1;   ///< SL_scr
  double same_node_slowdown = 1;  ///< SL_sno

  /// The estimate as policies see it: the request, else the run time, and never 0.
  [[nodiscard]] Time estimate() const { return request > 0 ? request : run_time > 0 ? run_time : kSecond; }
  [[nodiscard]] bool is_taken_back() const { return taken_back_after >= 0; }
  /// Whether virtual malleability can shrink it while it runs.
  [[nodiscard]] bool can_shrink() const { return flexibility == Flexibility::kMalleable && processes > 1; }
};

enum class Overrun : std::uint8_t {
  kKill,    ///< a job ends with its estimate
  kExtend,  ///< the estimate grows by 10 % of the request, at least 60 s
  kPolicy   ///< the policy decides
};

enum class NodeState : std::uint8_t { kUp, kDrained, kReserved, kDown };

/// A row of the trace's node events, for one of its nodes.
struct NodeEvent {
  Time at = 0;
  std::size_t node = 0;
  NodeState state = NodeState::kUp;
  Time until = kNever;
};

struct Workload {
  int nodes = 1;
  int cores_per_node = 1;
  int packages_per_node = 1;
  bool flat = true;  ///< one pool of cores without names; else nodes
  Overrun overrun = Overrun::kKill;
  bool cut_at_request = false;  ///< run time > request: the reader cuts it
  Time unix_start = 0;          ///< UnixStartTime of the header, in microseconds
  std::vector<Job> jobs;        ///< by submit; the numbers need not ascend
  /// How much slower job `first` runs beside job `second`, by their numbers; 1 if not listed.
  std::map<std::pair<std::int64_t, std::int64_t>, double> pairs;
  std::vector<NodeEvent> node_events;  ///< by time
  bool requeues_lost = false;          ///< jobs of a node that goes down wait again

  [[nodiscard]] int cores() const { return nodes * cores_per_node; }
};

/// The cores of a job from an instant on.
struct Cores {
  Time since = 0;
  std::vector<int> on_node;  ///< a pool is one node
  bool operator==(const Cores&) const = default;
};

enum class Ending : std::uint8_t { kItsOwn, kCancelled, kLost };

/// The time from the first to the last instant at which a job has cores.
struct Span {
  Time start = kNever;  ///< of its last try, where it was lost and waited again
  Time end = kNever;
  std::vector<Cores> cores{};  ///< one entry at the start and at each resize, if the policy resizes; else empty
  int processes = 0;           ///< at its start, if the policy chooses them; else 0
  Ending ending = Ending::kItsOwn;
  std::vector<std::pair<Time, Time>> lost{};  ///< start and end of the tries that were lost
  bool operator==(const Span&) const = default;
};

/// One span per job, in the order of Workload::jobs.
using Schedule = std::vector<Span>;

}  // namespace replay::oracle
