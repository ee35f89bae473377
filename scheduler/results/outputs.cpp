#include "scheduler/results/outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/csv_file.hpp"
#include "traces/swf_writer.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

using metrics::JobRow;

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;  // bytes

constexpr std::string_view kJobColumns =
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources,"
    "metadata,"
    "outcome,exit_code,verification,reason,expanded_runtime_s,suspended_s,slowdown,bounded_slowdown,mpl_mean,shrinks,"
    "expands,cores_at_start,cores_at_end,flexibility,cpu_use,user,group,queue,program";

std::string_view batsim_state(const JobRow& row) {
  if (!row.has_ended()) return row.has_started() ? "RUNNING" : "SUBMITTED";
  switch (row.outcome) {
    case Outcome::kCompleted: return "COMPLETED_SUCCESSFULLY";
    case Outcome::kFailed: return "COMPLETED_FAILED";
    case Outcome::kOverrun: return "COMPLETED_WALLTIME_REACHED";
    case Outcome::kKilled:
    case Outcome::kCancelled: return "COMPLETED_KILLED";
    case Outcome::kRejected: return "REJECTED";
  }
  return "?";
}

double stretch_of(const JobRow& row) {
  if (row.execution() == Duration::zero()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(row.response().count()) / static_cast<double>(row.execution().count());
}

// As "0-3 7 10-12": procset's text.
void put_cores(CsvLine& cells, std::span<const metrics::CoreRange> used) {
  bool is_first = true;
  for (const metrics::CoreRange& range : used) {
    if (!std::exchange(is_first, false)) cells.piece(' ');
    cells.piece(range.first);
    if (range.last == range.first) continue;
    cells.piece('-');
    cells.piece(range.last);
  }
  cells.empty();
}

// Many numbers of a row equal another one (without a wait, the start equals the submission): copies the text of that
// cell.
template <class Number>
void put_like(CsvLine& cells, Number number, Number other, const CsvLine::Cell& cell) {
  if (number == other)
    cells.again(cell);
  else if constexpr (std::integral<Number>)
    cells.count(number);
  else
    cells.seconds(number);
}

// Cells that put_like() may copy into later columns of the row.
struct RowCells {
  CsvLine::Cell processes, execution, stretch;  // the last two only if the job ran
};

// Batsim's seventeen columns. `workload` is quoted already.
RowCells put_batsim_cells(CsvLine& cells, const JobRow& row, std::string_view workload, std::string_view program,
                          std::span<const metrics::CoreRange> used_cores) {
  RowCells known{};
  cells.count(static_cast<std::int64_t>(row.job));
  cells.word(workload);
  cells.word(program);
  const CsvLine::Cell submitted = cells.seconds(row.submitted);
  known.processes = cells.count(row.processes);
  cells.seconds(row.estimate);
  cells.count(row.has_ended() && row.outcome == Outcome::kCompleted ? 1 : 0);
  cells.word(batsim_state(row));
  if (row.has_started())
    put_like(cells, row.launched, row.submitted, submitted);
  else
    cells.empty();
  if (row.ran()) {
    known.execution = cells.seconds(row.execution());
    cells.seconds(row.finished);
    cells.seconds(row.wait());
    put_like(cells, row.response(), row.execution(), known.execution);
    known.stretch = cells.ratio(stretch_of(row));
  } else {
    cells.empties(2);
    if (row.has_started())
      cells.seconds(row.wait());
    else
      cells.empty();
    cells.empties(2);
  }
  cells.word("-1");  // energy: as Batsim when it does not count it
  put_cores(cells, used_cores);
  cells.empty();
  return known;
}

// `reason` is quoted already.
void put_our_cells(CsvLine& cells, const JobRow& row, std::string_view reason, Duration bound, const RowCells& known) {
  if (row.has_ended()) {
    cells.word(to_text(row.outcome));
    cells.count(row.exit_code);
  } else {
    cells.empties(2);
  }
  cells.word(to_text(row.verification));
  cells.word(reason);
  if (row.ran()) {
    const metrics::JobTimes times = row.times();
    const bool as_planned = times.runtime == times.execution;
    put_like(cells, times.runtime, times.execution, known.execution);
    cells.seconds(row.suspended);
    const CsvLine::Cell slowdown = as_planned ? cells.again(known.stretch) : cells.ratio(times.slowdown());
    if (as_planned && times.runtime >= bound)  // then the bound has no effect
      cells.again(slowdown);
    else
      cells.ratio(times.bounded_slowdown(bound));
    cells.ratio(row.mean_mpl());
  } else {
    cells.seconds(row.runtime);
    cells.empties(4);
  }
  cells.count(row.shrinks);
  cells.count(row.expands);
  put_like(cells, row.first_cores, row.processes, known.processes);
  put_like(cells, row.last_cores, row.processes, known.processes);
  cells.word(to_text(row.flexibility));
  if (row.cpu_use >= 0)
    cells.ratio(row.cpu_use);
  else
    cells.empty();
  for (const std::int32_t field : {row.user, row.group, row.queue, row.executable}) {
    if (field >= 0)
      cells.count(field);
    else
      cells.empty();
  }
}

// SWF field 11: 1 completed, 0 failed, 5 cancelled, that is: ended by others. An overrun is the job's own failure.
std::int32_t swf_status(const JobRow& row) {
  if (!row.has_ended()) return -1;
  switch (row.outcome) {
    case Outcome::kCompleted: return 1;
    case Outcome::kFailed:
    case Outcome::kOverrun: return 0;
    case Outcome::kKilled:
    case Outcome::kCancelled:
    case Outcome::kRejected: return 5;
  }
  return -1;
}

SwfRecord swf_record(const JobRow& row) {
  SwfRecord record;
  record.job = static_cast<std::int64_t>(row.job);
  record.submit = row.submitted.time_since_epoch();
  record.requested = row.processes;
  record.requested_time = row.estimate;
  record.status = swf_status(row);
  record.user = row.user;
  record.group = row.group;
  record.executable = row.executable;
  record.queue = row.queue;
  if (row.has_started()) {
    record.wait = row.wait();
    record.allocated = row.most_cores;
  } else if (row.has_ended() && row.outcome == Outcome::kCancelled) {
    record.wait = row.response();  // until it left the queue
  }
  if (row.ran()) {
    record.run = row.execution();
    if (row.cpu_use >= 0) record.average_cpu = from_seconds(seconds(row.execution()) * row.cpu_use);
  }
  return record;
}

constexpr const char* kCounts[] = {"MaxJobs", "MaxRecords"};

SwfHeader swf_header(const log::Header& run, CoreCount cores, std::size_t jobs) {
  SwfHeader header;
  header.add("Version", "2.2");
  header.add("Computer", run.value("machine"));
  header.add("Conversion", "replay, from an event log");
  for (const char* label : kCounts) header.add(label, fmt::to_string(jobs));
  header.add("UnixStartTime", "0");
  header.add("MaxProcs", fmt::to_string(cores));
  header.add("Note", fmt::format("trace {}, policy {}, {}", run.value("trace"), run.value("policy"),
                                 run.value("body") == "live" ? "run for real" : "simulated"));
  header.add("Note", "run time is wall time on the cores given; field 5 is the most cores the job ever had");
  return header;
}

// FIPS 180-4, 6.2.
class Sha256 {
 public:
  void add(std::string_view bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t taken = std::min(bytes.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), taken);
      bytes.remove_prefix(taken);
      filled_ += taken;
      if (filled_ == block_.size()) digest_block();
    }
  }

  std::string hex() {
    const std::uint64_t bits = size_ * 8;
    add(std::string_view{"\x80", 1});
    while (filled_ != 56) add(std::string_view{"\0", 1});
    for (int shift = 56; shift >= 0; shift -= 8) {
      const char byte = static_cast<char>(bits >> shift & 0xff);
      add({&byte, 1});
    }
    return fmt::format("{:08x}", fmt::join(state_, ""));
  }

 private:
  void digest_block() {
    filled_ = 0;
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = std::uint32_t{block_[4 * i]} << 24 | std::uint32_t{block_[4 * i + 1]} << 16 |
             std::uint32_t{block_[4 * i + 2]} << 8 | std::uint32_t{block_[4 * i + 3]};
    for (std::size_t i = 16; i < 64; ++i)
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t t1 =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kConstants[i] + w[i];
      const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += added[i];
  }

  static constexpr std::array<std::uint32_t, 64> kConstants = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
};

nlohmann::ordered_json named_values(const std::vector<std::pair<std::string, std::string>>& pairs) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : pairs) json[name] = value;
  return json;
}

}  // namespace

const std::set<std::string>& output_names() {
  static const std::set<std::string> kNames = {"run", "events", "jobs", "swf", "metrics", "series"};
  return kNames;
}

std::set<std::string> parse_outputs(std::string_view list) {
  if (list.empty() || list == "all") return output_names();
  if (list == "none") return {};
  std::set<std::string> wanted;
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string name{list.substr(0, comma)};
    if (!output_names().contains(name))
      throw UsageError(fmt::format("--outputs: expected all, none, or some of {} joined by commas, found '{}'",
                                   fmt::join(output_names(), ", "), name));
    wanted.insert(name);
    if (comma == std::string_view::npos) return wanted;
    list.remove_prefix(comma + 1);
  }
}

JobsCsv::JobsCsv(const fs::path& file, const log::Header& header, Duration bound)
    : bound_(bound), cells_(file, kJobColumns) {
  const std::string name = fs::path(header.value("trace")).filename().string();
  std::string memory;
  workload_ = CsvFile::quoted(name, memory);
}

void JobsCsv::put(const JobRow& row, std::string_view reason, std::span<const metrics::CoreRange> used_cores) {
  constexpr std::size_t kNumbers = 36, kWords = 160;        // upper bounds: columns, and bytes of our own words
  if (!reason.empty()) clean_reason_ = clean_line(reason);  // a log from elsewhere may hold any text
  const std::string_view quoted_reason = reason.empty() ? reason : CsvFile::quoted(clean_reason_, reason_);
  if (row.executable >= 0) program_ = fmt::format("program-{}", row.executable);
  const std::string_view program = row.executable >= 0 ? std::string_view{program_} : "default";
  CsvLine cells = cells_.begin_line(kNumbers + 2 * used_cores.size(),
                                    kWords + workload_.size() + program.size() + quoted_reason.size());
  const RowCells known = put_batsim_cells(cells, row, workload_, program, used_cores);
  put_our_cells(cells, row, quoted_reason, bound_, known);
  cells_.end_line(cells);
}

ScheduleSwf::ScheduleSwf(const fs::path& file, const log::Header& header, CoreCount cores, std::size_t jobs)
    : header_(swf_header(header, cores, jobs)), writer_(file.string()), expected_(jobs) {
  writer_.write(header_);
}

void ScheduleSwf::put(const JobRow& row) {
  writer_.write(swf_record(row));
  ++jobs_;
}

// After a run that ended early, overwrites the job counts in the header with the smaller ones, padded to the same
// width.
void ScheduleSwf::close() {
  if (jobs_ < expected_) {
    const std::size_t width = fmt::to_string(expected_).size();
    for (const char* label : kCounts) header_.set(label, fmt::format("{:<{}}", jobs_, width));
    writer_.overwrite(header_);
  }
  writer_.close();
}

void write_metrics_json(const fs::path& file, const log::Header& header, const metrics::JobSums& sums,
                        const metrics::Series& series, const metrics::Summary& summary) {
  const metrics::SummaryOptions& options = sums.options();
  nlohmann::ordered_json json;
  json["format"] = "replay-metrics 1";
  for (const char* name : {"trace", "policy", "machine", "body"}) json[name] = header.value(name);
  json["options"] = {{"bounded_slowdown_bound_s", seconds(options.bound)},
                     {"trim_percent", options.trim_percent},
                     {"completed_only", options.completed_only},
                     {"high_load_queue", series.options().high_load_queue}};
  for (const auto& [name, unit, definition, value] : summary.metrics)
    json["metrics"][std::string{name}] = {{"value", value}, {"unit", unit}, {"definition", definition}};
  for (const auto& [name, value] : metrics::batsim_summary(sums, series)) json["batsim"][std::string{name}] = value;
  write_json(file, json);
}

void write_series_csv(const fs::path& path, const metrics::Series& series) {
  CsvFile file(path,
               "time_s,queued_jobs,waiting_processors,running_jobs,suspended_jobs,busy_cores,processes,mpl_ratio");
  for (const metrics::Point& point : series.points()) {
    CsvLine cells = file.begin_line(8);
    cells.seconds(point.at);
    cells.count(point.queued);
    cells.count(point.waiting_processors);
    cells.count(point.running);
    cells.count(point.suspended);
    cells.count(point.busy_cores);
    cells.count(point.processes);
    cells.ratio(static_cast<double>(point.processes) / series.cores());
    file.end_line(cells);
  }
  file.close();
}

void write_json(const fs::path& file, const nlohmann::ordered_json& json) {
  const auto sink = open_sink(file.string());
  sink->write(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  sink->close();
}

InputFile input_file(const fs::path& path) {
  const auto fail = [&path](int error) {
    throw InputError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(error)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) fail(errno);
  Sha256 hash;
  InputFile input{path.string(), {}, 0};
  std::string block(kReadAtOnce, '\0');
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    hash.add(std::string_view{block}.substr(0, got));
    input.bytes += got;
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  input.sha256 = hash.hex();
  return input;
}

nlohmann::ordered_json to_json(const RunInfo& info) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  const auto measured = [](double load) { return load < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(load); };
  nlohmann::ordered_json json;
  json["format"] = "replay-run 1";
  json["command"] = info.command;
  json["working_folder"] = info.working_folder;
  json["versions"] = named_values(info.versions);
  json["body"] = info.body;
  json["machine"] = info.machine;
  json["policy"] = info.policy;
  json["parameters"] = named_values(info.parameters);
  json["runtime_model"] = info.runtime_model;
  json["seed"] = info.seed;
  json["time_scale"] = info.time_scale;
  json["settings"] = named_values(info.settings);
  json["inputs"] = nlohmann::ordered_json::array();
  for (const InputFile& input : info.inputs)
    json["inputs"].push_back({{"path", input.path}, {"sha256", input.sha256}, {"bytes", input.bytes}});
  json["jobs"] = info.jobs;
  json["started"] = info.started;
  json["ended"] = or_null(info.ended);
  json["interrupted"] = info.interrupted;
  json["lost"] = or_null(info.lost);
  json["fault"] = or_null(info.fault);
  json["broken_off"] = or_null(info.broken_off);
  json["unwritten"] = info.unwritten;
  json["disturbed"] = info.disturbed;
  json["load_of_others"] = {{"before", measured(info.load_before)}, {"after", measured(info.load_after)}};
  json["notes"] = info.notes;
  return json;
}

}  // namespace replay::results
