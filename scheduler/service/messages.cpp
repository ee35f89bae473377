#include "scheduler/service/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/enum_words.hpp"

namespace replay::service {
namespace {

using Json = nlohmann::ordered_json;
using Place = JsonPlace<Json>;

const std::string kRequest = "request";  // what messages call the line
const std::string kAnswer = "answer";

constexpr auto kMostId = static_cast<double>(kLargestJob);
constexpr double kLatest = 9e12;  // seconds; units.hpp

constexpr std::array<std::string_view, 4> kStates = {"waiting", "running", "suspended", "ended"};

// ---- writing ----

double unix_seconds(UnixTime at) { return static_cast<double>(at.time_since_epoch().count()) / 1e6; }

void put_time(Json& json, const char* key, const std::optional<UnixTime>& at) {
  if (at) json[key] = unix_seconds(*at);
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const JobStatus& job) {
  Json json;
  json["id"] = number(job.id);
  json["name"] = job.name;
  json["user"] = job.user;
  json["state"] = to_text(job.state);
  json["processes"] = job.processes;
  json["cores"] = job.cores;
  json["time_limit_s"] = seconds(job.time_limit);
  json["submitted"] = unix_seconds(job.submitted);
  put_time(json, "started", job.started);
  put_time(json, "ended", job.ended);
  if (job.outcome) {
    json["outcome"] = replay::to_text(*job.outcome);
    json["exit_code"] = job.exit_code;
  }
  if (job.outcome || !job.reason.empty()) json["reason"] = job.reason;
  json["command"] = job.command;
  json["directory"] = job.directory;
  json["output"] = job.output;
  return json;
}

void expect_utf8(const std::string& text, std::string_view field) {
  if (!is_utf8(text))
    throw InputError(fmt::format("{}: expected UTF-8 text, found '{}'", field, visible_text(text, kLongestName)));
}

Json json_of(const JobRequest& job) {
  expect_utf8(job.name, "name");
  expect_utf8(job.directory, "directory");
  for (const std::string& word : job.command) expect_utf8(word, "command");
  for (const std::string& entry : job.environment) expect_utf8(entry, "environment");
  Json json;
  json["name"] = job.name;
  json["processes"] = job.processes;
  if (job.time_limit) json["time_limit_s"] = seconds(*job.time_limit);
  json["rigid"] = job.is_rigid;
  json["requeue"] = job.requeue;
  if (job.queue >= 0) json["queue"] = job.queue;
  json["command"] = job.command;
  json["directory"] = job.directory;
  json["environment"] = job.environment;
  return json;
}

struct RequestWriter {
  Json operator()(const Submit& request) const { return {{"request", "submit"}, {"job", json_of(request.job)}}; }
  Json operator()(const ListJobs& request) const {
    return {{"request", "jobs"}, {"ended", request.ended}, {"after", request.after}};
  }
  Json operator()(const ShowJob& request) const { return {{"request", "job"}, {"job", number(request.job)}}; }
  Json operator()(const CancelJob& request) const { return {{"request", "cancel"}, {"job", number(request.job)}}; }
  Json operator()(const WaitForJob& request) const { return {{"request", "wait"}, {"job", number(request.job)}}; }
  Json operator()(const ShowService&) const { return {{"request", "service"}}; }
};

struct AnswerWriter {
  Json operator()(const Refused& answer) const { return {{"ok", false}, {"error", answer.error}}; }
  Json operator()(const Submitted& answer) const { return {{"ok", true}, {"submitted", number(answer.job)}}; }
  Json operator()(const AllJobs& answer) const {
    Json jobs = Json::array();
    for (const JobStatus& job : answer.jobs) jobs.push_back(json_of(job));
    return {{"ok", true}, {"jobs", std::move(jobs)}, {"more", answer.more}};
  }
  Json operator()(const OneJob& answer) const { return {{"ok", true}, {"job", json_of(answer.job)}}; }
  Json operator()(const Service& answer) const {
    const ServiceStatus& service = answer.service;
    Json json;
    json["pid"] = service.pid;
    json["version"] = service.version;
    json["machine"] = service.machine;
    json["cores"] = service.cores;
    json["policy"] = service.policy;
    json["run_folder"] = service.run_folder;
    if (service.page) json["page"] = *service.page;
    json["started"] = unix_seconds(service.started);
    json["waiting"] = service.waiting;
    json["running"] = service.running;
    return {{"ok", true}, {"service", std::move(json)}};
  }
};

// ---- reading ----

Json parsed(std::string_view line, const std::string& name) {
  try {
    return parse_json<Json>(line);
  } catch (const JsonError& error) {
    throw InputError(fmt::format("{}: expected a JSON object: {}", name, error.what()));
  }
}

void expect_members(const Place& place, std::initializer_list<std::string_view> known) {
  if (!place.value().is_object()) place.fail("an object");
  for (const auto& [key, value] : place.value().items())
    if (std::ranges::find(known, key) == known.end())
      throw InputError(fmt::format("{}: expected no member '{}'", kRequest, clean_line(key, kLongestName)));
}

std::int64_t integer(const Place& place, double least, double most, std::string_view expected) {
  if (!place.value().is_number_integer()) place.fail(expected);
  const double value = place.value().get<double>();
  if (!(value >= least && value <= most)) place.fail(expected);
  return place.value().get<std::int64_t>();
}

JobId id_of(const Place& place) { return JobId{integer(place, 1, kMostId, "a job's number, from 1")}; }

// A text that becomes an argument of a program or a path: no NUL byte.
std::string raw_text(const Place& place) {
  const auto text = place.as<std::string>("a text");
  if (text.find('\0') != std::string::npos) place.fail("a text without NUL bytes");
  return text;
}

std::vector<std::string> raw_texts(const Place& place) {
  std::vector<std::string> texts;
  for (const Place& element : place.elements()) texts.push_back(raw_text(element));
  return texts;
}

Duration limit_of(const Place& place) {
  return from_seconds(place.number(seconds(kShortestLimit), seconds(kLongestLimit)));
}

JobRequest job_of(const Place& place) {
  expect_members(
      place, {"name", "processes", "time_limit_s", "rigid", "requeue", "queue", "command", "directory", "environment"});
  JobRequest job;
  job.processes = place.at("processes").count();
  job.command = raw_texts(place.at("command"));
  if (job.command.empty() || job.command.front().empty())
    throw InputError(fmt::format("{}: job.command: expected a program, found none", kRequest));
  job.directory = raw_text(place.at("directory"));
  if (!job.directory.starts_with('/')) place.at("directory").fail("an absolute path");
  if (place.has("name")) job.name = place.at("name").text();
  if (job.name.size() > kLongestName) place.at("name").fail(fmt::format("at most {} bytes", kLongestName));
  if (job.name.empty()) {
    const std::string& program = job.command.front();
    job.name = clean_line(program.substr(program.find_last_of('/') + 1), kLongestName);
  }
  if (place.has("time_limit_s")) job.time_limit = limit_of(place.at("time_limit_s"));
  if (place.has("rigid")) job.is_rigid = place.at("rigid").flag();
  if (place.has("requeue")) job.requeue = place.at("requeue").flag();
  if (place.has("queue"))
    job.queue = static_cast<std::int32_t>(integer(place.at("queue"), 0, 1e9, "a queue's number, 0..1000000000"));
  if (place.has("environment")) job.environment = raw_texts(place.at("environment"));
  for (const std::string& entry : job.environment)
    if (const auto equals = entry.find('='); equals == 0 || equals == std::string::npos)
      throw InputError(fmt::format("{}: job.environment: expected NAME=value, found '{}'", kRequest,
                                   visible_text(entry, kLongestName)));
  return job;
}

UnixTime time_of(const Place& place) {
  return UnixTime{std::chrono::microseconds{std::llround(place.number(0, kLatest) * 1e6)}};
}

std::optional<UnixTime> time_if_there(const Place& place, const char* key) {
  return place.has(key) ? std::optional{time_of(place.at(key))} : std::nullopt;
}

JobState state_of(const Place& place) {
  const std::string word = place.text();
  const auto found = std::ranges::find(kStates, word);
  if (found == kStates.end()) place.fail("waiting, running, suspended or ended");
  return static_cast<JobState>(found - kStates.begin());
}

Outcome outcome_of(const Place& place) {
  const auto outcome = enum_of<Outcome>(place.text());
  if (!outcome) place.fail("an outcome");
  return *outcome;
}

JobStatus status_of(const Place& place) {
  JobStatus job;
  job.id = id_of(place.at("id"));
  job.name = place.at("name").text();
  job.user = place.at("user").text();
  job.state = state_of(place.at("state"));
  job.processes = place.at("processes").count();
  job.cores = static_cast<CoreCount>(integer(place.at("cores"), 0, 1e9, "a count of cores"));
  job.time_limit = from_seconds(place.at("time_limit_s").number(0, seconds(kLongestLimit)));
  job.submitted = time_of(place.at("submitted"));
  job.started = time_if_there(place, "started");
  job.ended = time_if_there(place, "ended");
  if (place.has("outcome")) {
    job.outcome = outcome_of(place.at("outcome"));
    job.exit_code = static_cast<int>(integer(place.at("exit_code"), -1e9, 1e9, "an exit code"));
  }
  if (job.outcome || place.has("reason")) job.reason = place.at("reason").text();
  job.command = place.at("command").text();
  job.directory = place.at("directory").as<std::string>("a text");
  job.output = place.at("output").as<std::string>("a text");
  return job;
}

ServiceStatus service_of(const Place& place) {
  ServiceStatus service;
  service.pid = integer(place.at("pid"), 1, 1e10, "a process's number");
  service.version = place.at("version").text();
  service.machine = place.at("machine").text();
  service.cores = static_cast<CoreCount>(integer(place.at("cores"), 1, 1e9, "a count of cores"));
  service.policy = place.at("policy").text();
  service.run_folder = place.at("run_folder").as<std::string>("a text");
  if (place.has("page")) service.page = place.at("page").text();
  service.started = time_of(place.at("started"));
  service.waiting = static_cast<std::size_t>(integer(place.at("waiting"), 0, 1e12, "a count of jobs"));
  service.running = static_cast<std::size_t>(integer(place.at("running"), 0, 1e12, "a count of jobs"));
  return service;
}

}  // namespace

bool is_utf8(std::string_view text) {
  // The parser of JSON is the judge: it reads the text as the other side will.
  try {
    (void)nlohmann::json(std::string{text}).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::string_view to_text(JobState state) { return kStates.at(static_cast<std::size_t>(state)); }

std::string to_json_text(const JobStatus& job) {
  return json_of(job).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string to_line(const Request& request) { return line_of(std::visit(RequestWriter{}, request)); }

std::string to_line(const Answer& answer) { return line_of(std::visit(AnswerWriter{}, answer)); }

Request parse_request(std::string_view line) {
  const Json json = parsed(line, kRequest);
  const Place all{json, kRequest};
  const std::string word = all.at("request").text();
  if (word == "submit") {
    expect_members(all, {"request", "job"});
    return Submit{job_of(all.at("job"))};
  }
  if (word == "jobs") {
    expect_members(all, {"request", "ended", "after"});
    ListJobs list;
    if (all.has("ended")) list.ended = all.at("ended").flag();
    if (all.has("after")) list.after = integer(all.at("after"), 0, kMostId, "a job's number, or 0");
    return list;
  }
  if (word == "service") {
    expect_members(all, {"request"});
    return ShowService{};
  }
  const bool is_of_one_job = word == "job" || word == "cancel" || word == "wait";
  if (!is_of_one_job) all.at("request").fail("submit, jobs, job, cancel, wait or service");
  expect_members(all, {"request", "job"});
  const JobId job = id_of(all.at("job"));
  if (word == "cancel") return CancelJob{job};
  if (word == "wait") return WaitForJob{job};
  return ShowJob{job};
}

Answer parse_answer(std::string_view line) {
  const Json json = parsed(line, kAnswer);
  const Place all{json, kAnswer};
  if (!all.at("ok").flag()) return Refused{clean_line(all.at("error").as<std::string>("a text"), kLongestReason)};
  if (all.has("submitted")) return Submitted{id_of(all.at("submitted"))};
  if (all.has("job")) return OneJob{status_of(all.at("job"))};
  if (all.has("service")) return Service{service_of(all.at("service"))};
  AllJobs jobs;
  for (const Place& job : all.at("jobs").elements()) jobs.jobs.push_back(status_of(job));
  jobs.more = all.at("more").flag();
  return jobs;
}

}  // namespace replay::service
