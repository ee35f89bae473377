// What clients and the service say to each other: one JSON object a line, each way. Each request gets one answer, in
// order. docs/formats/service-protocol.md is the reference. A request with an unknown member is refused, because it may
// be a misspelt one; an answer may have members that its reader does not know.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"

namespace replay::service {

/// Numbers of jobs are 1 to this one. All of them are different as doubles, which is how many readers of JSON keep numbers.
inline constexpr std::int64_t kLargestJob = 9'000'000'000'000'000;
/// A request line, without its line end. An answer may be longer by one job (AllJobs::more).
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;
/// Time limits of jobs: 1 s to 10 years.
inline constexpr Duration kShortestLimit = std::chrono::seconds{1};
inline constexpr Duration kLongestLimit = std::chrono::hours{24 * 3650};
inline constexpr std::size_t kLongestName = 200;  ///< bytes

using UnixTime = std::chrono::sys_time<std::chrono::microseconds>;

/// What a user submits.
struct JobRequest {
  std::string name;                      ///< one line; empty: the program's file name
  ProcessCount processes = 1;            ///< >= 1
  std::optional<Duration> time_limit{};  ///< none: as the service has it by default
  bool is_rigid = false;                 ///< never shrunk
  bool requeue = false;                  ///< queued again if the service ended while it ran
  std::int32_t queue = -1;               ///< -1: none
  std::vector<std::string> command;      ///< program (a path, or found on the job's PATH) and arguments
  std::string directory;                 ///< absolute: where it runs
  std::vector<std::string> environment;  ///< NAME=value, all that the ranks get beside what MPICH adds
};

// ---- requests ----

struct Submit {
  JobRequest job;
};
/// The jobs that wait and run, and with `ended` those that ended too; by id.
struct ListJobs {
  bool ended = false;
  std::int64_t after = 0;  ///< only jobs with a larger id: to go on after an answer with `more`
};
struct ShowJob {
  JobId job{};
};
/// A waiting job leaves the queue, a running one is ended. Answered when that is decided, not when the job has ended.
struct CancelJob {
  JobId job{};
};
/// Answered when the job has ended; at once if it has.
struct WaitForJob {
  JobId job{};
};
struct ShowService {};

using Request = std::variant<Submit, ListJobs, ShowJob, CancelJob, WaitForJob, ShowService>;

// ---- answers ----

enum class JobState : std::uint8_t { kWaiting, kRunning, kSuspended, kEnded };

struct JobStatus {
  JobId id{};
  std::string name;
  std::string user;  ///< login name, or the uid where there is none
  JobState state = JobState::kWaiting;
  ProcessCount processes = 1;
  CoreCount cores = 0;  ///< now
  Duration time_limit{};
  UnixTime submitted{};
  std::optional<UnixTime> started{};  ///< the last time, for one that was queued again
  std::optional<UnixTime> ended{};
  std::optional<Outcome> outcome{};  ///< of an ended one, as the next
  int exit_code = 0;
  std::string reason;     ///< of its end, or why it waits; empty where the rest says it all
  std::string command;    ///< as a shell reads it, cut to kLongestCommand bytes
  std::string directory;  ///< where it runs
  std::string output;     ///< folder with its stdout and stderr; made when it starts
};
inline constexpr std::size_t kLongestCommand = 1000;

struct ServiceStatus {
  std::int64_t pid = 0;
  std::string version;
  std::string machine;  ///< "1x1x4", "emulated:8x2x2"
  CoreCount cores = 0;
  std::string policy;                 ///< as written
  std::string run_folder;             ///< absolute; has events.log, which grows
  std::optional<std::string> page{};  ///< address of the live page
  UnixTime started{};
  std::size_t waiting = 0;  ///< jobs
  std::size_t running = 0;  ///< jobs, suspended ones too
};

/// The request was not carried out, or was none.
struct Refused {
  std::string error;  ///< one sentence
};
/// It is in the journal.
struct Submitted {
  JobId job{};
};
struct AllJobs {
  std::vector<JobStatus> jobs;  ///< by id
  bool more = false;            ///< there are further ones: ask again, `after` the last of these
};
/// To ShowJob, to WaitForJob, and to CancelJob with the state that it had.
struct OneJob {
  JobStatus job;
};
struct Service {
  ServiceStatus service;
};

using Answer = std::variant<Refused, Submitted, AllJobs, OneJob, Service>;

// ---- lines ----

/// Without a line end. Throws InputError naming the field if a text is not UTF-8.
[[nodiscard]] std::string to_line(const Request& request);
[[nodiscard]] std::string to_line(const Answer& answer);

/// Throws InputError that says what was expected and found. Checks everything about a job that needs no machine and no
/// file.
[[nodiscard]] Request parse_request(std::string_view line);
[[nodiscard]] Answer parse_answer(std::string_view line);

/// "waiting", "running", "suspended", "ended".
[[nodiscard]] std::string_view to_text(JobState state);
/// The same job as an object on its own, as `replay jobs --json` prints it.
[[nodiscard]] std::string to_json_text(const JobStatus& job);

/// Whether the text is UTF-8, and so can stand in a message.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace replay::service
