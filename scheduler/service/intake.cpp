#include "scheduler/service/intake.hpp"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>
#include <variant>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/model/allocation.hpp"

namespace replay::service {
namespace {

constexpr std::size_t kMostJobsOfAnAnswer = 500;
constexpr std::size_t kMostTextOfAnAnswer = kLongestLine / 2;

constexpr int kLastTries = 3;  // each waits for another writer of the journal

constexpr const char* kIsStopping = "the service is stopping: it takes no requests that change a job";

std::int32_t number_or_none(std::uint32_t id) {
  return id > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()) ? -1 : static_cast<std::int32_t>(id);
}

// The true run time stays 0: it is not known, and figures over it leave such jobs out.
void fill(TracedJob& traced, const WaitingJob& job) {
  traced = TracedJob{};
  traced.job.id = job.id;
  traced.job.submitted = job.submitted;
  traced.job.estimate = job.time_limit;
  traced.job.processes = job.processes;
  traced.job.flexibility = job.is_rigid ? Flexibility::kRigid : Flexibility::kMalleable;
  traced.job.user = number_or_none(job.user);
  traced.job.group = number_or_none(job.group);
  traced.job.queue = job.queue;
}

std::string no_such(JobId job) { return fmt::format("there is no job {}", number(job)); }

std::pair<std::string, std::string> variable_of(const std::string& entry) {
  const std::size_t equals = entry.find('=');
  return {entry.substr(0, equals), entry.substr(equals + 1)};
}

}  // namespace

// What each request does.
struct Intake::Requests {
  Intake& intake;
  Door::Client client;
  uid_t user;
  gid_t group;

  void operator()(Submit& request) const {
    JobRequest& job = request.job;
    if (intake.is_closed_) return intake.refuse(client, kIsStopping);
    if (cores_at(job.processes, 1) > intake.options_.cores)
      return intake.refuse(client, fmt::format("processes: expected at most {}, the cores of the machine, found {}",
                                               intake.options_.cores, job.processes));
    std::error_code error;
    if (!std::filesystem::is_directory(job.directory, error))
      return intake.refuse(client,
                           fmt::format("directory: expected a folder, found '{}'", visible_text(job.directory)));
    if (const auto no_folder = why_cannot_start_in(job.directory))
      return intake.refuse(client, fmt::format("directory: {}", visible_text(no_folder->why)));
    if (!job.time_limit) job.time_limit = intake.options_.default_limit;
    intake.submissions_.push_back({client, {std::move(job), user, group, {}}});
  }

  void operator()(const ListJobs& request) const {
    AllJobs answer;
    std::size_t text = 0;
    std::vector<StoredJob> found = intake.journal_.list(request.ended, request.after, kMostJobsOfAnAnswer + 1);
    for (const StoredJob& stored : found) {
      answer.more = answer.jobs.size() == kMostJobsOfAnAnswer || text > kMostTextOfAnAnswer;
      if (answer.more) break;
      const JobStatus& job = answer.jobs.emplace_back(intake.status_of(stored));
      text += job.name.size() + job.command.size() + job.directory.size() + job.output.size() + job.reason.size();
    }
    intake.answer(client, answer);
  }

  void operator()(const ShowJob& request) const { intake.answer_about(client, request.job); }

  void operator()(const CancelJob& request) const {
    const auto stored = intake.journal_.find(request.job);
    if (!stored) return intake.refuse(client, no_such(request.job));
    if (stored->ended)
      return intake.refuse(
          client, fmt::format("job {} has ended already: {}", number(request.job), replay::to_text(stored->outcome)));
    if (intake.is_closed_) return intake.refuse(client, kIsStopping);
    intake.cancellations_.push_back({client, request.job});
  }

  void operator()(const WaitForJob& request) const {
    const auto stored = intake.journal_.find(request.job);
    if (!stored) return intake.refuse(client, no_such(request.job));
    if (stored->ended) return intake.answer(client, OneJob{intake.status_of(*stored)});
    auto& waiters = intake.waiters_[request.job];
    std::erase_if(waiters, [this](Door::Client waiter) { return !intake.door_->has(waiter); });
    waiters.push_back(client);
  }

  void operator()(const ShowService&) const {
    ServiceStatus status = intake.options_.status;
    status.waiting = intake.board_.waiting();
    status.running = intake.board_.running();
    intake.answer(client, Service{std::move(status)});
  }
};

Intake::Intake(Journal& journal, Board& board, const ServiceFolder& folder, int socket, Instant begin,
               IntakeOptions options)
    : journal_(journal),
      board_(board),
      folder_(folder),
      socket_(socket),
      begin_(begin),
      now_(begin),
      options_(std::move(options)),
      is_played_back_(options_.is_played_back) {
  for (const WaitingJob& job : journal.waiting())
    if (cores_at(job.processes, 1) <= options_.cores)
      ready_.push_back(job);
    else
      ++held_back_;
}

Duration Intake::zero_time_of_day() const {
  return Duration{journal_.zero().time_since_epoch() % std::chrono::hours{24}};
}

void Intake::attach(event_base* loop) {
  door_ = std::make_unique<Door>(
      loop, socket_,
      [this](Door::Client client, uid_t user, gid_t group, Request request) {
        handle(client, user, group, std::move(request));
      },
      options_.door);
}

void Intake::detach() {
  close();
  for (int tries = 0; tries < kLastTries && (tries == 0 || !fault_.empty()); ++tries) {
    journal_.wait_for_others();
    write_ends();
  }
  for (const auto& [job, clients] : std::exchange(waiters_, {}))
    for (const Door::Client client : clients)
      refuse(client,
             fmt::format("the service has ended; job {0} stays in its journal for the next one: `replay jobs {0}` "
                         "says then how it goes on",
                         number(job)));
  door_.reset();
}

// Called from libevent, through which no exception may pass.
void Intake::handle(Door::Client client, uid_t user, gid_t group, Request request) {
  try {
    std::visit(Requests{*this, client, user, group}, request);
  } catch (const std::exception& error) {  // the journal, no memory
    refuse(client, clean_line(error.what(), kLongestReason));
  }
}

void Intake::answer(Door::Client client, const Answer& answer) {
  if (door_) door_->answer(client, answer);
}

const TracedJob* Intake::take(Instant now) {
  now_ = now;
  // A client that has given up is not told, and may ask again: its job would run twice.
  const auto has_hung_up = [this](const auto& asked) { return door_->has_hung_up(asked.client); };
  std::erase_if(submissions_, has_hung_up);
  std::erase_if(cancellations_, has_hung_up);
  if (!submissions_.empty()) put_into_journal();
  if (!cancellations_.empty()) cancel_in_journal();
  if (ready_.empty()) return nullptr;
  const WaitingJob next = ready_.front();
  ready_.pop_front();
  return enter(next);
}

const TracedJob* Intake::enter(const WaitingJob& next) {
  if (next.requeue) to_requeue_.insert(next.id);
  return &jobs_.add(next.id, [&next](TracedJob& job) { fill(job, next); });
}

// ---- a period that goes on ----

const TracedJob* Intake::take_again(JobId job, Instant now) {
  now_ = now;
  const auto waits = std::ranges::lower_bound(ready_, job, {}, &WaitingJob::id);
  if (waits == ready_.end() || waits->id != job) {
    const auto stored = journal_.find(job);
    return stored ? enter(stored->job) : nullptr;
  }
  const WaitingJob next = *waits;
  ready_.erase(waits);
  return enter(next);
}

bool Intake::take_cancel_again(JobId job, Instant /*now*/) {
  if (jobs_.find(job) == nullptr || std::ranges::find(ended_, job) != ended_.end()) return false;
  played_cancels_.insert(job);
  board_.note_cancel(job);
  return true;
}

void Intake::go_on() {
  is_played_back_ = false;
  std::map<JobId, EndOfJob> ends;
  for (EndOfJob& end : std::exchange(ends_, {})) ends.insert_or_assign(end.job, std::move(end));
  requeued_.clear();
  for (const StoredJob& stored : journal_.list(false, 0, std::numeric_limits<std::int32_t>::max())) {
    const JobId job = stored.job.id;
    const Board::Entry* const entry = board_.find(job);
    const bool is_launched = entry != nullptr && entry->launched && !board_.is_unstarted(job);
    if (const auto end = ends.find(job); end != ends.end())
      ends_.push_back(std::move(end->second));
    else if (is_launched && !stored.started)
      journal_.start(job, *entry->launched);
    else if (!is_launched && stored.started)
      requeued_.push_back(job);
    const bool is_to_be_cancelled = stored.is_cancelled && !ends.contains(job) && !played_cancels_.contains(job);
    if (is_to_be_cancelled) board_.note_cancel(job), cancels_.push_back(job);
  }
  played_cancels_.clear();
  write_ends();
}

void Intake::put_into_journal() {
  std::vector<Submission> submissions = std::exchange(submissions_, {});
  std::vector<NewJob> jobs;
  for (Submission& submission : submissions) jobs.push_back(std::move(submission.job));
  for (NewJob& job : jobs) job.submitted = now_;
  std::vector<JobId> ids;
  try {
    ids = journal_.submit(jobs);
  } catch (const InputError& error) {
    for (const Submission& submission : submissions) refuse(submission.client, error.what());
    return;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobRequest& request = jobs[i].request;
    ready_.push_back({ids[i], jobs[i].user, jobs[i].group, request.processes, request.time_limit.value(),
                      request.is_rigid, request.requeue, request.queue, now_});
    answer(submissions[i].client, Submitted{ids[i]});
  }
}

// A job that is not in the run, because the machine is too small for it, ends here; the others by the engine.
void Intake::cancel_in_journal() {
  const std::vector<Cancellation> cancellations = std::exchange(cancellations_, {});
  std::vector<JobId> jobs;
  for (const Cancellation& one : cancellations) jobs.push_back(one.job);
  try {
    journal_.cancel(jobs);
  } catch (const InputError& error) {
    for (const Cancellation& one : cancellations) refuse(one.client, error.what());
    return;
  }
  for (const Cancellation& one : cancellations) {
    answer_about(one.client, one.job);
    const auto next = std::ranges::lower_bound(ready_, one.job, {}, &WaitingJob::id);
    const bool will_be_taken = next != ready_.end() && next->id == one.job;
    if (jobs_.find(one.job) != nullptr || will_be_taken) {
      board_.note_cancel(one.job);
      cancels_.push_back(one.job);
    } else if (std::ranges::find(ends_, one.job, &EndOfJob::job) == ends_.end()) {
      ends_.push_back({one.job, now_, {Outcome::kCancelled, 0, Verification::kNone, -1, ""}});
    }
  }
  if (!ends_.empty()) write_ends();
}

void Intake::tick() {
  if (!fault_.empty()) write_ends();
}

std::optional<JobId> Intake::take_cancel(Instant /*now*/) {
  while (!cancels_.empty()) {
    const JobId job = cancels_.front();
    cancels_.pop_front();
    if (jobs_.find(job) != nullptr && std::ranges::find(ended_, job) == ended_.end()) return job;
  }
  return std::nullopt;
}

live::LaunchOrder Intake::launch_of(const TracedJob& traced) {
  const JobId job = traced.job.id;
  live::LaunchOrder order;
  Program program = journal_.program(job);
  order.command = std::move(program.command);
  order.working_directory = std::move(program.directory);
  for (const std::string& entry : program.environment) order.surroundings.push_back(variable_of(entry));
  order.malleable = traced.job.can_shrink() || traced.job.flexibility == Flexibility::kMalleable;
  order.directory = folder_.job(job);
  std::error_code error;
  std::filesystem::create_directories(order.directory, error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", order.directory.string(), error.message()));
  return order;
}

// What keeps it from being given has not kept the first one.
live::LaunchOrder Intake::order_again(const TracedJob& traced) {
  try {
    return launch_of(traced);
  } catch (const std::exception&) {
    return {};
  }
}

void Intake::adopt(const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) {
    const auto stored = journal_.find(job);
    if (stored && stored->is_cancelled) board_.note_cancel(job), cancels_.push_back(job);
  }
}

// What keeps this job from being started would keep every other one, but for a damaged row.
live::LaunchOrder Intake::order(const TracedJob& traced) {
  const JobId job = traced.job.id;
  live::LaunchOrder order;
  failed_order_ = job;
  try {
    order = launch_of(traced);
    if (!is_played_back_) journal_.start(job, now_);
  } catch (const InputError& error) {
    throw live::CannotStartJobs(error.what());
  }
  failed_order_.reset();
  std::erase(requeued_, job);
  board_.note_start(job);
  return order;
}

// The folder was there as the job was submitted. Of one that the user may not enter any more, the agent says so as the job
// ends; what is wrong with the journal, order() finds, too.
std::string Intake::why_not_startable(JobId job) {
  put_off_.erase(job);
  try {
    const auto stored = journal_.find(job);
    const auto no_folder = stored ? why_cannot_start_in(stored->directory) : std::nullopt;
    if (no_folder && !no_folder->is_denied)
      return put_off_.emplace(job, clean_line(no_folder->why, kLongestReason)).first->second;
  } catch (const InputError&) {
  }
  return {};
}

bool Intake::on_not_started(JobId job, const std::string& reason) {
  board_.note_unstarted(job);
  site_fault_ = reason;
  if (failed_order_ != job) {  // its start is in the journal
    requeued_.push_back(job);
    write_ends();
  }
  return !is_closed_;
}

bool Intake::on_lost_with_node(JobId job) {
  if (!to_requeue_.contains(job)) return false;
  requeued_.push_back(job);
  return true;
}

void Intake::on_end(JobId job, Instant /*now*/) { ended_.push_back(job); }

void Intake::forget_ended() {
  for (LeftJob& left : board_.take_left()) {
    const bool was_lost = left.end.end.outcome == Outcome::kLost;  // with a node, as the service stopped
    const bool may_wait_again = to_requeue_.contains(left.end.job);
    if (!left.by_service && !(was_lost && may_wait_again)) {
      ends_.push_back(std::move(left.end));
    } else if (left.was_launched) {
      if (may_wait_again) {
        requeued_.push_back(left.end.job);
      } else {
        if (left.end.end.reason.empty()) left.end.end.reason = kStoppedWithService;
        ends_.push_back(std::move(left.end));
      }
    }  // else it waits on, for the next period
  }
  if (!ends_.empty() || !requeued_.empty()) write_ends();
  for (const JobId job : std::exchange(ended_, {})) {
    jobs_.release(job);
    to_requeue_.erase(job);
    put_off_.erase(job);
  }
}

// Those that cannot be written are kept for the next try. If that never comes, the next period reads them in the event log.
void Intake::write_ends() {
  if (is_played_back_ || (ends_.empty() && requeued_.empty())) return;
  try {
    if (options_.save_log) options_.save_log();
    journal_.end(ends_, requeued_);
    fault_.clear();
  } catch (const InputError& error) {
    fault_ = error.what();
    return;
  }
  requeued_.clear();
  for (const EndOfJob& end : std::exchange(ends_, {})) answer_waiters(end.job);
}

void Intake::answer_waiters(JobId job) {
  const auto found = waiters_.find(job);
  if (found == waiters_.end()) return;
  const std::vector<Door::Client> clients = std::move(found->second);
  waiters_.erase(found);
  for (const Door::Client client : clients) answer_about(client, job);
}

void Intake::answer_about(Door::Client client, JobId job) {
  try {
    const auto stored = journal_.find(job);
    answer(client, stored ? Answer{OneJob{status_of(*stored)}} : Answer{Refused{no_such(job)}});
  } catch (const InputError& error) {
    refuse(client, error.what());
  }
}

void Intake::close() {
  if (std::exchange(is_closed_, true)) return;
  for (const Submission& submission : std::exchange(submissions_, {})) refuse(submission.client, kIsStopping);
  for (const Cancellation& one : std::exchange(cancellations_, {})) refuse(one.client, kIsStopping);
}

JobStatus Intake::status_of(const StoredJob& stored) {
  JobStatus status;
  status.id = stored.job.id;
  status.name = clean_line(stored.name, kLongestName);  // of a row that another program has changed, as below
  status.user = name_of(stored.job.user);
  status.processes = stored.job.processes;
  status.time_limit = stored.job.time_limit;
  status.submitted = journal_.unix_time_of(stored.job.submitted);
  if (stored.started) status.started = journal_.unix_time_of(*stored.started);
  status.command = visible_text(command_line_of(stored.command), kLongestCommand);
  status.directory = visible_text(stored.directory);
  status.output = folder_.job(stored.job.id).string();
  const auto set_end = [&status, this](Instant at, const JobEnd& end) {
    status.state = JobState::kEnded;
    status.ended = journal_.unix_time_of(at);
    status.outcome = end.outcome;
    status.exit_code = end.exit_code;
    status.reason = clean_line(end.reason, kLongestReason);
  };
  const auto unwritten = std::ranges::find(ends_, stored.job.id, &EndOfJob::job);
  if (stored.ended) {
    set_end(*stored.ended, {stored.outcome, stored.exit_code, Verification::kNone, -1, stored.reason});
  } else if (unwritten != ends_.end()) {
    set_end(unwritten->at, unwritten->end);
  } else if (const Board::Entry* const entry = board_.find(stored.job.id);
             entry != nullptr && !board_.is_unstarted(stored.job.id)) {
    status.state = entry->state;
    status.cores = entry->state == JobState::kRunning ? entry->cores : CoreCount{0};
  }
  if (status.state == JobState::kWaiting) {
    status.started.reset();
    const CoreCount needed = cores_at(stored.job.processes, 1);
    const auto left = board_.cores_left();
    if (const auto found = put_off_.find(stored.job.id); found != put_off_.end())
      status.reason = found->second;
    else if (!site_fault_.empty())
      status.reason = "no job can be started now: " + site_fault_;
    else if (left && needed > *left && needed <= options_.cores)
      status.reason = "held back, as nodes are closed: " + too_few_cores_text(needed, *left);
  }
  return status;
}

const std::string& Intake::name_of(uid_t user) {
  const auto [there, is_new] = names_.try_emplace(user);
  if (is_new) {
    const passwd* const entry = ::getpwuid(user);
    there->second = entry != nullptr ? clean_line(entry->pw_name) : fmt::format("{}", user);
  }
  return there->second;
}

}  // namespace replay::service
