#include "scheduler/calibrate/jobs.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/calibrate/measurer.hpp"
#include "scheduler/experiment/disturbance.hpp"

namespace replay::calibrate {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kBetweenSamples = 100ms;
constexpr auto kToEnd = std::chrono::milliseconds{30'000};  // includes SIGTERM, then SIGKILL
constexpr double kLeastWatched = 0.4;                       // CPU s: less is too little for a load figure
constexpr std::size_t kMostOutput = 1 << 16;

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

CalibrateJobs::CalibrateJobs(const launcher::AgentOptions& options) : agent_(launcher::start_agent(options)) {}

CalibrateJobs::~CalibrateJobs() { client_.reset(); }

void CalibrateJobs::connect() {
  loop_.reset(event_base_new());
  if (!loop_) throw std::runtime_error("libevent has no event base");
  sample_event_ = std::make_unique<LoopEvent>(loop_.get(), -1, EV_PERSIST, [this] { ask_all(); });
  sample_event_->arm_after(kBetweenSamples);
  client_ = std::make_unique<launcher::AgentSession>(
      loop_.get(), agent_.stream(),
      [this](const protocol::AgentReport& report) { std::visit([this](const auto& r) { on(r); }, report); },
      [this](const std::string& reason) { broken_ = reason; });
}

JobId CalibrateJobs::launch(const Words& command, const Cores& core_of_rank) {
  const JobId id{++last_job_};
  Job& job = jobs_[id];
  job.folder = std::make_unique<TemporaryFolder>();
  protocol::LaunchJob order;
  order.job = id;
  order.command = command;
  order.directory = job.folder->path().string();
  order.core_of_rank = core_of_rank;
  job.ordered = Clock::now();
  client_->send(order);
  return id;
}

void CalibrateJobs::wait_until_started(JobId id) {
  const Job& job = jobs_.at(id);
  (void)wait_until([&job] { return job.started || job.end; }, kLongest);
}

std::optional<double> CalibrateJobs::move(JobId id, const Cores& core_of_rank) {
  Job& job = jobs_.at(id);
  if (job.end) return std::nullopt;
  const int before = job.answers;
  job.is_refused = false;
  const auto ordered = Clock::now();
  client_->send(protocol::MoveRanks{id, core_of_rank});
  (void)wait_until([&] { return job.answers > before || job.end; }, kLongest);
  if (job.answers == before || job.is_refused) return std::nullopt;
  return seconds_between(ordered, Clock::now());
}

FinishedJob CalibrateJobs::finish(JobId id) {
  if (!wait_until([this, id] { return is_over(id); }, kLongest)) end(id);
  Job job = std::move(jobs_.extract(id).mapped());
  ended_cpu_s_ += job.cpu_s;
  FinishedJob finished;
  const auto from = job.started ? job.started_at : job.ordered;
  if (job.started) {
    finished.launch_s = seconds_between(job.ordered, job.started_at);
    finished.malleable = job.started->malleable;
    finished.rigid_reason = job.started->reason;
  }
  finished.ran_s = seconds_between(from, job.ended_at);
  finished.end = *job.end;
  finished.output = launcher::read_tail(job.folder->path() / "stdout", kMostOutput);
  finished.errors = launcher::read_tail(job.folder->path() / "stderr", kMostOutput);
  return finished;
}

void CalibrateJobs::end(JobId id) {
  if (is_over(id)) return;
  client_->send(protocol::EndJob{id, Outcome::kKilled});
  if (!wait_until([this, id] { return is_over(id); }, kToEnd))
    throw std::runtime_error("a program does not end, although the agent was told to end it");
}

void CalibrateJobs::pause(std::chrono::milliseconds length) {
  const timeval wait{.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(length.count() * 1000)};
  event_base_loopexit(loop_.get(), &wait);
  event_base_dispatch(loop_.get());
  check();
}

void CalibrateJobs::check() const {
  if (stops_asked() > 0) throw Interrupted{};
  if (!broken_.empty()) throw std::runtime_error(broken_);
}

void CalibrateJobs::watch_load() {
  first_.reset();
  last_.reset();
}

std::optional<double> CalibrateJobs::load() const {
  if (!first_ || !last_) return std::nullopt;
  const double all = last_->machine.all - first_->machine.all;
  if (all < kLeastWatched) return std::nullopt;
  const double others = last_->machine.busy - first_->machine.busy - (last_->own_s - first_->own_s);
  return std::clamp(others / all, 0.0, 1.0);
}

// The sample timer wakes the loop often enough to check the deadline and stop signals.
template <typename Condition>
bool CalibrateJobs::wait_until(Condition condition, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    check();
    if (Clock::now() >= deadline) return false;
    event_base_loop(loop_.get(), EVLOOP_ONCE);
  }
  return true;
}

void CalibrateJobs::ask_all() {
  for (const auto& [id, job] : jobs_)
    if (job.started && !job.end) client_->send(protocol::AskStatistics{id});
}

void CalibrateJobs::on(const protocol::JobStarted& report) {
  Job& job = jobs_.at(report.job);
  if (!job.started) job.started_at = Clock::now();  // it comes again when ranks register late
  job.started = report;
  client_->send(protocol::AskStatistics{report.job});
}

void CalibrateJobs::on(const protocol::RanksMoved& report) { ++jobs_.at(report.job).answers; }

void CalibrateJobs::on(const protocol::OrderFailed& report) {
  const auto found = jobs_.find(report.job);
  if (found == jobs_.end() || report.action != "resize") return;
  found->second.is_refused = true;
  ++found->second.answers;
}

// The kernel drops a rank's CPU time when it exits; we keep its last report.
void CalibrateJobs::on(const protocol::JobStatistics& report) {
  const auto found = jobs_.find(report.job);
  if (found == jobs_.end()) return;
  double cpu_s = 0;
  for (const protocol::RankStatistics& rank : report.ranks) cpu_s += static_cast<double>(rank.cpu_ns) * 1e-9;
  if (cpu_s < found->second.cpu_s) return;
  found->second.cpu_s = cpu_s;
  const auto machine = experiment::machine_time();
  if (!machine) return;
  Mark mark{*machine, ended_cpu_s_};
  for (const auto& [id, job] : jobs_) mark.own_s += job.cpu_s;
  if (!first_) first_ = mark;
  last_ = mark;
}

void CalibrateJobs::on(const protocol::JobEnded& report) {
  Job& job = jobs_.at(report.job);
  job.ended_at = Clock::now();
  job.end = report.end;
}

}  // namespace replay::calibrate
