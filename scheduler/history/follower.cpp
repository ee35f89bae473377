#include "scheduler/history/follower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/log/node_names.hpp"

namespace replay::history {
namespace {

constexpr std::uint8_t kAlone = 255;
constexpr std::uint8_t kMostSharers = 2;  // docs/adr/0008-jobs-that-share-cores.md

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw log::BadRecord(fmt::format(text, std::forward<Arguments>(arguments)...));
}

// What happens to a job by decisions, in words.
std::string_view event_of(const log::StartDecided&) { return "started"; }
std::string_view event_of(const log::RanksSeen&) { return "seen"; }
std::string_view event_of(const log::ResizeDecided&) { return "resized"; }
std::string_view event_of(const log::SuspendDecided&) { return "suspended"; }
std::string_view event_of(const log::ResumeDecided&) { return "resumed"; }
std::string_view event_of(const log::KillDecided&) { return "killed"; }
std::string_view event_of(const log::Extended&) { return "extended"; }

template <class What>
concept Decision = requires(const What& what) {
  event_of(what);
};

}  // namespace

struct Follower::Taker {
  Follower& follower;
  const log::Record& record;

  void operator()(const log::Submitted& what) const { passed(follower.submit(what)); }
  void operator()(const log::Launched& what) const { passed(follower.launch(what)); }
  void operator()(const log::ResizeDone& what) const { passed(follower.resize(what)); }
  void operator()(const log::SuspendDone& what) const { passed(follower.suspend(what.job)); }
  void operator()(const log::ResumeDone& what) const { passed(follower.resume(what.job)); }
  void operator()(const log::Requeued& what) const { passed(follower.requeue(what.job)); }
  void operator()(const log::Finished& what) const { follower.end(what, record); }
  void operator()(const NodeChange& what) const {
    follower.change(what);
    if (follower.places_ > 0) follower.tell_load();  // a run begins with its first submission
    follower.tell_record(record, nullptr);
  }
  void operator()(const log::RanksSeen& what) const {
    JobState& job = follower.job(what.job, event_of(what));
    job.flexibility = what.malleable ? job.declared : Flexibility::kRigid;
    follower.tell_record(record, &job);
  }
  template <Decision What>
  void operator()(const What& what) const {
    const JobState& job = follower.job(what.job, event_of(what));
    if constexpr (requires { what.allocation; }) follower.expect_cores(job, what.allocation);
    follower.tell_record(record, &job);
  }
  void operator()(const log::Failed& what) const {  // it may come after the end
    const bool has_ended = follower.find(what.job) == nullptr && follower.submitted_.contains(what.job);
    follower.tell_record(record, has_ended ? nullptr : &follower.job(what.job, "told of"));
  }
  template <class Other>
  void operator()(const Other& what) const {
    if constexpr (requires { what.job; })
      follower.tell_record(record, &follower.job(what.job, "told of"));
    else
      follower.tell_record(record, nullptr);
  }

 private:
  void passed(const JobState& job) const {
    follower.tell_load();
    follower.tell_record(record, &job);
  }
};

Follower::Follower(const Observers& observers) {
  for (const ObserverRef& observer : observers) add(observer);
}

void Follower::add(const ObserverRef& of) {
  INVARIANT(!machine_, "an observer comes after the begin of the log");
  observers_.push_back(of.observer);
  if (of.heeds_time) of_time_.push_back(of.observer);
  if (of.heeds_jobs) of_jobs_.push_back(of.observer);
  if (of.heeds_load) of_load_.push_back(of.observer);
  const log::Kinds wanted = of.observer->records();
  for (std::size_t kind = 0; kind < log::kKindCount; ++kind)
    if (wanted.test(kind)) by_kind_[kind].push_back(of.observer);
}

log::Kinds Follower::kinds() const {
  log::Kinds kinds;
  for (const std::size_t kind : {log::kKind<log::Submitted>, log::kKind<log::Launched>, log::kKind<log::RanksSeen>,
                                 log::kKind<log::ResizeDone>, log::kKind<log::SuspendDone>, log::kKind<log::ResumeDone>,
                                 log::kKind<log::Finished>, log::kKind<log::Requeued>, log::kKind<NodeChange>})
    kinds.set(kind);
  for (const Observer* observer : observers_) kinds |= observer->records();
  return kinds;
}

void Follower::header(const log::Header& header) {
  const std::string& machine = header.value("machine");
  if (machine.empty()) refuse("expected a header '#machine ...' such as flat:128, found none");
  try {
    machine_ = Machine::parse(machine);
  } catch (const InputError& error) {
    refuse("header '#machine': {}", error.what());
  }
  (void)log::NodeNames(header, *machine_);  // throws
  (void)stated_cores(header, *machine_);    // likewise
  header_ = header;
  if (machine_->names_cores()) on_core_.assign(static_cast<std::size_t>(machine_->size()), 0);
  for (Observer* observer : observers_) observer->on_begin(header_, *machine_);
}

void Follower::record(const log::Record& record) {
  if (now_ && *now_ != record.at)
    for (Observer* observer : of_time_) observer->on_time(record.at);
  now_ = record.at;
  log::visit(Taker{*this, record}, record.what);
}

const JobState& Follower::submit(const log::Submitted& what) {
  const auto& [declared, truth] = what;
  if (!submitted_.add(declared.id))
    refuse("job {} is submitted twice, again at {} s", number(declared.id), to_text(*now_));
  JobState& job = jobs_.add(declared.id, [&, &truth = truth, &declared = declared](JobState& fresh) {
    fresh.id = declared.id;
    fresh.place = places_++;
    fresh.submitted = *now_;
    fresh.launched = kNever;
    fresh.estimate = declared.estimate;
    fresh.runtime = truth.runtime;
    fresh.requested = declared.processes;
    fresh.user = declared.user;
    fresh.group = declared.group;
    fresh.queue = declared.queue;
    fresh.executable = truth.executable;
    fresh.declared = fresh.flexibility = declared.flexibility;
    fresh.phase = Phase::kWaiting;
    fresh.held = {};
  });
  join(job);
  for (Observer* observer : of_jobs_) observer->on_submit(*now_, job);
  return job;
}

const JobState& Follower::launch(const log::Launched& what) {
  JobState& job = this->job(what.job, "launched");
  if (job.phase != Phase::kWaiting) refuse("job {} is launched twice, again at {} s", number(job.id), to_text(*now_));
  if (what.since != kNever && what.since > *now_)
    refuse("job {} is adopted at {} s, expected that it was started before, found {} s", number(job.id), to_text(*now_),
           to_text(what.since));
  part(job);
  job.phase = Phase::kRunning;
  job.launched = *now_;
  job.core_seconds = 0;
  expect_open(job, what.allocation);
  job.held = what.allocation;
  join(job);
  changed({Phase::kWaiting, {}}, job);
  return job;
}

const JobState& Follower::resize(const log::ResizeDone& what) {
  JobState& job = this->job(what.job, "resized");
  if (job.phase != Phase::kRunning)
    refuse("job {} is resized at {} s, but it does not run", number(job.id), to_text(*now_));
  part(job);
  expect_open(job, what.allocation);
  const Allocation before = std::exchange(job.held, what.allocation);
  join(job);
  changed({Phase::kRunning, before}, job);
  return job;
}

const JobState& Follower::suspend(JobId id) {
  JobState& job = this->job(id, "suspended");
  if (job.phase != Phase::kRunning)
    refuse("job {} is suspended at {} s, but it does not run", number(id), to_text(*now_));
  part(job);
  job.phase = Phase::kSuspended;
  join(job);
  changed({Phase::kRunning, job.held}, job);
  return job;
}

const JobState& Follower::resume(JobId id) {
  JobState& job = this->job(id, "resumed");
  if (job.phase != Phase::kSuspended)
    refuse("job {} is resumed at {} s, but it is not suspended", number(id), to_text(*now_));
  part(job);
  job.phase = Phase::kRunning;
  join(job);
  changed({Phase::kSuspended, job.held}, job);
  return job;
}

const JobState& Follower::requeue(JobId id) {
  JobState& job = this->job(id, "requeued");
  if (job.phase == Phase::kWaiting) refuse("job {} is requeued at {} s, but it waits", number(id), to_text(*now_));
  part(job);
  const Phase before = std::exchange(job.phase, Phase::kWaiting);
  const Allocation held = std::exchange(job.held, {});
  job.flexibility = job.declared;
  join(job);
  changed({before, held}, job);
  job.launched = kNever;
  return job;
}

void Follower::change(const NodeChange& change) {
  const int node = number(change.node);
  if (!machine_->names_cores() || node >= machine_->nodes())
    refuse("node {} is {} at {} s, the machine is {}", node, to_text(change.state), to_text(*now_),
           machine_->to_text());
  if ((change.state == NodeState::kReserved) != is_reservation_name(change.reservation))
    refuse("node {} is {} at {} s: expected {} name of a reservation, found '{}'", node, to_text(change.state),
           to_text(*now_), change.state == NodeState::kReserved ? "the" : "no", change.reservation);
  if (change.until != kNever && (change.state == NodeState::kUp || change.until <= *now_))
    refuse("node {} is {} at {} s: expected no end{}, found {} s", node, to_text(change.state), to_text(*now_),
           change.state == NodeState::kUp ? "" : " or a later one", to_text(change.until));
  if (nodes_.empty()) nodes_.assign(static_cast<std::size_t>(machine_->nodes()), NodeState::kUp);
  const bool was_up = std::exchange(nodes_[index_of(change.node)], change.state) == NodeState::kUp;
  const int more = (was_up ? 1 : 0) - (change.state == NodeState::kUp ? 1 : 0);
  for (const CoreId core : machine_->cores_of(change.node)) {
    load_.closed_cores += more;
    if (on_core_[index_of(core)] == 0) load_.absent_cores += more;
  }
}

void Follower::end(const log::Finished& what, const log::Record& record) {
  JobState& job = this->job(what.job, "finished");
  part(job);
  for (Observer* observer : of_jobs_) observer->on_end(*now_, job, what.end);
  tell_load();
  tell_record(record, &job);
  jobs_.release(what.job);
}

void Follower::changed(const Before& before, const JobState& job) {
  for (Observer* observer : of_jobs_) observer->on_change(*now_, before, job);
}

void Follower::tell_load() {
  for (Observer* observer : of_load_) observer->on_load(*now_, load_);
}

void Follower::tell_record(const log::Record& record, const JobState* job) {
  for (Observer* observer : by_kind_[record.what.index()]) observer->on_record(record, job);
}

JobState& Follower::job(JobId id, std::string_view event) {
  JobState* const job = jobs_.find(id);
  if (job == nullptr)
    refuse("job {} is {} at {} s, but it {}", number(id), event, to_text(*now_),
           submitted_.contains(id) ? "has ended" : "was never submitted");
  return *job;
}

// Adds what the job is now to the load.
void Follower::join(JobState& job) {
  switch (job.phase) {
    case Phase::kWaiting:
      ++load_.queued;
      load_.waiting_processors += job.requested;
      break;
    case Phase::kRunning:
      ++load_.running;
      load_.processes += job.processes();
      load_.busy_cores += take_cores(job);
      job.on_cores_from = *now_;
      break;
    case Phase::kSuspended: ++load_.suspended; break;
  }
}

void Follower::part(JobState& job) {
  switch (job.phase) {
    case Phase::kWaiting:
      --load_.queued;
      load_.waiting_processors -= job.requested;
      break;
    case Phase::kRunning:
      --load_.running;
      load_.processes -= job.processes();
      load_.busy_cores -= give_cores(job);
      job.core_seconds += seconds(*now_ - job.on_cores_from) * number(job.held.cores);
      break;
    case Phase::kSuspended: --load_.suspended; break;
  }
}

void Follower::expect_cores(const JobState& job, const Allocation& allocation) const {
  const CoreCount size = machine_->size();
  if (allocation.cores > size)
    refuse("job {} has {} cores, the machine has {}", number(job.id), allocation.cores, size);
  for (const CoreLoad& load : allocation.named)
    if (!machine_->cores().contains(load.core))
      refuse("job {} has core {}, the machine has {} cores", number(job.id), load.core, size);
}

bool Follower::is_closed(CoreId core) const {
  return !nodes_.empty() && nodes_[index_of(machine_->node_of(core))] != NodeState::kUp;
}

// Nothing comes to a core of a closed node, but what is there may stay.
void Follower::expect_open(const JobState& job, const Allocation& gets) const {
  if (nodes_.empty()) return;
  for (const CoreLoad& load : gets.named) {
    if (!machine_->cores().contains(load.core) || !is_closed(load.core)) continue;
    if (std::ranges::find(job.held.named, load.core, &CoreLoad::core) != job.held.named.end()) continue;
    const NodeId node = machine_->node_of(load.core);
    refuse("job {} comes to core {} at {} s, of node {}, which is {}", number(job.id), load.core, to_text(*now_),
           number(node), to_text(nodes_[index_of(node)]));
  }
}

// A core is busy from the first job on it to the last. Returns how many become busy.
CoreCount Follower::take_cores(const JobState& job) {
  const Allocation& held = job.held;
  expect_cores(job, held);
  if (held.named.empty() || on_core_.empty()) {
    const CoreCount free = machine_->size() - load_.busy_cores;
    if (held.cores > free)
      refuse("job {} gets {} cores at {} s; free: {}", number(job.id), held.cores, to_text(*now_), free);
    return held.cores;
  }
  CoreCount busy = 0;
  for (const CoreLoad& load : held.named) {
    std::uint8_t& jobs = on_core_[index_of(load.core)];
    if (jobs >= (held.shareable ? kMostSharers : 1))
      refuse("job {} comes to core {} at {} s, which {}", number(job.id), load.core, to_text(*now_),
             jobs == kAlone || !held.shareable ? "another job has" : "two jobs have");
    busy += jobs == 0 ? 1 : 0;
    if (jobs == 0 && is_closed(load.core)) --load_.absent_cores;
    jobs = held.shareable ? static_cast<std::uint8_t>(jobs + 1) : kAlone;
  }
  return busy;
}

CoreCount Follower::give_cores(const JobState& job) {
  const Allocation& held = job.held;
  if (held.named.empty() || on_core_.empty()) return held.cores;
  CoreCount idle = 0;
  for (const CoreLoad& load : held.named) {
    std::uint8_t& jobs = on_core_[index_of(load.core)];
    jobs = jobs == kAlone ? std::uint8_t{0} : static_cast<std::uint8_t>(jobs - 1);
    idle += jobs == 0 ? 1 : 0;
    if (jobs == 0 && is_closed(load.core)) ++load_.absent_cores;
  }
  return idle;
}

CoreCount stated_cores(const log::Header& header, const Machine& machine) {
  const std::string& text = header.value("stated-cores");
  if (text.empty()) return machine.size();
  const auto cores = parse_number<CoreCount>(text, 1, machine.size());
  if (!cores)
    refuse("header '#stated-cores': expected a count of cores from 1 to those of {}, found '{}'", machine.to_text(),
           clean_line(text));
  return *cores;
}

log::LogEnd follow(const std::filesystem::path& log, const Observers& observers) {
  Follower follower{observers};
  return log::read_text(log, follower);
}

}  // namespace replay::history
