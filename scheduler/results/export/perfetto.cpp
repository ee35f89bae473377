// A run as a trace in Chrome's trace-event format (JSON), which the Perfetto UI and chrome://tracing open: a process per
// node, a row per core, and in it a slice for each adjacent cores that a job had from one change to the next; counters and
// instants of the run as a whole. docs/export.md says what it holds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/results/export/core_seats.hpp"
#include "scheduler/results/export/lanes.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/point_stream.hpp"
#include "scheduler/results/export/text_block.hpp"
#include "scheduler/results/export/writers.hpp"

namespace replay::results {
namespace {

// With its quotes, on one line.
std::string json_text(std::string_view text) {
  return nlohmann::json(clean_line(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Rows of the run's own process, each with instants or slices of one kind.
enum class RunRow : std::uint8_t { kResizes, kSuspensions, kEnds, kFailures, kNotes, kSlices, kNodes };
constexpr std::array<std::string_view, 7> kRunRows = {
    "resizes",           "suspensions", "jobs that did not complete", "orders that failed", "notes",
    "slices of classes", "nodes"};

// Above the rows of cores, which are 1 and their number, and still 31 bits: viewers keep thread numbers in an int.
constexpr std::int64_t kRunRow = 2'000'000'000, kSuspendedRow = 2'001'000'000, kGroupRow = 2'100'000'000;

class PerfettoTrace final : public history::Observer, private metrics::StretchReader, private PointReader {
 public:
  explicit PerfettoTrace(ByteSink& sink) : text_(sink) {}

  /// Counters come in front of what happens after them, and instants in front of the slices that they end.
  [[nodiscard]] history::Follower& follower() { return follower_; }

  void on_begin(const log::Header& header, const Machine& machine) override {
    expect_rows_for(machine);
    names_ = {header, machine};
    text_.put(R"({"displayTimeUnit":"ms","otherData":{)");
    bool is_first = true;
    for (const auto& [name, value] : header.entries) {
      text_.print("{}{}:{}", is_first ? "" : ",", json_text(name), json_text(value));
      is_first = false;
    }
    text_.put("},\"traceEvents\":[\n");
    text_.print(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", run_pid(),
                json_text(fmt::format("run: {} on {}", header.value("policy"), header.value("machine"))));
    sort_process(run_pid(), 0);
  }

  void on_change(Instant at, const history::Before& before, const history::JobState& job) override {
    using enum history::Phase;
    if (before.phase == kWaiting) return;
    if (job.phase == kWaiting) return;  // told with the reason
    const std::int64_t id = number(job.id);
    if (before.phase != job.phase)
      return instant(RunRow::kSuspensions, at,
                     fmt::format("\"job {} {}\"", id, job.phase == kSuspended ? "suspended" : "resumed"),
                     fmt::format(R"("job":{})", id));
    const CoreCount had = before.held.cores, has = job.held.cores;
    if (had == has) return;
    instant(RunRow::kResizes, at, fmt::format("\"job {} {}\"", id, has < had ? "shrunk" : "expanded"),
            fmt::format(R"("job":{},"from_cores":{},"to_cores":{})", id, had, has));
  }
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override {
    const bool is_wrong = end.verification == Verification::kFailed;
    if (end.outcome == Outcome::kCompleted && !is_wrong) return;
    instant(
        RunRow::kEnds, at,
        fmt::format("\"job {} {}\"", number(job.id), is_wrong ? "verification failed" : to_text(end.outcome)),
        fmt::format(R"("job":{},"exit_code":{},"reason":{})", number(job.id), end.exit_code, json_text(end.reason)));
  }
  void on_record(const log::Record& record, const history::JobState* /*job*/) override {
    log::visit(OnRecord{*this, record.at}, record.what);
  }
  [[nodiscard]] log::Kinds records() const override { return log::kinds_of<OnRecord>(); }

  void finish(Instant last) {
    points_.finish();
    stretches_.open(last, *this);
    for (const auto& [primary, group] : groups_) end_group(primary, group, last);
    text_.put("\n]}\n");
    text_.flush();
  }

 private:
  struct Group {
    Instant from{};
    std::string jobs;
  };

  // What is no change of a job.
  struct OnRecord {
    PerfettoTrace& trace;
    Instant at;

    void operator()(const log::Failed& what) const {
      trace.instant(RunRow::kFailures, at, json_text(fmt::format("job {}: {} failed", number(what.job), what.action)),
                    fmt::format(R"("job":{},"reason":{})", number(what.job), json_text(what.reason)));
    }
    void operator()(const log::RanksSeen& what) const {
      if (what.malleable && what.reason.empty()) return;
      trace.instant(RunRow::kNotes, at,
                    fmt::format("\"job {} {}\"", number(what.job), what.malleable ? "is malleable" : "runs as rigid"),
                    fmt::format(R"("job":{},"reason":{})", number(what.job), json_text(what.reason)));
    }
    void operator()(const log::Requeued& what) const {
      trace.instant(RunRow::kEnds, at, fmt::format("\"job {} waits again\"", number(what.job)),
                    fmt::format(R"("job":{},"reason":{})", number(what.job), json_text(what.reason)));
    }
    void operator()(const NodeChange& what) const {
      trace.instant(RunRow::kNodes, at, json_text(fmt::format("{} {}", trace.names_.of(what.node), to_text(what))),
                    fmt::format(R"("node":{},"state":"{}","reason":{})", number(what.node), to_text(what.state),
                                json_text(what.reason)));
    }
    void operator()(const log::Note& what) const { trace.instant(RunRow::kNotes, at, json_text(what.text), ""); }
    void operator()(const SliceBegun& what) const {
      if (what.ends <= what.begins) return;
      trace.name_run_row(RunRow::kSlices);
      trace.slice(trace.run_pid(), row_of(RunRow::kSlices), fmt::format("\"{}\"", to_text(what.job_class)), "slice",
                  what.begins, what.ends);
      trace.text_.put("{}}");
    }
    void operator()(const GroupFormed& what) const {
      end_group(what.primary);
      std::string jobs = fmt::format("{}", number(what.primary));
      for (const JobId job : what.matched) jobs += fmt::format("+{}", number(job));
      trace.groups_[what.primary] = {at, std::move(jobs)};
    }
    void operator()(const GroupEnded& what) const { end_group(what.primary); }
    void operator()(const log::Finished& what) const {  // its last slice is written
      trace.sizes_.forget(what.job);
      trace.told_.forget(what.job);
    }

   private:
    void end_group(JobId primary) const {
      const auto found = trace.groups_.find(primary);
      if (found == trace.groups_.end()) return;
      trace.end_group(primary, found->second, at);
      trace.groups_.erase(found);
    }
  };

  [[nodiscard]] const Machine& machine() const { return follower_.machine(); }
  [[nodiscard]] int run_pid() const { return machine().nodes() + 1; }
  [[nodiscard]] int suspended_pid() const { return machine().nodes() + 2; }
  [[nodiscard]] int groups_pid() const { return machine().nodes() + 3; }
  [[nodiscard]] static std::int64_t row_of(RunRow row) { return kRunRow + static_cast<std::int64_t>(row); }

  void name_process(int pid, std::string_view name) {
    text_.print(
        ",\n"
        R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}})",
        pid, name);
    sort_process(pid, pid);
  }
  void sort_process(int pid, int index) {
    text_.print(
        ",\n"
        R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})",
        pid, index);
  }
  void name_thread(int pid, std::int64_t tid, std::string_view name, std::int64_t index) {
    text_.print(
        ",\n"
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
        pid, tid, name);
    text_.print(
        ",\n"
        R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
        pid, tid, index);
  }
  // True the first time.
  static bool is_new(std::vector<bool>& seen, std::size_t index) {
    if (seen.size() <= index) seen.resize(std::max(index + 1, seen.size() * 2));
    if (seen[index]) return false;
    return seen[index] = true;
  }
  void name_run_row(RunRow row) {
    const auto index = static_cast<std::size_t>(row);
    if (!is_new(run_rows_, index)) return;
    name_thread(run_pid(), row_of(row), kRunRows[index], static_cast<std::int64_t>(index));
  }
  void name_core_row(NodeId node, CoreId core, std::size_t seat) {
    if (seen_.size() <= seat) seen_.resize(seat + 1);
    const int pid = static_cast<int>(node) + 1;
    if (is_new(nodes_, index_of(node))) name_process(pid, machine().names_cores() ? names_.of(node) : "machine");
    if (!is_new(seen_[seat], index_of(core))) return;
    name_thread(pid, core_row(core, seat),
                seat == 0 ? fmt::format("core {}", core) : fmt::format("core {}, job {} on it", core, seat + 1),
                std::int64_t{number(core)} * 8 + static_cast<std::int64_t>(std::min<std::size_t>(seat, 7)));
  }
  [[nodiscard]] std::int64_t core_row(CoreId core, std::size_t seat) const {
    return 1 + number(core) + static_cast<std::int64_t>(seat) * machine().size();
  }

  // Up to the arguments, which the caller puts with the two braces at the end.
  void slice(int pid, std::int64_t tid, std::string_view quoted_name, std::string_view category, Instant from,
             Instant to) {
    text_.print(
        ",\n"
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":)",
        quoted_name, category, pid, tid, from.time_since_epoch().count(), (to - from).count());
  }
  void instant(RunRow row, Instant at, std::string_view quoted_name, std::string_view arguments) {
    name_run_row(row);
    text_.print(
        ",\n"
        R"({{"ph":"i","s":"p","name":{},"cat":"change","pid":{},"tid":{},"ts":{},"args":{{{}}}}})",
        quoted_name, run_pid(), row_of(row), at.time_since_epoch().count(), arguments);
  }
  void counter(std::string_view name, std::string_view unit, Instant at, std::int64_t value) {
    text_.print(
        ",\n"
        R"({{"ph":"C","name":"{}","pid":{},"tid":0,"ts":{},"args":{{"{}":{}}}}})",
        name, run_pid(), at.time_since_epoch().count(), unit, value);
  }
  void end_group(JobId primary, const Group& group, Instant at) {
    if (group.from >= at) return;
    const std::size_t lane = group_lanes_.lane_of(group.from, at);
    const auto tid = kGroupRow + static_cast<std::int64_t>(lane);
    if (is_new(group_rows_, lane)) {
      if (lane == 0) name_process(groups_pid(), "groups of jobs that share nodes");
      name_thread(groups_pid(), tid, fmt::format("group {}", lane + 1), static_cast<std::int64_t>(lane));
    }
    slice(groups_pid(), tid, fmt::format("\"jobs {}\"", group.jobs), "group", group.from, at);
    text_.print(R"({{"primary":{}}}}})", number(primary));
  }

  // ---- what the parts call ----

  void point(const metrics::Point& point) override {
    const auto put = [&](std::string_view name, std::string_view unit, std::int64_t before, std::int64_t now) {
      if (!has_point_ || before != now) counter(name, unit, point.at, now);
    };
    put("queue length", "jobs", last_.queued, point.queued);
    put("waiting processors", "processors", last_.waiting_processors, point.waiting_processors);
    put("busy cores", "cores", last_.busy_cores, point.busy_cores);
    put("running jobs", "jobs", last_.running, point.running);
    put("suspended jobs", "jobs", last_.suspended, point.suspended);
    if (!has_point_ || last_.processes != point.processes)
      text_.print(
          ",\n"
          R"({{"ph":"C","name":"MPL","pid":{},"tid":0,"ts":{},"args":{{"processes per core":{}}}}})",
          run_pid(), point.at.time_since_epoch().count(), static_cast<double>(point.processes) / machine().size());
    last_ = point;
    has_point_ = true;
  }

  void begins(const metrics::Stretch& stretch) override {
    if (stretch.kind == metrics::Stretch::Kind::kRuns)
      for_each_node_range(stretch.cores, machine(),
                          [&](NodeId, const CoreRange& range) { seats_.take(range.first, stretch.job); });
  }
  void taken_back(const metrics::Stretch& stretch) override {
    if (stretch.kind == metrics::Stretch::Kind::kRuns)
      for_each_node_range(stretch.cores, machine(),
                          [&](NodeId, const CoreRange& range) { (void)seats_.leave(range.first, stretch.job); });
  }
  void stretch(const metrics::Stretch& stretch) override {
    const CoreCount cores = stretch.core_count();
    if (stretch.kind == metrics::Stretch::Kind::kSuspended) return suspended(stretch, cores);
    const std::string_view category = stretch.is_shrunk() ? "job,shrunk" : "job";
    for_each_node_range(stretch.cores, machine(), [&](NodeId node, const CoreRange& range) {
      const std::size_t seat = seats_.leave(range.first, stretch.job);
      if (stretch.from >= stretch.to) return;
      name_core_row(node, range.first, seat);
      slice(static_cast<int>(node) + 1, core_row(range.first, seat), fmt::format("\"job {}\"", number(stretch.job)),
            category, stretch.from, stretch.to);
      text_.print(R"({{"job":{},"first_core":{},"width":{},"cores":{},"processes":{},"mpl":{})", number(stretch.job),
                  range.first, range.size(), cores, stretch.processes, stretch.mpl);
      if (stretch.shareable) text_.put(R"(,"shareable":true)");
      put_job(*stretch.state);
      text_.put("}}");
    });
  }

  void suspended(const metrics::Stretch& stretch, CoreCount cores) {
    if (stretch.from >= stretch.to) return;
    const std::size_t lane = suspended_lanes_.lane_of(stretch.from, stretch.to);
    const auto tid = kSuspendedRow + static_cast<std::int64_t>(lane);
    if (is_new(suspended_rows_, lane)) {
      if (lane == 0) name_process(suspended_pid(), "suspended jobs");
      name_thread(suspended_pid(), tid, fmt::format("suspended {}", lane + 1), static_cast<std::int64_t>(lane));
    }
    slice(suspended_pid(), tid, fmt::format("\"job {}\"", number(stretch.job)), "suspended", stretch.from, stretch.to);
    text_.print(R"({{"job":{},"cores":{})", number(stretch.job), cores);
    put_job(*stretch.state);
    text_.put("}}");
  }

  void put_job(const history::JobState& job) {
    const metrics::SharingTimes* const told = told_.find(job.id);
    if (told != nullptr && told->job_class) text_.print(R"(,"class":"{}")", to_text(*told->job_class));
    text_.print(R"(,"requested":{})", job.requested);
    const metrics::ChosenSize* const size = sizes_.find(job.id);
    if (size != nullptr && size->choice.optimal != 0) text_.print(R"(,"optimal":{})", size->choice.optimal);
    for (const auto& [name, value] :
         {std::pair{"user", job.user}, {"group", job.group}, {"queue", job.queue}, {"program", job.executable}})
      if (value >= 0) text_.print(R"(,"{}":{})", name, value);
    text_.print(R"(,"submitted_s":{},"wait_s":{},"estimate_s":{},"expanded_runtime_s":{})", to_text(job.submitted),
                to_text(job.launched - job.submitted), to_text(job.estimate), to_text(job.runtime));
  }

  TextBlock text_;
  PointStream points_{*this};
  metrics::Stretches stretches_{*this};
  metrics::ChosenSizes sizes_;
  metrics::SharingFacts told_;
  history::Follower follower_{{&points_, this, &stretches_, &sizes_, &told_}};
  metrics::Point last_;
  bool has_point_ = false;
  CoreSeats seats_;  // on the first cores of ranges
  log::NodeNames names_;
  std::vector<bool> nodes_, run_rows_, suspended_rows_, group_rows_;  // that have a name
  std::vector<std::vector<bool>> seen_;                               // by seat, the rows of cores that have a name
  Lanes suspended_lanes_, group_lanes_;
  std::map<JobId, Group> groups_;  // open ones, by primary
};

}  // namespace

Remarks export_perfetto(const RunLog& run, const ExportFiles& files) {
  const std::unique_ptr<ByteSink> sink = open_sink(files.front());
  PerfettoTrace trace{*sink};
  const RunLog::Read read = run.read(trace.follower());
  trace.finish(read.last);
  sink->close();
  return {};
}

}  // namespace replay::results
