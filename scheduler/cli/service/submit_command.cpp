// `replay submit PROGRAM ARGS...`: hands a job to the service of this machine. The program is looked for here, where the user's
// PATH and folder are, and the job gets this environment.

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <string_view>

#include "launcher/agent/agent.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/service/client.hpp"

extern char** environ;

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct SubmitGiven {
  std::string service;
  service::JobRequest job;
  std::string directory;
  Duration time_limit{};  // 0: not given
  bool wait = false;
  bool json = false;
};

fs::path directory_of(const std::string& given) {
  std::error_code error;
  const fs::path directory =
      fs::absolute(given.empty() ? fs::current_path(error) : fs::path{given}, error).lexically_normal();
  if (error || !fs::is_directory(directory, error))
    throw UsageError(fmt::format("--directory: expected a folder, found '{}'", given.empty() ? "." : given));
  if (const auto no_folder = why_cannot_start_in(directory))
    throw UsageError(fmt::format("--directory: {}", no_folder->why));
  return directory;
}

// A benchmark of ours, else as execvp() in `directory` would find it.
std::string program_of(const std::string& name, const fs::path& directory) {
  if (const auto own = benchmark(name)) return own->string();
  const fs::path path{name};
  const bool is_path = name.find('/') != std::string::npos;
  const auto found = find_program(is_path ? (path.is_absolute() ? path : directory / path).string() : name);
  if (found) return fs::absolute(*found).lexically_normal().string();
  if (const auto data = data_instead_of_program((directory / path).string()))
    throw InputError(fmt::format("{}: {}", visible_text(name), *data));
  throw InputError(fmt::format("{}: expected a program{}, found none that can be executed", visible_text(name),
                               is_path ? "" : ", one of `replay benchmarks` or on the PATH"));
}

// Variables with bytes that JSON cannot carry are dropped, with a note.
std::vector<std::string> environment_here() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    if (!service::is_utf8(text)) {
      fmt::print(stderr, "replay: note: {} is not UTF-8 and left out of the job's environment\n",
                 visible_text(text.substr(0, equals)));
      continue;
    }
    environment.emplace_back(text);
  }
  return environment;
}

int exit_status_of(const service::JobStatus& job) { return job.outcome == Outcome::kCompleted ? 0 : 1; }

int submit(SubmitGiven& given) {
  service::JobRequest& job = given.job;
  const fs::path directory = directory_of(given.directory);
  if (job.name.empty()) job.name = clean_line(fs::path{job.command.front()}.filename().string(), service::kLongestName);
  job.command.front() = program_of(job.command.front(), directory);
  job.directory = directory.string();
  if (given.time_limit > Duration::zero()) job.time_limit = given.time_limit;
  job.environment = environment_here();
  if (const auto note = launcher::threads_note()) fmt::print(stderr, "replay: note: {}\n", *note);

  service::Client client{service::ServiceFolder{given.service}};
  const JobId id = client.get<service::Submitted>(service::Submit{job}).job;
  if (!given.wait) {
    const std::string told =
        given.json ? fmt::format("{{\"job\": {}}}\n", number(id)) : fmt::format("{}\n", number(id));
    // The write itself is reported by main().
    if (std::fputs(told.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
      fmt::print(stderr, "replay: job {} has been submitted; its number could not be written\n", number(id));
    return 0;
  }
  fmt::print(stderr, "job {}; Ctrl-C leaves it to the service\n", number(id));
  const service::JobStatus ended = client.get<service::OneJob>(service::WaitForJob{id}).job;
  if (given.json)
    fmt::print("{}\n", to_json_text(ended));
  else
    fmt::print("{}", job_text(ended, ended.ended.value_or(ended.submitted)));
  return exit_status_of(ended);
}

}  // namespace

Command add_submit(CLI::App& app) {
  CLI::App& command = add_command(
      app, "submit", "a job for the service: `submit PROGRAM ARGS...`",
      "The rest of the line is the program and its arguments: replay submit [OPTIONS] PROGRAM [ARGS...]\n"
      "PROGRAM is one of `replay benchmarks`, a path, or on the PATH. It runs in this folder with this environment; "
      "its\n"
      "number is printed, and `replay jobs NUMBER` says where its output is.\n\n"
      "Examples:\n"
      "  replay submit -n 4 --time 10min ./my_program input.dat\n"
      "  replay submit -n 2 --time 1min --wait cg --class W");
  command.prefix_command();
  auto given = std::make_shared<SubmitGiven>();
  add_service_option(command, given->service);
  add_count(command, "-n", given->job.processes, 1, std::numeric_limits<ProcessCount>::max(),
            "processes: a core for each, as long as it is not shrunk")
      ->type_name("PROCESSES");
  add_duration(command, "--time", "T", given->time_limit, kTimeLimit,
               "limit of its time on as many cores as processes; then it is ended (default: the service's)");
  add_text(command, "--name", given->job.name, "NAME", "for people (default: that of the program)");
  command.add_flag("--rigid", given->job.is_rigid, "never shrink it");
  command.add_flag("--requeue", given->job.requeue, "queue it again if the service ends while it runs");
  add_count(command, "--queue", given->job.queue, 0, std::numeric_limits<std::int32_t>::max(),
            "number of the queue, for policies that know queues")
      ->type_name("NUMBER");
  add_text(command, "--directory", given->directory, "DIR", "where it runs (default: here)");
  command.add_flag("--wait", given->wait, "wait for its end; exit status 0 if it has completed, else 1");
  command.add_flag("--json", given->json, "print as JSON");
  return [given, &command] {
    given->job.command = command_words(command);
    return submit(*given);
  };
}

}  // namespace replay::cli
