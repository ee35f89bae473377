// `replay serve`: the scheduler as a service. Takes jobs of its user at a socket and starts them on the machine's cores,
// under one policy, until a stop signal. What a run of a trace is made of (engine, agent, recorder, live view, live page)
// serves here too; scheduler/service brings the jobs.

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/cli/run_viewers.hpp"
#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/experiment/live_run.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/report/live/live_page.hpp"
#include "scheduler/report/live/live_page_address.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/recorder.hpp"
#include "scheduler/service/board.hpp"
#include "scheduler/service/busy_door.hpp"
#include "scheduler/service/door.hpp"
#include "scheduler/service/intake.hpp"
#include "scheduler/service/journal.hpp"
#include "scheduler/service/past_period.hpp"
#include "scheduler/service/service_folder.hpp"
#include "scheduler/service/service_lock.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kPatience{15};  // an agent ends its jobs within some 2 s of its daemon's death
constexpr std::chrono::milliseconds kBusyAfter{500};
constexpr const char* kStopReason = "the service was stopped: the job stays in its journal";

constexpr DurationRange kTimeLimit{.least = service::kShortestLimit,
                                   .most = service::kLongestLimit,
                                   .expected = "a duration from 1s to 3650d, such as 30min",
                                   .needs_unit = true};

struct ServeOptions {
  std::string folder;
  experiment::RunSpec run;
  Duration default_limit = std::chrono::hours{1};
  std::optional<std::uint16_t> live_page;  // its port, 0: any
  bool plain = false;
};

service::UnixTime unix_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

// Jobs need their user's files, and the agent shares the service's lock.
const experiment::RunSpec& on_machine_here(const experiment::RunSpec& run) {
  if (run.machine.starts_with("agent:"))
    throw UsageError(
        fmt::format("--machine {}: a service runs its jobs on its own machine: expected local, "
                    "local:CORES or emulated:NODESxPACKAGESxCORES",
                    run.machine));
  return run;
}

// DIR/runs/UTC-START, with a number behind it if there is one.
fs::path make_period_folder(const service::ServiceFolder& folder, service::UnixTime now) {
  const std::string stem = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  std::error_code error;
  fs::create_directories(folder.runs(), error);
  fs::path made = folder.runs() / stem;
  for (int again = 2; !error && !fs::create_directory(made, error); ++again)
    made = folder.runs() / fmt::format("{}-{}", stem, again);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", made.string(), error.message()));
  return made;
}

// One period of the service, from its start to its stop.
class Period {
 public:
  Period(const ServeOptions& options, std::string command_line)
      : options_(options),
        command_line_(std::move(command_line)),
        folder_(options.folder),
        machine_(on_machine_here(options.run)),
        run_(experiment::prepare_open(options.run, machine_.machine())) {
    machine_.find_programs();
  }

  int serve() {
    service::make_private_folder(folder_.path());
    const HeedStops heeding{HeedStops::Ignored::kStaysIgnored};
    const service::ServiceLock lock{folder_.lock(), kPatience, [] {
                                      fmt::print("waiting for the node agent of the last service to end\n");
                                      std::fflush(stdout);
                                    }};
    if (options_.live_page) page_ = std::make_unique<report::LivePage>(*options_.live_page, "live: service");
    machine_.leave_the_jobs_cores();
    machine_.lend_to_agent(lock.descriptor());
    // Before the journal and the loop: the agent is forked.
    auto executor = machine_.start();
    const auto now = std::chrono::floor<std::chrono::seconds>(unix_now());
    folder_.expect_journal();
    service::Journal journal{folder_.journal(), now};
    const Instant here = journal.instant_of(unix_now());
    const Instant begin = std::max(here, journal.latest());
    const service::PastPeriod past = service::read_past_period(folder_);
    note_past(past, journal.last_job(), begin - here);
    journal.use_no_number_up_to(past.last_job);
    const service::Recovered recovered = journal.recover(begin, past.left);
    const UniqueFd socket = service::listen_at(folder_.socket());
    const fs::path run_folder = make_period_folder(folder_, now);
    service::Board board;
    service::Intake intake{journal, board, folder_, socket.get(), begin, intake_options(run_folder)};
    announce(run_folder, recovered, intake);
    lock_ = &lock;
    return run(std::move(executor), journal, board, intake, socket.get(), run_folder);
  }

 private:
  service::IntakeOptions intake_options(const fs::path& run_folder) {
    service::IntakeOptions intake;
    intake.cores = machine_.machine().size();
    intake.default_limit = options_.default_limit;
    intake.status.pid = ::getpid();
    intake.status.version = REPLAY_VERSION;
    intake.status.machine = machine_.text();
    intake.status.cores = intake.cores;
    intake.status.policy = run_.policy.text;
    intake.status.run_folder = run_folder.string();
    if (page_) intake.status.page = page_->url();
    intake.status.started = unix_now();
    intake.save_log = [this] {
      if (save_log_) save_log_();
    };
    return intake;
  }

  // What the journal should have and has not, and a clock that has gone back.
  void note_past(const service::PastPeriod& past, std::int64_t last_job, Duration behind) {
    if (past.last_job > last_job)
      notes_.push_back(fmt::format(
          "{}: the last job is {}, expected {}, which {} or the last event log has: the file is older than they are, "
          "or "
          "was copied without its -wal; what is missing is not brought back, and its numbers are not used again",
          folder_.journal().string(), last_job, past.last_job, folder_.jobs().string()));
    if (!past.unreadable_log.empty())
      notes_.push_back(fmt::format("the ends of the last service's jobs cannot be read back: {}", past.unreadable_log));
    if (behind > std::chrono::seconds{1})
      notes_.push_back(fmt::format(
          "the clock is {} behind the last entry of {}: times go on from that entry; expected a clock that is right",
          results::length_text(behind), folder_.journal().string()));
  }

  void announce(const fs::path& run_folder, const service::Recovered& recovered, const service::Intake& intake) {
    fmt::print("service at {}, process {}\n", folder_.path().string(), ::getpid());
    fmt::print("{}, policy {}\n", machine_.description(), run_.policy.text);
    for (const std::string& note : machine_.notes()) fmt::print("note: {}\n", clean_lines(note));
    if (page_) address_.emplace(stdout, page_->url(), folder_.page());
    fmt::print("results in {}\n", run_folder.string());
    for (const std::string& note : notes_) fmt::print(stderr, "replay: {}\n", clean_lines(note));
    if (recovered.read_back > 0)
      fmt::print("{} of the last service whose ends only its event log had\n", counted(recovered.read_back, "job"));
    if (recovered.failed > 0)
      fmt::print("{} ran when the last service ended, and {} recorded as failed\n", counted(recovered.failed, "job"),
                 recovered.failed == 1 ? "is" : "are");
    if (recovered.damaged > 0)
      fmt::print("{} in the journal, recorded as failed\n",
                 counted(recovered.damaged, "job has a damaged row", "jobs have damaged rows"));
    if (recovered.requeued > 0)
      fmt::print("{} ran when the last service ended, and {} again\n", counted(recovered.requeued, "job"),
                 recovered.requeued == 1 ? "waits" : "wait");
    if (intake.waiting() > 0) fmt::print("{} in the journal\n", counted(intake.waiting(), "waiting job"));
    if (intake.held_back() > 0)
      fmt::print("{} in the journal until the machine has enough cores\n",
                 counted(intake.held_back(), "job stays", "jobs stay"));
    std::fflush(stdout);
  }

  results::RunDescription description(const service::Journal& journal) const {
    results::RunDescription description;
    description.command_line = command_line_;
    description.words = to_words(options_.run);
    describe_machine(description, machine_, options_.run);
    description.policy = run_.policy.text;
    description.policy_full = run_.policy.full_text;
    description.runtime_model = options_.run.runtime_model;
    description.overrun = option_text(options_.run, "--overrun");
    description.notes = machine_.notes();
    description.unix_zero_s = std::chrono::floor<std::chrono::seconds>(journal.zero()).time_since_epoch().count();
    description.trace = "service";
    description.has_trace_file = false;
    description.policy_files = run_.policy.files;
    return description;
  }

  int run(std::unique_ptr<live::Executor> executor, const service::Journal& journal, service::Board& board,
          service::Intake& intake, int socket, const fs::path& run_folder) {
    results::Recorder recorder{run_folder, description(journal)};
    live::RunOptions engine;
    engine.overrun = options_.run.overrun;
    engine.pairing = options_.run.pairing;
    engine.stop_reason = kStopReason;
    engine.order = [&](const TracedJob& traced, ProcessCount) { return intake.order(traced); };
    save_log_ = [&recorder] { recorder.save(); };
    service::BusyDoor busy{socket, kBusyAfter};
    RunViewers watching{stdout, options_.plain, std::nullopt, page_.get(), run_folder};
    experiment::Viewers viewers = watching.viewers();
    viewers.sinks.insert(viewers.sinks.begin(), &board);
    viewers.tick = [&, show = viewers.tick](Instant now) {
      busy.beat();
      tell_of_lost_lock(recorder.sink(), now);
      show(now);
    };
    viewers.over = [this] {
      lock_->remove_beside(folder_.socket().filename());
      address_.reset();
      save_log_ = nullptr;
    };
    experiment::LiveBody body{machine_.machine(), std::move(executor), intake, std::move(engine), false};
    const results::PolicyRun done = experiment::run(body, *run_.policy.policy, *run_.model, recorder, viewers);
    if (page_)
      page_->finish(fmt::format("the service has ended; `replay report {}` makes a page of this period that stays",
                                run_folder.string()));
    return tell_end(body.is_abandoned(), done, intake, journal);
  }

  void tell_of_lost_lock(log::Sink& log, Instant now) {
    if (!lock_->is_gone() || std::exchange(is_lock_lost_, true)) return;
    const std::string lost =
        fmt::format("{} was removed or replaced; no other service starts here meanwhile", folder_.lock().string());
    fmt::print(stderr, "replay: {}\n", clean_line(lost));
    log.record({now, log::Note{lost}});
  }

  // An ordered stop is no failure of a service, and neither is a job's.
  static int tell_end(bool is_abandoned, const results::PolicyRun& done, const service::Intake& intake,
                      const service::Journal& journal) {
    const std::size_t waiting = journal.waiting().size();
    fmt::print("the service has ended; {} in its journal\n", counted(waiting, "job waits", "jobs wait"));
    bool has_failed = false;
    const auto tell = [&has_failed](const char* what, const std::string& why) {
      if (why.empty()) return;
      has_failed = true;
      fmt::print(stderr, "replay: {}: {}\n", what, clean_lines(why));
    };
    tell("the service ended early", done.lost);
    tell("the service ended early", done.fault);
    tell("no further job was started", done.broken_off);
    tell("the ends of some jobs are missing", intake.fault());
    for (const std::string& what : done.unwritten) tell("not written", what);
    if (is_abandoned) fmt::print(stderr, "replay: the ends of some jobs were not waited for\n");
    if (is_abandoned) return exit_status_after_stop();
    return has_failed ? 1 : 0;
  }

  const ServeOptions& options_;
  std::string command_line_;
  service::ServiceFolder folder_;
  experiment::RealMachine machine_;
  experiment::OpenRun run_;
  std::unique_ptr<report::LivePage> page_;          // null: none
  std::optional<report::LivePageAddress> address_;  // its
  const service::ServiceLock* lock_ = nullptr;
  bool is_lock_lost_ = false;
  std::function<void()> save_log_;  // while there is one
  std::vector<std::string> notes_;  // on the start
};

}  // namespace

Command add_serve(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve = app.add_subcommand("serve", "take jobs of users and run them on this machine, under one policy");
  serve->footer(
      "Example:\n"
      "  replay serve --policy easy --machine local:0-3        until Ctrl-C; then in another terminal:\n"
      "  replay submit -n 4 --time 10min -- ./a.out");
  add_service_option(*serve, options->folder);
  experiment::RunSpec& run = options->run;
  run.world = experiment::World::kService;
  run.policies = {"fcfs-malleable"};
  run.runtime_model = "isolated";
  add_options_of_run(*serve, run, {"--policy", "--machine"});
  add_node_options(*serve, run);
  add_options_of_run(*serve, run, {"--runtime-model", "--overrun", "--pairing"});
  serve->get_option("--policy")
      ->description("the policy; parameters as name:key=value (`replay policies`)")
      ->type_name("TEXT");
  serve->get_option("--machine")
      ->description(
          "where jobs run: local, local:CORES by OS index, such as local:0-3, or virtual cores: "
          "emulated:NODESxPACKAGESxCORES (default local)");
  serve->get_option("--runtime-model")
      ->description("how fast a shrunk job is expected to run (`replay models` lists them)");
  serve->get_option("--overrun")
      ->description("what happens to a job at its time limit: kill it, extend the limit by 10 %, or as the policy says")
      ->default_str("");
  serve->get_option("--pairing")->default_str("");
  add_duration(*serve, "--default-time", options->default_limit, kTimeLimit,
               "time limit of jobs that are submitted without one (default 1h)")
      ->type_name("T");
  add_live_page_option(*serve, options->live_page);
  serve->add_flag("--plain", options->plain, "plain lines instead of the live view, on a terminal too");
  return [options, command_line] { return Period{*options, command_line}.serve(); };
}

}  // namespace replay::cli
