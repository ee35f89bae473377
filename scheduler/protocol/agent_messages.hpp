// The messages between the daemon and a node agent. Orders go to the agent, reports come back; each order for a job is
// answered by exactly one report, and JobEnded answers all that are still open. Cores are the node's own: OS indices of
// hardware threads, or on emulated cores 0 to their number less one (the daemon has translated its CoreIds).
// docs/formats/agent-protocol.md has the byte tables.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::protocol {

/// A node of a job on several nodes.
struct JobHost {
  std::string name;        ///< different from the others'
  std::string address;     ///< HOST:PORT of its agent's door
  std::int32_t ranks = 0;  ///< of the job there
  bool operator==(const JobHost&) const = default;
};
struct LaunchJob {
  JobId job{};
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;
  std::vector<std::int32_t> core_of_rank;
  bool malleable = true;
  std::uint64_t given_ns = 0;  ///< CLOCK_MONOTONIC of this node: when the job was given its cores; 0: as it arrives
  std::string working_directory{};  ///< absolute; empty: the agent's
  /// The environment below `environment`, which mpiexec gets too; empty: the agent's.
  std::vector<std::pair<std::string, std::string>> surroundings{};
  /// In the order of the ranks; the first has mpiexec. Empty: the job is on this node alone.
  std::vector<JobHost> hosts{};
  std::int32_t own_host = 0;  ///< this node's place in `hosts`; `core_of_rank` is of its ranks
  std::string key{};          ///< of a job on several nodes: 16 bytes, which all of them know
  bool label = false;         ///< each line of its output begins with host and rank
  bool operator==(const LaunchJob&) const = default;

  [[nodiscard]] bool is_on_several_nodes() const { return !hosts.empty(); }
  /// Whether mpiexec runs here.
  [[nodiscard]] bool is_home() const { return own_host == 0; }
  /// The world's rank that is the first here, and the world's size.
  [[nodiscard]] std::size_t first_rank() const;
  [[nodiscard]] std::size_t world_size() const;
};
struct MoveRanks {
  JobId job{};
  std::vector<std::int32_t> core_of_rank;
  bool operator==(const MoveRanks&) const = default;
};
struct SuspendJob {
  JobId job{};
  bool operator==(const SuspendJob&) const = default;
};
struct ResumeJob {
  JobId job{};
  bool operator==(const ResumeJob&) const = default;
};
/// Ends a job. A job that is ending already gets SIGKILL now.
struct EndJob {
  JobId job{};
  Outcome outcome = Outcome::kKilled;
  bool operator==(const EndJob&) const = default;
};
/// End all jobs, remove everything, exit. Closing the connection means the same in a session without lease. Has no number.
struct Goodbye {
  bool operator==(const Goodbye&) const = default;
};
/// Asks for what vmlib has counted in each rank so far; for people and measurements, no decision depends on it.
struct AskStatistics {
  JobId job{};
  bool operator==(const AskStatistics&) const = default;
};
/// Once a second over a network: the daemon is alive. Has no answer and no number.
struct Ping {
  std::uint64_t received = 0;  ///< the number of the last report that it has
  std::uint64_t heard = 0;     ///< the count of the last Heartbeat that has come
  bool operator==(const Ping&) const = default;
};
/// Emulated cores: how many times as long the job's work takes from now on, beside the jobs on its nodes, which do not
/// disturb each other there by themselves. Has no answer; nothing happens if the job has ended.
struct SlowDown {
  JobId job{};
  double slowdown = 1;  ///< kLeastSlowdown to kMostSlowdown
  bool operator==(const SlowDown&) const = default;
};
inline constexpr double kLeastSlowdown = 0.01, kMostSlowdown = 100;
/// Over a network, before the first job: asks for what has to be alike on all nodes. Has no number.
struct CheckNode {
  std::string file;                   ///< absolute: the daemon has written a word into it
  std::vector<std::string> programs;  ///< that jobs will run: paths, or names to be found on the agent's PATH
  bool operator==(const CheckNode&) const = default;
};
using AgentOrder = std::variant<LaunchJob, MoveRanks, SuspendJob, ResumeJob, EndJob, Goodbye, AskStatistics, Ping,
                                SlowDown, CheckNode>;

/// The agent's first message on each connection. Has no number.
struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::vector<std::int32_t> cores;  ///< that the agent may use, each once: package by package, as hwloc has them
  bool emulated = false;            ///< `cores` are virtual
  std::int32_t packages = 1;        ///< over which they are spread evenly
  std::string host{};               ///< the node's own name
  std::uint64_t received = 0;       ///< the number of the last order that it has
  bool operator==(const Hello&) const = default;
};
struct JobStarted {
  JobId job{};
  bool malleable = false;
  std::string reason;
  bool operator==(const JobStarted&) const = default;
};
struct RanksMoved {
  JobId job{};
  bool operator==(const RanksMoved&) const = default;
};
struct JobSuspended {
  JobId job{};
  bool operator==(const JobSuspended&) const = default;
};
struct JobResumed {
  JobId job{};
  bool operator==(const JobResumed&) const = default;
};
struct JobMeasured {
  JobId job{};
  double cpu_use = 0;
  bool operator==(const JobMeasured&) const = default;
};
struct JobEnded {
  JobId job{};
  JobEnd end;
  bool is_site_fault = false;  ///< it was not started for the node's sake: no process, memory or disk
  bool operator==(const JobEnded&) const = default;
};
struct OrderFailed {
  JobId job{};
  std::string action;  ///< "resize", "suspend", "resume" or "end"
  std::string reason;
  bool operator==(const OrderFailed&) const = default;
};
/// Once a second: the agent is alive. Has no number.
struct Heartbeat {
  std::uint64_t received = 0;  ///< the number of the last order that it has
  std::uint64_t count = 0;     ///< of the heartbeats of this session, this one included
  bool operator==(const Heartbeat&) const = default;
};
/// One rank, as its slot in the segment says; times in ns.
struct RankStatistics {
  std::int32_t pid = 0;  ///< 0: not registered, and the values below are meaningless
  std::uint64_t blocked_ns = 0;
  std::uint64_t calls = 0;
  std::uint64_t polls = 0;
  std::uint64_t handoffs = 0;
  std::uint64_t naps = 0;
  std::uint64_t cpu_ns = 0;  ///< of the whole process, as the kernel says
  bool operator==(const RankStatistics&) const = default;
};
struct JobStatistics {
  JobId job{};
  std::uint64_t at_ns = 0;  ///< CLOCK_MONOTONIC of the node
  std::string mode;         ///< "progress", "test-loop" or "none"
  std::string back_end;     ///< "yield" or "token"
  std::vector<RankStatistics> ranks;
  bool operator==(const JobStatistics&) const = default;
};
/// The agent's last message before it ends the session itself, and with it all jobs. Has no number.
struct Farewell {
  std::string reason;
  bool operator==(const Farewell&) const = default;
};
/// A line for the user about a job that runs.
struct JobNoted {
  JobId job{};
  std::string text;
  bool operator==(const JobNoted&) const = default;
};
/// All its ranks here have been started; or some, if it ends before. Not said of a job that ends before any.
struct JobBegun {
  JobId job{};
  bool operator==(const JobBegun&) const = default;
};
/// Answers CheckNode. Has no number.
struct NodeChecked {
  std::int64_t clock_us = 0;         ///< wall clock, us since 1970, as the order arrived
  std::string word;                  ///< that the file has there
  std::string unreadable;            ///< why it could not be read; empty: it was
  std::vector<std::string> missing;  ///< of the programs: those that are not there, or cannot be executed
  std::string mpi;                   ///< "MPICH 4.0.2"; empty: not known
  std::string vmlib;                 ///< SHA-256 of the library; empty: there is none
  std::vector<std::string> notes;    ///< of the agent's start, a line each
  std::int64_t turn_us = 0;          ///< of jobs on the same real cores; 0: they take none
  bool operator==(const NodeChecked&) const = default;
};
using AgentReport = std::variant<Hello, JobStarted, RanksMoved, JobSuspended, JobResumed, JobMeasured, JobEnded,
                                 OrderFailed, Heartbeat, JobStatistics, Farewell, JobNoted, NodeChecked, JobBegun>;

/// Whether the message has a number in its session, and is sent again after a cut.
[[nodiscard]] bool is_numbered(const AgentReport& report);
/// One whole frame. `number` is 0 for a message without one.
[[nodiscard]] std::string encode(const AgentOrder& order, std::uint64_t number = 0);
[[nodiscard]] std::string encode(const AgentReport& report, std::uint64_t number = 0);

/// Throws ProtocolError when the frame's type is not an order (a report), or its payload is not exactly one.
[[nodiscard]] AgentOrder decode_order(const Frame& frame);
[[nodiscard]] AgentReport decode_report(const Frame& frame);

}  // namespace replay::protocol
