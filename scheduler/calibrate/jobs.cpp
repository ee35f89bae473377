#include "scheduler/calibrate/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/calibrate/measurer.hpp"

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

CalibrateJobs::CalibrateJobs(std::unique_ptr<launcher::MeasuredExecutor> executor, JobsPlace place)
    : place_(std::move(place)), executor_(std::move(executor)) {}

CalibrateJobs::~CalibrateJobs() {
  if (loop_) executor_->detach();
}

void CalibrateJobs::connect() {
  loop_.reset(event_base_new());
  if (!loop_) throw std::runtime_error("libevent has no event base");
  sample_event_ = std::make_unique<LoopEvent>(loop_.get(), -1, EV_PERSIST, [this] { ask_all(); });
  sample_event_->arm_after(kBetweenSamples);
  executor_->tell_statistics_to([this](const protocol::JobStatistics& report) { on_statistics(report); });
  executor_->attach(loop_.get(), this);
}

JobId CalibrateJobs::launch(const Words& command, const Cores& core_of_rank) {
  const JobId id{++last_job_};
  Job& job = jobs_[id];
  job.folder = std::make_unique<ScratchFolder>(place_.folders);
  live::LaunchOrder order;
  order.job = id;
  order.command = command;
  order.directory = job.folder->path();
  order.core_of_rank = core_of_rank;
  order.working_directory = place_.working_directory;
  job.ordered = Clock::now();
  executor_->launch(order);
  return id;
}

void CalibrateJobs::wait_until_started(JobId id) {
  const Job& job = jobs_.at(id);
  (void)wait_until([&job] { return job.is_started || job.end; }, kLongest);
}

std::optional<double> CalibrateJobs::move(JobId id, const Cores& core_of_rank) {
  Job& job = jobs_.at(id);
  if (job.end) return std::nullopt;
  const int before = job.answers;
  job.is_refused = false;
  const auto ordered = Clock::now();
  executor_->resize(id, core_of_rank);
  (void)wait_until([&] { return job.answers > before || job.end; }, kLongest);
  if (job.answers == before || job.is_refused) return std::nullopt;
  return seconds_between(ordered, Clock::now());
}

FinishedJob CalibrateJobs::finish(JobId id) {
  if (!wait_until([this, id] { return is_over(id); }, kLongest)) end(id);
  Job job = std::move(jobs_.extract(id).mapped());
  ended_cpu_s_ += job.cpu_s;
  FinishedJob finished;
  const auto from = job.is_started ? job.started_at : job.ordered;
  if (job.is_started) {
    finished.launch_s = seconds_between(job.ordered, job.started_at);
    finished.malleable = job.malleable;
    finished.rigid_reason = job.rigid_reason;
  }
  finished.ran_s = seconds_between(from, job.ended_at);
  finished.end = *job.end;
  finished.output = launcher::read_tail(job.folder->path() / "stdout", kMostOutput);
  finished.errors = launcher::read_tail(job.folder->path() / "stderr", kMostOutput);
  return finished;
}

void CalibrateJobs::end(JobId id) {
  if (is_over(id)) return;
  executor_->end(id, Outcome::kKilled);
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
    if (job.is_started && !job.end) executor_->ask_statistics(id);
}

void CalibrateJobs::on_started(JobId id, bool malleable, const std::string& reason) {
  Job& job = jobs_.at(id);
  if (!job.is_started) job.started_at = Clock::now();  // it comes again when ranks register late
  job.is_started = true;
  job.malleable = malleable;
  job.rigid_reason = reason;
  executor_->ask_statistics(id);
}

void CalibrateJobs::on_action_failed(JobId job, const std::string& action, const std::string& /*reason*/) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || action != "resize") return;
  found->second.is_refused = true;
  ++found->second.answers;
}

// The kernel drops a rank's CPU time when it exits; we keep its last report.
void CalibrateJobs::on_statistics(const protocol::JobStatistics& report) {
  const auto found = jobs_.find(report.job);
  if (found == jobs_.end()) return;
  double cpu_s = 0;
  for (const protocol::RankStatistics& rank : report.ranks) cpu_s += static_cast<double>(rank.cpu_ns) * 1e-9;
  if (cpu_s < found->second.cpu_s) return;
  found->second.cpu_s = cpu_s;
  if (!place_.measures_load) return;
  const auto machine = experiment::machine_time();
  if (!machine) return;
  Mark mark{*machine, ended_cpu_s_};
  for (const auto& [id, job] : jobs_) mark.own_s += job.cpu_s;
  if (!first_) first_ = mark;
  last_ = mark;
}

void CalibrateJobs::on_ended(JobId id, const JobEnd& end) {
  Job& job = jobs_.at(id);
  job.ended_at = Clock::now();
  job.end = end;
}

void CalibrateJobs::on_not_started(JobId job, const std::string& reason) {
  JobEnd end;
  end.outcome = Outcome::kFailed;
  end.reason = reason;
  on_ended(job, end);
}

void CalibrateJobs::on_node(const NodeChange& change, const std::string& host) {
  if (change.state == NodeState::kDown) broken_ = fmt::format("{}: {}", host, change.reason);
}

}  // namespace replay::calibrate
