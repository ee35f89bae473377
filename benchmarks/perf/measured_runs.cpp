#include "benchmarks/perf/measured_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""ms;

constexpr auto kBetweenMoves = 20ms;
constexpr auto kBetweenSamples = 50ms;
constexpr auto kLongest = std::chrono::minutes{10};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string text_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void check_verified(const std::string& output, const Words& command) {
  if (launcher::find_verification(output) != Verification::kPassed)
    throw std::runtime_error(fmt::format("{} did not verify: {}", fmt::join(command, " "), output));
}

launcher::AgentHandle start(const fs::path& mpiexec, const fs::path& vmlib, launcher::BackEnd back_end,
                            std::chrono::microseconds turn) {
  launcher::AgentOptions options;
  options.mpiexec = mpiexec;
  options.vmlib = vmlib;
  options.back_end = back_end;
  options.turn = turn;
  return launcher::start_agent(options);
}

}  // namespace

MeasuredRun run_bare(const fs::path& mpiexec, const Words& command, const Cores& core_of_rank) {
  const TemporaryFolder folder;
  launcher::MpiexecCall call;
  call.command = command;
  call.pu_of_rank = core_of_rank;
  const Words arguments = launcher::mpiexec_arguments(call);
  const launcher::Variables environment =
      launcher::hydra_environment(variables_for_job(launcher::own_environment(), launcher::JobNetwork::kHost).kept, {});
  const auto start = Clock::now();
  const pid_t pid = launcher::start_mpiexec(mpiexec, arguments, environment, {.output = folder.path(), .directory = {}})
                        .process->pid();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const double seconds = since(start);
  MeasuredRun run{seconds, seconds, text_of(folder.path() / "stdout")};
  if (status != 0)
    throw std::runtime_error(
        fmt::format("mpiexec {} failed: {}", fmt::join(arguments, " "), text_of(folder.path() / "stderr")));
  check_verified(run.output, command);
  return run;
}

AgentRuns::AgentRuns(const fs::path& mpiexec, const fs::path& vmlib, launcher::BackEnd back_end,
                     std::chrono::microseconds turn)
    : agent_(start(mpiexec, vmlib, back_end, turn)) {}

AgentRuns::~AgentRuns() { client_.reset(); }

void AgentRuns::connect() {
  loop_.reset(event_base_new());
  client_ = std::make_unique<launcher::AgentSession>(
      loop_.get(), agent_.stream(),
      [this](const protocol::AgentReport& report) { std::visit([this](const auto& r) { on(r); }, report); },
      [this](const std::string& reason) { broken_ = reason; });
}

MeasuredRun AgentRuns::run(const Words& command, const Cores& core_of_rank) {
  const auto start = Clock::now();
  const JobId id = launch(command, core_of_rank);
  wait_until([&] { return job(id).end.has_value(); });
  const double seconds = std::chrono::duration<double>(job(id).ended_at - start).count();
  const double ran = std::chrono::duration<double>(job(id).ended_at - job(id).started_at).count();
  return {seconds, ran, finish(id)};
}

std::string AgentRuns::back_end(const Words& command, const Cores& core_of_rank) {
  const JobId id = launch(command, core_of_rank);
  wait_until([&] { return job(id).has_started; });
  client_->send(protocol::AskStatistics{id});
  wait_until([&] { return job(id).end.has_value(); });
  const auto seen = job(id).statistics;
  finish(id);
  return seen ? seen->back_end : "";
}

std::vector<double> AgentRuns::move(const Words& command, const Cores& expanded, const Cores& shrunk, int cycles) {
  std::vector<double> moves;
  const JobId id = launch(command, expanded);
  wait_until([&] { return job(id).has_started || job(id).end; });
  for (int number = 0; number < 2 * cycles && !job(id).end; ++number) {
    pump_for(kBetweenMoves);
    const auto start = Clock::now();
    client_->send(protocol::MoveRanks{id, number % 2 == 0 ? shrunk : expanded});
    wait_until([&] { return job(id).moved == number + 1 || job(id).end; });
    if (job(id).moved == number + 1) moves.push_back(since(start));
  }
  wait_until([&] { return job(id).end.has_value(); });
  finish(id);
  return moves;
}

AgentRuns::Together AgentRuns::run_together(const std::vector<Words>& commands, const Cores& core_of_rank) {
  Together together;
  const auto start = Clock::now();
  std::vector<JobId> ids;
  ids.reserve(commands.size());
  for (const Words& command : commands) ids.push_back(launch(command, core_of_rank));
  const auto have_ended = [&] {
    return std::ranges::all_of(ids, [this](JobId id) { return job(id).end.has_value(); });
  };
  while (!have_ended()) {
    for (const JobId id : ids)
      if (job(id).has_started && !job(id).end) client_->send(protocol::AskStatistics{id});
    pump_for(kBetweenSamples);
  }
  for (const JobId id : ids) {
    together.each.push_back(std::chrono::duration<double>(job(id).ended_at - job(id).started_at).count());
    together.seconds = std::max(together.seconds, std::chrono::duration<double>(job(id).ended_at - start).count());
    if (job(id).statistics)
      for (const protocol::RankStatistics& rank : job(id).statistics->ranks) together.handoffs += rank.handoffs;
    finish(id);
  }
  return together;
}

JobId AgentRuns::launch(const Words& command, const Cores& core_of_rank) {
  const JobId id{++last_job_};
  Job& job = jobs_[id];
  job.folder = folder_.path() / fmt::format("{}", last_job_);
  fs::create_directories(job.folder);
  protocol::LaunchJob order;
  order.job = id;
  order.command = command;
  order.directory = job.folder.string();
  order.core_of_rank = core_of_rank;
  client_->send(order);
  return id;
}

std::string AgentRuns::finish(JobId id) {
  const Job job = std::move(jobs_.extract(id).mapped());
  std::string output = text_of(job.folder / "stdout");
  fs::remove_all(job.folder);
  if (job.end->outcome != Outcome::kCompleted || job.end->verification != Verification::kPassed)
    throw std::runtime_error(
        fmt::format("a job under the agent {}: {} {}", to_text(job.end->outcome), job.end->reason, output));
  return output;
}

/// The agent's heartbeat wakes us at least once a second.
template <typename Condition>
void AgentRuns::wait_until(Condition condition) {
  const auto start = Clock::now();
  while (!condition()) {
    if (!broken_.empty()) throw std::runtime_error(broken_);
    if (Clock::now() - start > kLongest) throw std::runtime_error("a job under the agent does not end");
    event_base_loop(loop_.get(), EVLOOP_ONCE);
  }
}

void AgentRuns::pump_for(std::chrono::milliseconds length) {
  const timeval wait{.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(std::chrono::microseconds{length}.count())};
  event_base_loopexit(loop_.get(), &wait);
  event_base_dispatch(loop_.get());
  if (!broken_.empty()) throw std::runtime_error(broken_);
}

void AgentRuns::on(const protocol::JobStarted& report) {
  job(report.job).has_started = true;
  job(report.job).started_at = Clock::now();
  if (!report.malleable) broken_ = fmt::format("a job under the agent is rigid: {}", report.reason);
}
void AgentRuns::on(const protocol::RanksMoved& report) { ++job(report.job).moved; }
void AgentRuns::on(const protocol::JobStatistics& report) {
  if (const auto found = jobs_.find(report.job); found != jobs_.end()) found->second.statistics = report;
}
void AgentRuns::on(const protocol::JobEnded& report) {
  job(report.job).end = report.end;
  job(report.job).ended_at = Clock::now();
}

}  // namespace replay::bench
