#include "scheduler/service/period.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/experiment/cluster.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/recorder.hpp"
#include "scheduler/service/door.hpp"

namespace replay::service {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kPatience{15};      // an agent ends its jobs within some 2 s of its daemon's death
constexpr std::chrono::seconds kJobsEndWithin{2};  // of agents elsewhere, after the lease
constexpr std::chrono::milliseconds kBusyAfter{500};
constexpr int kBetweenLooksMs = 50;
constexpr const char* kStopReason = "the service was stopped: the job stays in its journal";

UnixTime unix_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

// DIR/runs/UTC-START, with a number behind it if there is one.
fs::path make_period_folder(const ServiceFolder& folder, UnixTime now) {
  const std::string stem = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  std::error_code error;
  fs::create_directories(folder.runs(), error);
  fs::path made = folder.runs() / stem;
  for (int again = 2; !error && !fs::create_directory(made, error); ++again)
    made = folder.runs() / fmt::format("{}-{}", stem, again);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", made.string(), error.message()));
  return made;
}

// "job 4 is", "jobs 4-6 are".
std::string missing_jobs(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("job {} is", first) : fmt::format("jobs {}-{} are", first, last);
}

}  // namespace

Period::Period(PeriodOptions options, std::string command_line)
    : options_(std::move(options)),
      command_line_(std::move(command_line)),
      folder_(options_.folder),
      last_(last_period_if_left()),
      machine_(last_ ? experiment::RealMachine{options_.run, last_->run.agents}
                     : experiment::RealMachine{options_.run}),
      open_(experiment::prepare_open(options_.run, machine_.machine())) {
  if (open_.part) machine_.take(*open_.part);
  machine_.find_programs();
}

// A service whose start or run has failed leaves no socket.
Period::~Period() { remove_socket(); }

void Period::remove_socket() {
  if (std::exchange(has_socket_, false)) lock_->remove_beside(folder_.socket().filename());
}

bool Period::start(const OnWait& on_wait, const std::function<std::string()>& open_page) {
  make_private_folder(folder_.path());
  lock_.emplace(folder_.lock(), kPatience, [&] { on_wait(""); });
  std::string page = open_page();
  machine_.leave_the_jobs_cores();
  if (!last_ && !wait_for_agents_here(on_wait)) return false;
  if (machine_.is_here() && options_.run.keep_jobs)
    machine_.lend_to_agent(experiment::AgentsLock{folder_.agents_lock()});
  else if (machine_.is_here())
    machine_.lend_to_agent(lock_->descriptor());
  if (!last_) (void)machine_.check_nodes(folder_.path(), {});
  // Before the journal and the loop: the agent is forked.
  executor_ = machine_.start();
  const auto now = std::chrono::floor<std::chrono::seconds>(unix_now());
  folder_.expect_journal();
  journal_.emplace(folder_.journal(), now);
  const bool is_free = !last_ && wait_for_old_agents(on_wait);
  const Instant here = journal_->instant_of(unix_now());
  const Instant begin = goes_on() ? last_->run.begin : std::max(here, journal_->latest());
  Adoption adoption = is_adopting() ? adopt(begin) : Adoption{};
  PastPeriod past = read_past_period(folder_);
  past.last_job = std::max(past.last_job, journal_->last_number());
  note_past(past, journal_->last_job(), begin - here);
  journal_->use_no_number_up_to(past.last_job);
  if (is_adopting()) journal_->end({}, adoption.unstarted);
  if (is_free || is_adopting()) recovered_ = journal_->recover(begin, past.left, adoption.jobs);
  socket_ = listen_at(folder_.socket());
  has_socket_ = true;
  busy_.emplace(socket_.get(), kBusyAfter);
  run_folder_ = goes_on() ? last_->folder : make_period_folder(folder_, now);
  if (goes_on())
    kept_.emplace(run_folder_);
  else if (options_.run.keep_jobs)
    kept_.emplace(run_folder_, experiment::KeptRun::now(machine_.agents(), begin), std::move(adoption.before));
  intake_.emplace(*journal_, board_, folder_, socket_.get(), begin, intake_options(std::move(page)));
  intake_->adopt(adoption.jobs);
  return true;
}

Adoption Period::adopt(Instant now) {
  const std::string period = last_->folder.string();
  const std::string which =
      fmt::format("{}, which replay {} has started under {}", period, last_->version, last_->policy);
  const auto otherwise = [&](const std::string& why) {
    return InputError(fmt::format(
        "the jobs of {} cannot be adopted: {}; expected the service with the options of before, which goes on "
        "with them; when their lease is over, they are ended and this service can start",
        which, why));
  };
  try {
    if (open_.part) throw InputError(fmt::format("policy {} uses a part of the machine", open_.policy.text));
    Adoption adoption = adopt_jobs_of(last_->folder, *machine_.start(), machine_.machine(), *journal_, now);
    if (adoption.running > 0 && !open_.policy.policy->traits().adopts)
      throw InputError(fmt::format("policy {} goes on with no jobs that it has not started", open_.policy.text));
    const std::size_t ended = adoption.jobs.size() - adoption.running;
    std::string what;
    if (adoption.running > 0) what = "adopts " + counted(adoption.running, "job");
    if (ended > 0) add_item(what, " and ", "records the {} of {}", ended == 1 ? "end" : "ends", counted(ended, "job"));
    if (what.empty()) what = "adopts no job";
    adopts_ = fmt::format("{} of {}: {}", what, which, last_->why_not_again);
    return adoption;
  } catch (const std::exception& error) {  // what the agents have said may be in another protocol
    throw otherwise(error.what());
  }
}

// The last that has kept its jobs and has not ended, whatever was begun since then. Nothing: there is none. If results were made of
// it meanwhile, it has ended when its agents are gone.
std::optional<experiment::PastRun> Period::last_kept_period() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;  // by their last turns
  std::error_code error;
  for (const auto& run : fs::directory_iterator(folder_.runs(), error)) {
    const auto at = fs::last_write_time(run.path() / results::kTurnsFile, error);
    if (!error && fs::exists(run.path() / "run.json", error)) kept.emplace_back(at, run.path());
  }
  std::ranges::sort(kept, std::greater{});
  bool is_newest = true, is_of_another_service = false;
  for (const auto& [at, folder] : kept) {
    experiment::PastRun last = experiment::read_run(folder);
    if (last.was_over && !is_newest) continue;
    if (const auto others = experiment::agents_of_copy(folder)) {
      is_of_another_service = is_of_another_service || experiment::is_an_agent_there(*others);
      continue;
    }
    is_newest = false;
    if (!last.was_over || experiment::is_an_agent_there(experiment::read_kept_run(folder).agents)) return last;
  }
  if (is_of_another_service)
    throw InputError(fmt::format(
        "{}: is the copy of a service whose jobs go on, and would start those a second time that wait again: expected "
        "the first one, or that its jobs have ended",
        folder_.path().string()));
  return std::nullopt;
}

// Nothing: there is none, it was one on another machine, or its agents are gone.
std::optional<Period::LeftPeriod> Period::last_period_if_left() const {
  const auto last = options_.run.keep_jobs ? last_kept_period() : std::nullopt;
  if (!last) return std::nullopt;
  const experiment::RunSpec &was = last->spec, &is = options_.run;
  if (was.machine != is.machine || was.node != is.node) return std::nullopt;  // they are other agents' jobs
  try {
    LeftPeriod left{last->folder, experiment::read_kept_run(last->folder), last->version, option_text(was, "--policy"),
                    options_.why_not_again};
    if (left.why_not_again.empty() && was != is)
      left.why_not_again = was.policies == is.policies ? "its options were others: " + differences_text(was, is)
                                                       : "the policy now is " + option_text(is, "--policy");
    if (!experiment::is_an_agent_there(left.run.agents)) return std::nullopt;
    return left;
  } catch (const InputError& error) {
    throw InputError(fmt::format(
        "{}; when the lease of the jobs that it has left is over, the service starts without this file", error.what()));
  }
}

// Of machine and agents, and --keep-jobs: others are adopted under. Empty: they are the same, or there is no last period.
std::string Period::why_not_the_last_one() const {
  const auto last = last_kept_period();
  if (!last) return "";
  experiment::RunSpec was = options_.run;
  was.machine = last->spec.machine;
  was.node = last->spec.node;
  was.keep_jobs = last->spec.keep_jobs;
  return differences_text(was, options_.run);
}

// Whatever has become of the folder of their period. They end when their lease is over, and may be stopped as long as they like.
// False: a stop signal came before.
bool Period::wait_for_agents_here(const OnWait& on_wait) const {
  for (bool has_said = false; !experiment::is_free_of_agents(folder_.agents_lock());) {
    if (stops_asked() > 0) return false;
    if (!std::exchange(has_said, true)) on_wait(why_not_the_last_one());
    pollfd stop{stop_descriptor(), POLLIN, 0};
    (void)::poll(&stop, 1, kBetweenLooksMs);
  }
  return true;
}

// Agents elsewhere do not have a lock of the service. Those of a service that was killed end its jobs when the lease is
// over. False: a stop signal came before; what ran stays as it is in the journal, so that the next service waits, too.
bool Period::wait_for_old_agents(const OnWait& on_wait) const {
  const auto kept = last_kept_period();
  const bool was_here = kept && !experiment::is_elsewhere(kept->spec.machine);
  if (machine_.is_here() && (!kept || was_here)) return true;
  const std::vector<StoredJob> open = journal_->list(false, 0, std::numeric_limits<std::int32_t>::max());
  const bool some_ran = std::ranges::any_of(open, [](const StoredJob& job) { return job.started.has_value(); });
  if (!some_ran) return true;
  on_wait(why_not_the_last_one());
  const Duration lease = kept ? kept->spec.node.lease : options_.run.node.lease;
  const auto until = std::chrono::steady_clock::now() + lease + kJobsEndWithin;
  while (stops_asked() == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd stop{stop_descriptor(), POLLIN, 0};
    (void)::poll(&stop, 1, static_cast<int>(left.count()));
  }
  return false;
}

results::PolicyRun Period::run(experiment::Viewers viewers, const std::function<void(const std::string&)>& warn) {
  if (kept_) kept_->put_log_aside();
  results::Recorder recorder{run_folder_, description()};
  live::RunOptions engine;
  engine.leaves_jobs = options_.run.keep_jobs;
  engine.answers_stand = false;  // a program that decides otherwise adopts the jobs
  if (kept_)
    kept_->tell(engine, recorder, [this] {
      if (goes_on()) intake_->go_on();
      // From now on the next service finds them in this period.
      if (std::error_code error; is_adopting())
        fs::rename(last_->folder / results::kTurnsFile, last_->folder / results::kAdoptedTurns, error);
    });
  engine.adopts = adopts_;
  engine.overrun = options_.run.overrun;
  engine.machine_end = machine_.end();
  engine.pairing = options_.run.pairing;
  engine.stop_reason = kStopReason;
  engine.order = [this](const TracedJob& traced, ProcessCount) { return intake_->order(traced); };
  engine.order_again = [this](const TracedJob& traced) { return intake_->order_again(traced); };
  save_log_ = [&recorder] { recorder.save(); };
  bool is_lock_lost = false;
  viewers.observers.push_back(&board_);
  viewers.tick = [&, show = std::move(viewers.tick)](Instant now) {
    busy_->beat();
    if (lock_->is_gone() && !std::exchange(is_lock_lost, true)) {
      const std::string lost =
          fmt::format("{} was removed or replaced; no other service starts here meanwhile", folder_.lock().string());
      warn(lost);
      recorder.sink().record({now, log::Note{lost}});
    }
    show(now);
  };
  viewers.over = [this, over = std::move(viewers.over)] {
    remove_socket();
    save_log_ = nullptr;
    over();
  };
  experiment::LiveBody body{machine_.machine(), std::move(executor_), *intake_, std::move(engine), false};
  results::PolicyRun done = experiment::run(body, *open_.policy.policy, *open_.model, recorder, viewers);
  is_abandoned_ = body.is_abandoned();
  if (done.left) machine_.leave_agents();
  return done;
}

IntakeOptions Period::intake_options(std::string page) {
  IntakeOptions intake;
  intake.cores = machine_.machine().size();
  intake.default_limit = options_.default_limit;
  intake.status.pid = ::getpid();
  intake.status.version = REPLAY_VERSION;
  intake.status.machine = machine_.text();
  intake.status.cores = intake.cores;
  intake.status.policy = open_.policy.text;
  intake.status.run_folder = run_folder_.string();
  intake.status.page = std::move(page);
  intake.status.started = unix_now();
  intake.is_played_back = goes_on();
  intake.save_log = [this] {
    if (save_log_) save_log_();
  };
  return intake;
}

void Period::note_past(const PastPeriod& past, std::int64_t last_job, Duration behind) {
  if (past.last_job > last_job)
    notes_.push_back(fmt::format(
        "{}: {} missing, of which {}, {} or the last event log tells: the file is older than they are, or its -wal is "
        "missing or damaged; what is missing is not brought back, and its numbers are not used again",
        folder_.journal().string(), missing_jobs(last_job + 1, past.last_job), folder_.last_number().string(),
        folder_.jobs().string()));
  if (std::string rows = journal_->rows_of_no_job(); !rows.empty()) notes_.push_back(std::move(rows));
  if (!past.unreadable_log.empty())
    notes_.push_back(fmt::format("the ends of the last service's jobs cannot be read back: {}", past.unreadable_log));
  if (behind > std::chrono::seconds{1})
    notes_.push_back(fmt::format(
        "the clock is {} behind the last entry of {}: times go on from that entry; expected a clock that is right",
        length_text(behind), folder_.journal().string()));
}

results::RunDescription Period::description() const {
  results::RunDescription description;
  description.command_line = command_line_;
  description.words = to_words(options_.run);
  describe_machine(description, machine_, options_.run);
  description.may_requeue = !description.hosts.empty();  // those that were submitted so
  description.has_adopted = kept_ && kept_->has_adopted();
  description.policy = open_.policy.text;
  description.policy_full = open_.policy.full_text;
  description.runtime_model = options_.run.runtime_model;
  description.overrun = option_text(options_.run, "--overrun");
  description.notes = machine_.notes();
  if (!adopts_.empty()) description.notes.push_back(adopts_);
  description.unix_zero_s = std::chrono::floor<std::chrono::seconds>(journal_->zero()).time_since_epoch().count();
  description.trace = "service";
  description.has_trace_file = false;
  description.policy_files = open_.policy.files;
  return description;
}

}  // namespace replay::service
