// What the daemon and a node agent say to each other. Orders go to the agent, reports come back; each order for a job is
// answered by exactly one report, and JobEnded answers whatever is still open. Cores are OS indices of hardware threads
// here (the daemon has translated its CoreIds). docs/formats/agent-protocol.md has the byte tables.
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

struct LaunchJob {
  JobId job{};
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string directory;
  std::vector<std::int32_t> pu_of_rank;  ///< OS index per rank
  bool malleable = true;
  bool operator==(const LaunchJob&) const = default;
};
struct MoveRanks {
  JobId job{};
  std::vector<std::int32_t> pu_of_rank;
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
struct EndJob {
  JobId job{};
  Outcome outcome = Outcome::kKilled;
  bool operator==(const EndJob&) const = default;
};
/// End all jobs, remove everything, exit. Closing the connection means the same.
struct Goodbye {
  bool operator==(const Goodbye&) const = default;
};
using AgentOrder = std::variant<LaunchJob, MoveRanks, SuspendJob, ResumeJob, EndJob, Goodbye>;

/// The agent's first message.
struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::int32_t cores = 0;  ///< hardware threads that the agent may use
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
  bool operator==(const JobEnded& other) const;
};
struct OrderFailed {
  JobId job{};
  std::string action;  ///< "resize", "suspend", "resume" or "end"
  std::string reason;
  bool operator==(const OrderFailed&) const = default;
};
/// Once a second: the agent is alive.
struct Heartbeat {
  bool operator==(const Heartbeat&) const = default;
};
using AgentReport = std::variant<Hello, JobStarted, RanksMoved, JobSuspended, JobResumed, JobMeasured, JobEnded,
                                 OrderFailed, Heartbeat>;

/// One whole frame.
[[nodiscard]] std::string encode(const AgentOrder& order);
[[nodiscard]] std::string encode(const AgentReport& report);

/// Throws ProtocolError when the frame's type is not an order (a report), or its payload is not exactly one.
[[nodiscard]] AgentOrder decode_order(const Frame& frame);
[[nodiscard]] AgentReport decode_report(const Frame& frame);

}  // namespace replay::protocol
