#include "scheduler/results/recorder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_json.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::vector<InputFile> input_files(const RunDescription& description) {
  std::vector<InputFile> inputs;
  if (description.has_trace_file && description.trace != "-") inputs.push_back(input_file(description.trace));
  if (description.side_file) inputs.push_back(input_file(*description.side_file));
  if (description.nodes) inputs.push_back(input_file(*description.nodes));
  if (description.pairs) inputs.push_back(input_file(*description.pairs));
  if (description.profile) inputs.push_back(input_file(*description.profile));
  for (const std::string& file : description.policy_files) inputs.push_back(input_file(file));
  return inputs;
}

}  // namespace

Recorder::Recorder(fs::path folder, RunDescription description)
    : folder_(std::move(folder)),
      description_(std::move(description)),
      outputs_(parse_outputs(description_.outputs)),
      started_(now_text()),
      files_(folder_, outputs_),
      follower_(files_.observers()) {
  header_.set("body", description_.body);
  header_.set("machine", description_.machine);
  if (description_.stated_cores) header_.set("stated-cores", fmt::format("{}", *description_.stated_cores));
  if (!description_.hosts.empty()) header_.set("hosts", fmt::format("{}", fmt::join(description_.hosts, " ")));
  header_.set("policy", description_.policy_full);
  header_.set("runtime-model", description_.runtime_model);
  header_.set("trace", description_.trace);
  header_.set("seed", fmt::format("{}", description_.seed));
  header_.set("time-scale", fmt::format("{}", description_.time_scale));
  header_.set("overrun", description_.overrun);
  if (description_.may_requeue) header_.set("requeue-lost", "yes");
  if (description_.chooses_sizes) header_.set("chooses-sizes", "yes");
  if (description_.has_adopted) header_.set("adopts", "yes");
  if (description_.unix_zero_s) header_.set("unix-start-time", fmt::format("{}", *description_.unix_zero_s));
  if (!folder_.empty()) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder_.string(), error.message()));
  }
  if (wants("events")) {
    events_.emplace(folder_ / file_of("events"));
    sinks_.push_back(&*events_);
  }
  sinks_.push_back(&follower_);
  files_.expect(description_.jobs);
}

void Recorder::begin() {
  if (sinks_.size() > 1) tee_ = std::make_unique<log::Tee>(sinks_);
  sink().header(header_);
  if (wants("run")) write_run_json(nullptr);  // so that an aborted run has a run.json, too
}

void Recorder::flush() {
  if (events_) events_->flush();
}

void Recorder::save() {
  if (events_) events_->save();
}

PolicyRun Recorder::finish() {
  if (events_) events_->close();
  PolicyRun run = files_.finish();
  run.policy = description_.policy;
  if (events_) run.unwritten.insert(run.unwritten.begin(), events_->unwritten().begin(), events_->unwritten().end());
  return run;
}

void Recorder::write(PolicyRun& run) {
  files_.write(run);
  if (wants("run")) (void)write_or_note(run.unwritten, [&] { write_run_json(&run); });
}

void Recorder::write_run_json(const PolicyRun* run) {
  RunInfo info;
  info.command = description_.command_line;
  info.words = description_.words;
  std::error_code no_folder;
  info.working_folder = fs::current_path(no_folder).string();
  info.versions = {{"replay", REPLAY_VERSION}, {"compiler", __VERSION__}};
  utsname host{};
  if (::uname(&host) == 0) info.versions.emplace_back("kernel", fmt::format("{} {}", host.sysname, host.release));
  info.body = header_.value("body");
  info.machine = header_.value("machine");
  info.stated_cores = description_.stated_cores;
  info.hosts = description_.hosts;
  info.policy = description_.policy;
  info.parameters = parse_policy(header_.value("policy")).given;
  info.runtime_model = description_.runtime_model;
  info.seed = description_.seed;
  info.time_scale = description_.time_scale;
  info.settings = description_.settings;
  if (inputs_.empty()) inputs_ = input_files(description_);
  info.inputs = inputs_;
  info.jobs = description_.jobs;
  info.started = started_;
  info.notes = description_.notes;
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
  write_json(folder_ / file_of("run"), to_json(info));
}

}  // namespace replay::results
