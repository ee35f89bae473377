#include "scheduler/results/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "scheduler/base/error.hpp"
#include "scheduler/experiment/calibrated_scenario.hpp"
#include "scheduler/results/outputs.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Recorder::Recorder(fs::path folder, const std::string& outputs, std::string command_line, const char* body,
                   const NamedPolicy& policy, const experiment::Scenario& scenario,
                   const experiment::CommonOptions& options, const std::string& machine, double time_scale)
    : folder_(std::move(folder)),
      outputs_(parse_outputs(outputs)),
      command_line_(std::move(command_line)),
      started_(now_text()),
      scenario_(scenario),
      options_(options),
      policy_(policy.text),
      time_scale_(time_scale),
      files_(folder_, outputs_) {
  policy_files_ = policy.files;
  header_.set("body", body);
  header_.set("machine", machine);
  header_.set("policy", policy.full_text);
  header_.set("runtime-model", scenario.runtime_model);
  header_.set("trace", options.trace);
  header_.set("seed", fmt::format("{}", options.seed));
  header_.set("time-scale", fmt::format("{}", time_scale));
  header_.set("overrun", options.overrun);
  if (!folder_.empty()) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder_.string(), error.message()));
  }
  if (wants("events")) {
    events_.emplace(folder_ / "events.log");
    sinks_.push_back(&*events_);
  }
  const std::vector<log::Sink*> of_files = files_.sinks();
  sinks_.insert(sinks_.end(), of_files.begin(), of_files.end());
}

void Recorder::begin() {
  const std::size_t jobs = scenario_.workload().jobs.size();
  tee_ = std::make_unique<log::Tee>(sinks_);
  tee_->header(header_);
  files_.begin(header_, jobs);
  if (wants("run")) write_run_json(nullptr);  // so that an aborted run has a run.json, too
}

void Recorder::flush() {
  if (events_) events_->flush();
}

PolicyRun Recorder::finish() {
  if (events_) events_->close();
  PolicyRun run = files_.finish();
  run.policy = policy_;
  if (events_) run.unwritten.insert(run.unwritten.begin(), events_->unwritten().begin(), events_->unwritten().end());
  return run;
}

void Recorder::write(PolicyRun& run) {
  files_.write(run);
  if (wants("run")) (void)write_or_note(run.unwritten, [&] { write_run_json(&run); });
}

void Recorder::write_run_json(const PolicyRun* run) {
  RunInfo info;
  info.command = command_line_;
  std::error_code no_folder;
  info.working_folder = fs::current_path(no_folder).string();
  info.versions = {{"replay", REPLAY_VERSION}, {"compiler", __VERSION__}};
  utsname host{};
  if (::uname(&host) == 0) info.versions.emplace_back("kernel", fmt::format("{} {}", host.sysname, host.release));
  info.body = header_.value("body");
  info.machine = header_.value("machine");
  info.policy = policy_;
  info.parameters = parse_policy(header_.value("policy")).given;
  info.runtime_model = scenario_.runtime_model;
  info.seed = options_.seed;
  info.time_scale = time_scale_;
  info.settings = settings_;
  if (inputs_.empty()) {
    if (options_.trace != "-") inputs_.push_back(input_file(options_.trace));
    if (const auto side_file = experiment::side_file_of(options_)) inputs_.push_back(input_file(*side_file));
    if (scenario_.profile) inputs_.push_back(input_file(experiment::profile_path(options_)));
    for (const std::string& file : policy_files_) inputs_.push_back(input_file(file));
  }
  info.inputs = inputs_;
  info.jobs = scenario_.workload().jobs.size();
  info.started = started_;
  info.notes = scenario_.notes;
  for (const std::string& line : scenario_.loaded.report.to_lines()) info.notes.push_back(line);
  if (run != nullptr) {
    info.ended = now_text();
    info.interrupted = run->interrupted;
    info.lost = run->lost;
    info.fault = run->fault;
    info.broken_off = run->broken_off;
    info.unwritten = run->unwritten;
    info.disturbed = run->disturbed;
    info.load_before = run->load_before;
    info.load_after = run->load_after;
  }
  write_json(folder_ / "run.json", to_json(info));
}

}  // namespace replay::results
