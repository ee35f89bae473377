// `replay jobs`: the jobs of the service of this machine, as a table, one by one, or as a live view.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/cli/service/watch_service.hpp"
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
  auto* command = app.add_subcommand("jobs", "the jobs of the service: a table, some of them, or a live view");
  command->footer(
      "Without numbers: the jobs that wait and run. With numbers: all that is known of these jobs.\n"
      "Examples: replay jobs\n"
      "          replay jobs 17 18\n"
      "          replay jobs --watch");
  auto given = std::make_shared<JobsGiven>();
  add_service_option(*command, given->service);
  add_ids(*command, given->ids);
  command->add_flag("--all", given->all, "those that have ended, too");
  command->add_flag("--watch", given->watch, "a live view of cores, queue and jobs; it ends with the service, or by q");
  command->add_flag("--plain", given->plain, "with --watch: a line for each event, on a terminal too");
  command->add_flag("--json", given->json, "print as JSON");
  return [given] { return show(*given); };
}

Command add_cancel(CLI::App& app) {
  auto* command = app.add_subcommand("cancel", "take jobs out of the queue of the service, or end them if they run");
  command->footer("Example: replay cancel 17 18");
  struct Given {
    std::string service;
    std::vector<std::int64_t> ids;
  };
  auto given = std::make_shared<Given>();
  add_service_option(*command, given->service);
  add_ids(*command, given->ids)->required();
  return [given] { return cancel(given->service, given->ids); };
}

}  // namespace replay::cli
