// A run as a Paje trace, which PajeNG and ViTE open: containers cluster, node and core; on a core the job that is on it as
// a state; queue, busy cores and MPL as variables of the cluster; changes of jobs as its events. docs/export.md says what it
// holds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/results/export/core_seats.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/point_stream.hpp"
#include "scheduler/results/export/text_block.hpp"
#include "scheduler/results/export/writers.hpp"

namespace replay::results {
namespace {

// The numbers of the event definitions below.
constexpr std::string_view kDefinitions = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeDefineEventType 3
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeDefineEntityValue 4
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 5
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 7
% Time date
% Type string
% Container string
% Value string
% Cores int
% Processes int
% Mpl int
%EndEventDef
%EventDef PajePopState 8
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSetVariable 9
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeNewEvent 10
% Time date
% Type string
% Container string
% Value string
% Job string
% Text string
%EndEventDef
0 T 0 Cluster
0 N T Node
0 C N Core
2 VQ T "Queue length" "0.8 0.2 0.2"
2 VW T "Waiting processors" "0.8 0.5 0.2"
2 VB T "Busy cores" "0.2 0.6 0.2"
2 VR T "Running jobs" "0.2 0.4 0.8"
2 VS T "Suspended jobs" "0.5 0.2 0.6"
2 VM T MPL "0.3 0.3 0.3"
3 E T Change "0.1 0.1 0.1"
4 shrunk E shrunk "0.9 0.6 0.0"
4 expanded E expanded "0.0 0.6 0.5"
4 suspended E suspended "0.5 0.2 0.6"
4 resumed E resumed "0.4 0.7 0.9"
4 ended E "not completed" "0.8 0.1 0.1"
4 failed E "order failed" "0.8 0.1 0.5"
4 note E note "0.4 0.4 0.4"
)";

constexpr std::size_t kMostSeats = 64;  // jobs on a core at once

constexpr std::array<std::string_view, 12> kColours = {
    "0.12 0.47 0.71", "1.00 0.50 0.05", "0.17 0.63 0.17", "0.84 0.15 0.16", "0.58 0.40 0.74", "0.55 0.34 0.29",
    "0.89 0.47 0.76", "0.74 0.74 0.13", "0.09 0.75 0.81", "0.68 0.78 0.91", "1.00 0.73 0.47", "0.60 0.87 0.54"};

// In its quotes. The format has no escapes: a double quote becomes a single one. PajeNG reads no empty text.
std::string paje_text(std::string_view text) {
  std::string clean = clean_line(text);
  if (clean.empty()) clean = "-";
  std::ranges::replace(clean, '"', '\'');
  return fmt::format("\"{}\"", clean);
}

class PajeTrace final : public history::Observer, private metrics::StretchReader, private PointReader {
 public:
  explicit PajeTrace(ByteSink& sink) : text_(sink) {}

  /// Points come in front of what happens after them, and events in front of the states that they change.
  [[nodiscard]] history::Follower& follower() { return follower_; }

  void on_begin(const log::Header& /*header*/, const Machine& machine) override {
    expect_rows_for(machine);
    text_.put(kDefinitions);
  }
  void on_submit(Instant at, const history::JobState& /*job*/) override { create_containers(at); }
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override {
    using enum history::Phase;
    if (before.phase == kWaiting) return;
    if (job.phase == kWaiting) return;  // told with the reason
    if (job.phase == kSuspended) return put(at, "suspended", job.id, "");
    if (before.phase == kSuspended) return put(at, "resumed", job.id, "");
    const CoreCount had = before.held.cores, has = job.held.cores;
    if (had != has) put(at, has < had ? "shrunk" : "expanded", job.id, fmt::format("{} -> {} cores", had, has));
  }
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override {
    defined_.erase(job.id);
    if (end.outcome == Outcome::kCompleted && end.verification != Verification::kFailed) return;
    put(at, "ended", job.id, fmt::format("{} {}", to_text(end.outcome), end.reason));
  }
  void on_record(const log::Record& record, const history::JobState* /*job*/) override {
    create_containers(record.at);
    if (const auto* const failed = std::get_if<log::Failed>(&record.what))
      put(record.at, "failed", failed->job, fmt::format("{}: {}", failed->action, failed->reason));
    else if (const auto* const note = std::get_if<log::Note>(&record.what))
      put_line(record.at, "note", "run", note->text);
    else if (const auto* const requeued = std::get_if<log::Requeued>(&record.what))
      put(record.at, node_value("requeued"), requeued->job, requeued->reason);
    else if (const auto* const node = std::get_if<NodeChange>(&record.what))
      put_line(record.at, node_value("node"), names_.of(node->node), to_text(*node));
  }
  [[nodiscard]] log::Kinds records() const override {
    return log::kinds<log::Failed, log::Note, log::Requeued, NodeChange>();
  }

  void finish(Instant last) {
    create_containers(last);
    points_.finish();
    stretches_.open(last, *this);
    const std::string at = to_text(last);
    for (const CoreId core : follower_.machine().cores()) text_.print("6 {} C c{}\n", at, core);
    for (int node = 0; node < follower_.machine().nodes(); ++node) text_.print("6 {} N n{}\n", at, node);
    text_.print("6 {} T t\n", at);
    text_.flush();
  }

 private:
  void put(Instant at, std::string_view value, JobId job, std::string_view text) {
    put_line(at, value, fmt::format("job {}", number(job)), text);
  }
  void put_line(Instant at, std::string_view value, std::string_view about, std::string_view text) {
    text_.print("10 {} E t {} \"{}\" {}\n", to_text(at), value, about, paje_text(text));
  }

  // The values of changes that come with node events are defined when there are some.
  std::string_view node_value(std::string_view value) {
    if (!std::exchange(has_node_values_, true))
      text_.put("4 requeued E \"waits again\" \"0.8 0.4 0.1\"\n4 node E \"state of a node\" \"0.3 0.3 0.5\"\n");
    return value;
  }

  // With the first record: nothing is earlier in a trace than its containers.
  void create_containers(Instant at) {
    if (std::exchange(has_begun_, true)) return;
    const Machine& machine = follower_.machine();
    const log::Header& header = follower_.of_run();
    const std::string time = to_text(at);
    text_.print("5 {} t T 0 {}\n", time,
                paje_text(fmt::format("{} on {}", header.value("policy"), header.value("machine"))));
    names_ = {header, machine};
    for (int node = 0; node < machine.nodes(); ++node) {
      text_.print("5 {} n{} N t \"{}\"\n", time, node, machine.names_cores() ? names_.of(NodeId{node}) : "pool");
      for (const CoreId core : machine.cores_of(NodeId{node}))
        text_.print("5 {} c{} C n{} \"core {}\"\n", time, core, node, core);
    }
    for (const auto& [name, value] : header.entries)  // ViTE warns of comments
      text_.print("10 {} E t note \"run\" {}\n", time, paje_text(fmt::format("{}: {}", name, value)));
  }

  // The state type of a seat, which is defined when it is first used: viewers draw a row for each.
  void define_seat(std::size_t seat) {
    for (; seats_defined_ <= seat; ++seats_defined_)
      text_.print("1 S{0} C \"{1}\"\n", seats_defined_,
                  seats_defined_ == 0 ? "Job" : fmt::format("Job {} on the core", seats_defined_ + 1));
  }
  // A job is a value of each state type that it has been in.
  void define_job(JobId job, std::size_t seat) {
    std::uint64_t& seats = defined_[job];
    if ((seats >> seat & 1) != 0) return;
    seats |= std::uint64_t{1} << seat;
    text_.print("4 j{0}s{1} S{1} \"job {0}\" \"{2}\"\n", number(job), seat,
                kColours[static_cast<std::uint64_t>(number(job)) % kColours.size()]);
  }

  void point(const metrics::Point& point) override {
    const std::string at = to_text(point.at);
    const auto put = [&](std::string_view type, std::int64_t before, std::int64_t now) {
      if (!has_point_ || before != now) text_.print("9 {} {} t {}\n", at, type, now);
    };
    put("VQ", last_.queued, point.queued);
    put("VW", last_.waiting_processors, point.waiting_processors);
    put("VB", last_.busy_cores, point.busy_cores);
    put("VR", last_.running, point.running);
    put("VS", last_.suspended, point.suspended);
    if (!has_point_ || last_.processes != point.processes)
      text_.print("9 {} VM t {:.6f}\n", at, static_cast<double>(point.processes) / follower_.machine().size());
    last_ = point;
    has_point_ = true;
  }

  void begins(const metrics::Stretch& stretch) override {
    if (stretch.kind != metrics::Stretch::Kind::kRuns) return;
    const CoreCount cores = stretch.core_count();
    const std::string at = to_text(stretch.from);
    for (const CoreRange& range : stretch.cores)
      for (const CoreId core : range) {
        const std::size_t seat = seats_.take(core, stretch.job);
        if (seat >= kMostSeats)
          throw log::BadRecord(fmt::format("core {} has more than {} jobs at once", core, kMostSeats));
        define_seat(seat);
        define_job(stretch.job, seat);
        text_.print("7 {0} S{1} c{2} j{3}s{1} {4} {5} {6}\n", at, seat, core, number(stretch.job), cores,
                    stretch.processes, stretch.mpl);
      }
  }
  void taken_back(const metrics::Stretch& stretch) override { pop(stretch); }
  void stretch(const metrics::Stretch& stretch) override { pop(stretch); }
  void pop(const metrics::Stretch& stretch) {
    if (stretch.kind != metrics::Stretch::Kind::kRuns) return;
    const std::string at = to_text(stretch.to);
    for (const CoreRange& range : stretch.cores)
      for (const CoreId core : range) text_.print("8 {} S{} c{}\n", at, seats_.leave(core, stretch.job), core);
  }

  TextBlock text_;
  PointStream points_{*this};
  metrics::Stretches stretches_{*this};
  history::Follower follower_{{&points_, this, &stretches_}};
  bool has_begun_ = false, has_node_values_ = false;
  log::NodeNames names_;
  metrics::Point last_;
  bool has_point_ = false;
  CoreSeats seats_;
  std::size_t seats_defined_ = 0;
  std::unordered_map<JobId, std::uint64_t> defined_;  // of jobs that have not ended, bits by seat
};

}  // namespace

Remarks export_paje(const RunLog& run, const ExportFiles& files) {
  const std::unique_ptr<ByteSink> sink = open_sink(files.front());
  PajeTrace trace{*sink};
  const RunLog::Read read = run.read(trace.follower());
  trace.finish(read.last);
  sink->close();
  return {};
}

}  // namespace replay::results
