#include "scheduler/results/remade_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kRunJson = "run.json";

// Counts what is in the log.
class LogCensus final : public history::Observer {
 public:
  void on_begin(const log::Header& header, const Machine& /*machine*/) override { header_ = header; }
  void on_submit(Instant /*at*/, const history::JobState& /*job*/) override { ++submitted_; }
  void on_end(Instant /*at*/, const history::JobState& /*job*/, const JobEnd& /*end*/) override { ++ended_; }
  void on_record(const log::Record& record, const history::JobState* /*job*/) override {
    interrupted_ = interrupted_ || std::get<log::Note>(record.what).text == "interrupted";
  }
  [[nodiscard]] log::Kinds records() const override { return log::kinds<log::Note>(); }

  [[nodiscard]] const std::string& of_header(std::string_view name) const { return header_.value(name); }
  [[nodiscard]] std::size_t submitted() const { return submitted_; }
  [[nodiscard]] std::size_t without_end() const { return submitted_ - ended_; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  log::Header header_;
  std::size_t submitted_ = 0;
  std::size_t ended_ = 0;
  bool interrupted_ = false;
};

// Ends the reading of a log after a stop signal.
class StopWatch final : public history::Observer {
 public:
  void on_time(Instant /*now*/) override {
    if (stops_asked() > 0) throw RemakingStopped{};
  }
};

log::LogEnd read_unless_stopped(const fs::path& log, history::Observers observers) {
  StopWatch stops;
  observers.push_back(&stops);
  return history::follow(log, observers);
}

// Nothing if there is no such file or it is no run.json that this program can read; `missing` says which.
std::optional<ordered_json> read_run_json(const fs::path& file, std::string& missing) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    missing = "there is no run.json";
    return std::nullopt;
  }
  try {
    ordered_json json = parse_json<ordered_json>(read_json_text(file));
    if (json.is_object() && json.contains("format") && json["format"] == "replay-run 1") return json;
    missing = "run.json is none of format \"replay-run 1\"";
  } catch (const std::runtime_error& problem) {  // InputError, JsonError
    missing = fmt::format("run.json cannot be read ({})", clean_line(problem.what()));
  }
  return std::nullopt;
}

std::string text_in(const ordered_json& json, const char* name, const std::string& otherwise) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : otherwise;
}

bool is_true_in(const ordered_json& json, const char* name) { return json.contains(name) && json[name] == true; }

std::string time_of_last_write(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    throw InputError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(status.st_mtime));
}

class Remaking {
 public:
  Remaking(fs::path log, RemakeOptions options)
      : options_(std::move(options)), log_(std::move(log)), folder_(log_.parent_path()), target_(options_.target) {
    if (folder_.empty()) folder_ = ".";
    if (target_.empty()) target_ = folder_;
  }

  RemadeRun make() {
    RemadeRun made;
    made.run = make_files();
    made.target = target_;
    made.remarks = remarks();
    made.notes = notes();
    made.runtime_model = census_.of_header("runtime-model");
    made.is_complete = is_complete_;
    return made;
  }

 private:
  PolicyRun make_files() {
    end_ = read_unless_stopped(log_, {&census_});
    run_json_ = read_run_json(folder_ / "run.json", missing_);
    const std::set<std::string> outputs = parse_outputs(options_.outputs);
    if (outputs.empty()) return run_with_files({}, outputs);
    std::error_code error;
    fs::create_directories(target_, error);
    if (error) throw InputError(fmt::format("--out {}: cannot be made: {}", target_.string(), error.message()));
    const TemporaryFolder made{"results", target_};
    PolicyRun run = run_with_files(made.path(), outputs);
    if (outputs.contains("run")) (void)write_or_note(run.unwritten, [&] { make_run_json(made.path()); });
    for (const OutputFile& output : output_files())
      if (output.file != kRunJson) put_in_place(made.path(), output.file, run);
    put_in_place(made.path(), kRunJson, run);  // last: it says that the run has ended
    run.folder = target_;
    return run;
  }

  [[nodiscard]] std::vector<std::string> remarks() const {
    std::vector<std::string> lines;
    if (!files_.empty()) lines.push_back(fmt::format("from {}: {}", log_.string(), fmt::join(files_, ", ")));
    if (run_json_)
      lines.push_back(fmt::format("from {}: command, inputs and notes", (folder_ / "run.json").string()));
    else
      lines.push_back(
          fmt::format("{}, so command, inputs and notes are missing; policy, machine and runtime model are from {}",
                      missing_, log_.string()));
    std::ranges::move(about_the_log(), std::back_inserter(lines));
    return lines;
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (run_json_ && run_json_->contains("notes") && (*run_json_)["notes"].is_array())
      for (const ordered_json& note : (*run_json_)["notes"])
        if (note.is_string()) notes.push_back(note.get<std::string>());
    return notes;
  }
  PolicyRun run_with_files(const fs::path& folder, const std::set<std::string>& outputs) {
    std::optional<std::size_t> jobs = census_.submitted();
    if (run_json_ && run_json_->contains("jobs")) {
      const ordered_json& known = (*run_json_)["jobs"];
      if (known.is_number_unsigned()) jobs = std::max(*jobs, known.get<std::size_t>());
      if (known.is_null()) jobs.reset();  // the run did not know either
    }
    ResultFiles files(folder, outputs);
    files.expect(jobs);
    (void)read_unless_stopped(log_, files.observers());
    PolicyRun run = files.finish();
    run.policy = census_.of_header("policy");
    run.interrupted = census_.interrupted();
    if (run_json_) {
      run.policy = text_in(*run_json_, "policy", run.policy);
      run.lost = text_in(*run_json_, "lost", "");
      run.fault = text_in(*run_json_, "fault", "");
      run.broken_off = text_in(*run_json_, "broken_off", "");
      run.interrupted = is_true_in(*run_json_, "interrupted") || run.interrupted;
    }
    run.policy = clean_line(run.policy);  // it is printed in messages
    files.write(run);
    return run;
  }

  [[nodiscard]] bool has_end() const { return run_json_->contains("ended") && (*run_json_)["ended"].is_string(); }

  [[nodiscard]] std::vector<std::string> about_the_log() const {
    std::vector<std::string> lines;
    if (!end_)
      lines.push_back(fmt::format("the event log was cut off{}", end_.reason.empty() ? "" : ": " + end_.reason));
    if (census_.without_end() > 0)
      lines.push_back(fmt::format("{} of the {} in the event log {} no end", census_.without_end(),
                                  counted(census_.submitted(), "job"), census_.without_end() == 1 ? "has" : "have"));
    return lines;
  }

  // Copies run.json if the run came to its end; else completes it from the log.
  void make_run_json(const fs::path& to) {
    if (!run_json_) return;
    if (has_end()) {
      std::error_code error;
      fs::copy_file(folder_ / "run.json", to / "run.json", error);
      if (error)
        throw InputError(fmt::format("{}: cannot be written: {}", (to / "run.json").string(), error.message()));
      return;
    }
    ordered_json closed = *run_json_;
    closed["ended"] = time_of_last_write(log_);
    closed["interrupted"] = census_.interrupted();
    if (!closed["notes"].is_array()) closed["notes"] = ordered_json::array();
    closed["notes"].push_back(fmt::format(
        "the run did not write its end: `replay results` {} has made this of events.log, and `ended` is the "
        "time of the last write to it",
        REPLAY_VERSION));
    for (const std::string& line : about_the_log()) closed["notes"].push_back(line);
    write_json(to / "run.json", closed);
  }

  void put_in_place(const fs::path& made, std::string_view file, PolicyRun& run) {
    const fs::path to = target_ / file;
    std::error_code error;
    if (!fs::exists(made / file, error)) return;
    const bool is_there = fs::exists(to, error);
    if (is_there && same_bytes(made / file, to)) {
      files_.push_back(fmt::format("{} (as it was)", file));
      return;
    }
    const bool is_closed_now = file == kRunJson && run_json_ && !has_end();
    if (is_there && !options_.force && !is_closed_now) {
      files_.push_back(fmt::format("{} (DIFFERS, and was kept: --force replaces it)", file));
      is_complete_ = false;
      return;
    }
    fs::rename(made / file, to, error);
    if (error) {
      run.unwritten.push_back(fmt::format("{}: cannot be written: {}", to.string(), error.message()));
      return;
    }
    files_.push_back(fmt::format("{} ({})", file, is_there ? "replaced" : "made"));
  }

  RemakeOptions options_;
  fs::path log_;
  fs::path folder_;
  fs::path target_;
  LogCensus census_;
  log::LogEnd end_;
  std::optional<ordered_json> run_json_;
  std::string missing_;             // of run.json
  std::vector<std::string> files_;  // what was done with each
  bool is_complete_ = true;
};

}  // namespace

RemadeRun remake_run(const fs::path& log, RemakeOptions options) { return Remaking{log, std::move(options)}.make(); }

}  // namespace replay::results
