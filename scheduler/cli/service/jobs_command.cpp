// `replay jobs`: the jobs of the service of this machine, as a table, one by one, or as a live view.

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/report/terminal/live_view.hpp"
#include "scheduler/service/client.hpp"

namespace replay::cli {
namespace {

struct JobsGiven {
  std::string service;
  std::vector<std::int64_t> ids;
  bool all = false;
  bool watch = false;
  bool plain = false;
  bool json = false;
};

service::UnixTime now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::vector<service::JobStatus> all_jobs(service::Client& client, bool ended) {
  std::vector<service::JobStatus> jobs;
  for (;;) {
    const std::int64_t after = jobs.empty() ? 0 : number(jobs.back().id);
    service::AllJobs some = client.get<service::AllJobs>(service::ListJobs{.ended = ended, .after = after});
    if (some.more && some.jobs.empty()) throw InputError("the service says that there are more jobs, and sends none");
    for (service::JobStatus& job : some.jobs) jobs.push_back(std::move(job));
    if (!some.more) return jobs;
  }
}

void print_list(const std::vector<service::JobStatus>& jobs) {
  fmt::print("[");
  for (std::size_t i = 0; i < jobs.size(); ++i) fmt::print("{}\n{}", i == 0 ? "" : ",", to_json_text(jobs[i]));
  fmt::print("\n]\n");
}

// Sends a request for each job; returns 1 if the service has refused one.
template <class Request>
int ask_for_each(service::Client& client, const std::vector<std::int64_t>& ids, const auto& take) {
  int status = 0;
  for (const std::int64_t id : ids) {
    const auto answer = client.ask<service::OneJob>(Request{JobId{id}});
    if (const auto* const refused = std::get_if<service::Refused>(&answer)) {
      fmt::print(stderr, "replay: {}\n", refused->error);
      status = 1;
    } else {
      take(std::get<service::OneJob>(answer).job);
    }
  }
  return status;
}

int show_chosen(service::Client& client, const JobsGiven& given) {
  std::vector<service::JobStatus> jobs;
  const int status = ask_for_each<service::ShowJob>(client, given.ids,
                                                    [&jobs](const service::JobStatus& job) { jobs.push_back(job); });
  if (given.json)
    print_list(jobs);
  else
    for (const service::JobStatus& job : jobs) fmt::print("{}", job_text(job, now()));
  return status;
}

// ---- the live view ----

constexpr int kTick = 100;  // ms

// The time of a run, by the wall clock and the log's header; by its records where the header does not say.
Instant now_of(const history::Follower& run) {
  const Instant last = run.now().value_or(Instant{});
  const auto zero = parse_number<double>(run.of_run().value("unix-start-time"));  // of the run, unix time
  if (!zero) return last;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::max(last, Instant{std::chrono::duration_cast<Duration>(wall) - from_seconds(*zero)});
}

report::LiveViewOptions viewing(const service::ServiceStatus& service, bool& is_leaving) {
  report::LiveViewOptions options;
  if (service.page) options.address = "live page: " + *service.page;
  options.quit = [&is_leaving] { is_leaving = true; };
  options.is_watching = true;
  return options;
}

void wait_for_news(const service::Client& client) {
  std::array<pollfd, 2> news{{{client.descriptor(), POLLIN, 0}, {stop_descriptor(), POLLIN, 0}}};
  static_cast<void>(::poll(news.data(), news.size(), kTick));
}

// The live view of a service, in a process of its own: until the user leaves (key q, a stop signal) or the service has gone. It
// reads the event log of the service's run as that grows, and asks the service for nothing but where the log is.
int watch_service(const service::ServiceFolder& folder, bool plain) {
  service::Client client{folder};
  const service::ServiceStatus service = client.get<service::Service>(service::ShowService{}).service;
  const HeedStops heeding;  // the terminal is given back first
  bool is_leaving = false, has_gone = false;
  history::Follower run;
  report::LiveView view{stdout, plain ? report::LiveView::Mode::kPlain : report::LiveView::Mode::kAuto, std::nullopt,
                        viewing(service, is_leaving)};
  log::Tee sinks{{&run, &view}};
  log::TextFollower log{std::filesystem::path{service.run_folder} / "events.log", sinks};
  while (!is_leaving && stops_asked() == 0) {
    has_gone = client.has_service_gone();  // before the log is read: then it is read to its end
    while (log.read() && stops_asked() == 0) view.draw(now_of(run));
    view.draw(now_of(run));
    if (has_gone) break;
    wait_for_news(client);
  }
  view.finish();
  if (has_gone) fmt::print("the service at {} has ended\n", folder.path().string());
  return stops_asked() > 0 ? exit_status_after_stop() : 0;
}

// ---- all of it ----

int show(const JobsGiven& given) {
  const service::ServiceFolder folder{given.service};
  if (given.watch) {
    if (given.all || given.json || !given.ids.empty())
      throw UsageError("jobs --watch shows all jobs as they come and go: expected no job, and no --all or --json");
    return watch_service(folder, given.plain);
  }
  if (given.plain) throw UsageError("jobs --plain: is for --watch");
  service::Client client{folder};
  if (!given.ids.empty()) return show_chosen(client, given);
  const std::vector<service::JobStatus> jobs = all_jobs(client, given.all);
  if (given.json)
    print_list(jobs);
  else if (jobs.empty())
    fmt::print("{}\n", given.all ? "no job was submitted yet" : "no job waits or runs; --all lists those that ended");
  else
    fmt::print("{}", jobs_table(jobs, now()));
  return 0;
}

int cancel(const std::string& folder, const std::vector<std::int64_t>& ids) {
  service::Client client{service::ServiceFolder{folder}};
  return ask_for_each<service::CancelJob>(client, ids, [](const service::JobStatus& job) {
    fmt::print("job {}: {}\n", number(job.id),
               job.state == service::JobState::kWaiting ? "does not wait any more" : "is being ended");
  });
}

CLI::Option* add_ids(CLI::App& command, std::vector<std::int64_t>& ids) {
  const auto read = [&ids](const std::vector<std::string>& words) {
    for (const std::string& word : words)
      ids.push_back(number_of("JOB", word, std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  };
  return command.add_option_function<std::vector<std::string>>("JOB", read, "numbers of jobs")->type_name("NUMBER");
}

}  // namespace

Command add_jobs(CLI::App& app) {
  CLI::App& command =
      add_command(app, "jobs", "the jobs of the service: a table, some of them, or a live view",
                  "Without numbers: the jobs that wait and run. With numbers: all that is known of these jobs.\n"
                  "Examples: replay jobs\n"
                  "          replay jobs 17 18\n"
                  "          replay jobs --watch");
  auto given = std::make_shared<JobsGiven>();
  add_service_option(command, given->service);
  add_ids(command, given->ids);
  command.add_flag("--all", given->all, "those that have ended, too");
  command.add_flag("--watch", given->watch, "a live view of cores, queue and jobs; it ends with the service, or by q");
  command.add_flag("--plain", given->plain, "with --watch: a line for each event, on a terminal too");
  command.add_flag("--json", given->json, "print as JSON");
  return [given] { return show(*given); };
}

Command add_cancel(CLI::App& app) {
  CLI::App& command = add_command(app, "cancel", "take jobs out of the queue of the service, or end them if they run",
                                  "Example: replay cancel 17 18");
  struct Given {
    std::string service;
    std::vector<std::int64_t> ids;
  };
  auto given = std::make_shared<Given>();
  add_service_option(command, given->service);
  add_ids(command, given->ids)->required();
  return [given] { return cancel(given->service, given->ids); };
}

}  // namespace replay::cli
