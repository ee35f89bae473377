#include "scheduler/cli/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "scheduler/cli/calibrated_scenario.hpp"
#include "scheduler/cli/outputs.hpp"
#include "scheduler/model/error.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Recorder::Recorder(fs::path folder, const std::string& outputs, std::string command_line, const char* body,
                   const NamedPolicy& policy, const Scenario& scenario, const CommonOptions& options,
                   const std::string& machine, double time_scale)
    : folder_(std::move(folder)),
      outputs_(parse_outputs(outputs)),
      command_line_(std::move(command_line)),
      started_(now_text()),
      scenario_(scenario),
      options_(options),
      policy_(policy.text),
      time_scale_(time_scale),
      rows_(*this),
      series_({.keep_points = !folder_.empty() && outputs_.contains("series")}) {
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
    events_ = std::make_unique<log::TextWriter>(folder_ / "events.log");
    sinks_.push_back(events_.get());
  }
  if (wants("jobs")) sinks_.push_back(&names_);  // before the rows: a job's cores are known when its row is complete
  sinks_.push_back(&rows_);
  sinks_.push_back(&series_);
}

void Recorder::begin() {
  const std::size_t jobs = scenario_.workload().jobs.size();
  sums_.expect(jobs);
  tee_ = std::make_unique<log::Tee>(sinks_);
  tee_->header(header_);
  if (wants("jobs")) jobs_csv_.emplace(folder_ / "jobs.csv", header_, sums_.options().bound);
  if (wants("swf")) schedule_.emplace(folder_ / "schedule.swf", header_, series_.cores(), jobs);
  if (wants("run")) write_run_json(nullptr);  // an aborted run says what it was, too
}

void Recorder::flush() {
  if (events_) events_->flush();
}

void Recorder::row(const metrics::JobRow& row, const metrics::RowTexts& texts) {
  sums_.add(row);
  const bool wrong = row.verification == Verification::kFailed || row.outcome == Outcome::kFailed;
  run_.failed += row.has_ended() && wrong ? 1u : 0u;
  run_.verified += row.verification == Verification::kPassed ? 1u : 0u;
  if (!texts.rigid_reason.empty()) ++run_.rigid[std::string{texts.rigid_reason}];
  if (schedule_) schedule_->put(row);
  if (!jobs_csv_) return;
  jobs_csv_->put(row, texts.reason, names_.used(row.job));
  names_.forget(row.job);
}

PolicyRun Recorder::finish() {
  if (events_) events_->close();
  rows_.hand_over_rest();
  run_.policy = policy_;
  run_.machine = header_.value("machine");
  run_.folder = folder_;
  run_.summary = metrics::summarise(sums_, series_);
  return std::move(run_);
}

void Recorder::write(const PolicyRun& run) {
  if (jobs_csv_) jobs_csv_->close();
  if (schedule_) schedule_->close();
  if (wants("metrics")) write_metrics_json(folder_ / "metrics.json", header_, sums_, series_, run.summary);
  if (wants("series")) write_series_csv(folder_ / "series.csv", series_);
  if (wants("run")) write_run_json(&run);
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
    if (const auto side_file = side_file_of(options_)) inputs_.push_back(input_file(*side_file));
    if (scenario_.profile) inputs_.push_back(input_file(profile_path(options_)));
    for (const std::string& file : policy_files_) inputs_.push_back(input_file(file));
  }
  info.inputs = inputs_;
  info.started = started_;
  info.notes = scenario_.notes;
  for (const std::string& line : scenario_.loaded.report.to_lines()) info.notes.push_back(line);
  if (run != nullptr) {
    info.ended = now_text();
    info.interrupted = run->interrupted;
    info.lost = run->lost;
    info.fault = run->fault;
    info.disturbed = run->disturbed;
    info.load_before = run->load_before;
    info.load_after = run->load_after;
  }
  write_json(folder_ / "run.json", to_json(info));
}

}  // namespace replay::cli
