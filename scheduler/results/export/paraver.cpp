#include "scheduler/results/export/paraver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/paraver_survey.hpp"
#include "scheduler/results/export/point_stream.hpp"
#include "scheduler/results/export/text_block.hpp"

namespace replay::results {
namespace {

enum class State : std::uint8_t { kIdle, kRunning, kWaiting, kShrunk, kSuspended, kShareable };
struct StateName {
  State state;
  std::string_view name, colour;
};
constexpr std::array<StateName, 6> kStates = {
    {{State::kIdle, "Idle", "117,195,255"},
     {State::kRunning, "Running", "0,0,255"},
     {State::kWaiting, "Waiting in queue", "255,255,170"},
     {State::kShrunk, "Running, shrunk", "255,128,0"},
     {State::kSuspended, "Suspended", "160,80,200"},
     {State::kShareable, "Running on cores that may be shared", "0,150,110"}}};

struct EventType {
  std::int64_t type;
  std::string_view name;
};
constexpr std::int64_t kJobEvent = 9'000'001, kProcessesEvent = 9'000'002;
constexpr std::int64_t kQueueEvent = 9'000'011, kBusyEvent = 9'000'012, kRunningEvent = 9'000'013,
                       kSuspendedEvent = 9'000'014, kProcessesInAllEvent = 9'000'015;
constexpr std::array<EventType, 7> kEvents = {{{kJobEvent, "Job (0: none)"},
                                               {kProcessesEvent, "Processes of the job per core, at most"},
                                               {kQueueEvent, "Queue length"},
                                               {kBusyEvent, "Busy cores"},
                                               {kRunningEvent, "Running jobs"},
                                               {kSuspendedEvent, "Suspended jobs"},
                                               {kProcessesInAllEvent, "Processes of running jobs"}}};

// 0 is "none".
std::int64_t event_value(JobId job) { return number(job) == 0 ? -1 : number(job); }

// The place of a record: application, task and thread, from 1.
struct Place {
  std::size_t application = 1, task = 1, thread = 1;
};

class ParaverTrace final : public history::Observer, private metrics::StretchReader, private PointReader {
 public:
  ParaverTrace(ByteSink& sink, const ParaverSurvey& survey) : text_(sink), survey_(survey) {}

  [[nodiscard]] history::Follower& follower() { return follower_; }

  void on_begin(const log::Header& /*header*/, const Machine& /*machine*/) override {
    // There is no date in a log: traces count from zero.
    text_.print("#Paraver (01/01/1970 at 00:00):{}:{}(", time(survey_.last()), machine().nodes());
    for (int node = 0; node < machine().nodes(); ++node)
      text_.print("{}{}", node == 0 ? "" : ",", machine().cores_of(NodeId{node}).size());
    text_.put("):");
    if (survey_.has_applications()) {
      text_.print("{}", survey_.applications().size());
      for (const ParaverApplication& application : survey_.applications()) put_tasks(application.threads);
    } else {
      text_.put("1");
      std::map<NodeId, CoreCount> threads;
      for (int node = 0; node < machine().nodes(); ++node)
        threads[NodeId{node}] = machine().cores_of(NodeId{node}).size() * static_cast<CoreCount>(seats());
      put_tasks(threads);
    }
    text_.put("\n");
  }

  void on_submit(Instant at, const history::JobState& job) override { wait(job.id, at); }
  void on_change(Instant at, const history::Before& /*before*/, const history::JobState& job) override {
    if (job.phase == history::Phase::kWaiting) wait(job.id, at);
  }

  void finish() {
    points_.finish();
    stretches_.open(survey_.last(), *this);
    text_.flush();
  }

 private:
  [[nodiscard]] const Machine& machine() const { return survey_.machine(); }
  [[nodiscard]] std::size_t seats() const { return std::max<std::size_t>(survey_.seats(), 1); }
  [[nodiscard]] std::int64_t time(Instant at) const { return (at - survey_.first()).count(); }

  void put_tasks(const std::map<NodeId, CoreCount>& threads) {
    text_.print(":{}(", threads.size());
    bool is_first = true;
    for (const auto& [node, count] : threads) {
      text_.print("{}{}:{}", is_first ? "" : ",", count, static_cast<int>(node) + 1);
      is_first = false;
    }
    text_.put(")");
  }

  void put_state(std::int64_t cpu, const Place& place, Instant from, Instant to, State state) {
    if (from < to)
      text_.print("1:{}:{}:{}:{}:{}:{}:{}\n", cpu, place.application, place.task, place.thread, time(from), time(to),
                  static_cast<int>(state));
  }

  void wait(JobId job, Instant at) {
    if (const auto application = survey_.application_of(job))
      put_state(0, {*application + 1, 1, 1}, at,
                survey_.applications()[*application].waits_until[waits_[*application]++], State::kWaiting);
  }

  // Of the `index`th core that the job has on the node, or of the seat.
  [[nodiscard]] Place place_of(std::optional<std::size_t> application, NodeId node, std::size_t index) const {
    if (!application) return {1, index_of(node) + 1, index + 1};
    const auto& threads = survey_.applications()[*application].threads;
    return {*application + 1, static_cast<std::size_t>(std::distance(threads.begin(), threads.find(node))) + 1,
            index + 1};
  }

  // Calls visit(CoreId, Place) for each core of the stretch. `seat` gives the seat of the job on a core.
  template <class Seat, class Visit>
  void for_each_place(const metrics::Stretch& stretch, Seat seat, Visit visit) {
    const auto application = survey_.application_of(stretch.job);
    NodeId node{-1};
    std::size_t of_node = 0;  // cores of the job so far
    for_each_node_range(stretch.cores, machine(), [&](NodeId here, const CoreRange& range) {
      if (here != node) of_node = 0;
      node = here;
      const CoreRange all = machine().cores_of(node);
      for (const CoreId core : range) {
        const std::size_t taken = seat(core) * static_cast<std::size_t>(all.size());
        visit(core, place_of(application, node, application ? of_node : index_of(core) - index_of(all.first) + taken));
        ++of_node;
      }
    });
  }

  void begins(const metrics::Stretch& stretch) override {
    const Instant end = survey_.end_of(begun_++);
    if (stretch.kind == metrics::Stretch::Kind::kSuspended) {  // its cores belong to others
      if (const auto application = survey_.application_of(stretch.job))
        put_state(0, {*application + 1, 1, 1}, stretch.from, end, State::kSuspended);
      return;
    }
    const State state = stretch.is_shrunk() ? State::kShrunk : stretch.shareable ? State::kShareable : State::kRunning;
    for_each_place(
        stretch, [&](CoreId core) { return seats_.take(core, stretch.job); },
        [&](CoreId core, const Place& place) {
          if (stretch.from >= end) return;
          put_state(number(core) + 1, place, stretch.from, end, state);
          put_event(core, place, stretch.from, event_value(stretch.job), stretch.mpl);
        });
  }
  void taken_back(const metrics::Stretch& stretch) override { end(stretch, false); }
  void stretch(const metrics::Stretch& stretch) override { end(stretch, stretch.from < stretch.to); }
  void end(const metrics::Stretch& stretch, bool is_shown) {
    if (stretch.kind == metrics::Stretch::Kind::kSuspended) return;
    for_each_place(
        stretch, [&](CoreId core) { return seats_.leave(core, stretch.job); },
        [&](CoreId core, const Place& place) {
          if (is_shown) put_event(core, place, stretch.to, 0, 0);
        });
  }
  void put_event(CoreId core, const Place& place, Instant at, std::int64_t job, std::int32_t mpl) {
    text_.print("2:{}:{}:{}:{}:{}:{}:{}:{}:{}\n", number(core) + 1, place.application, place.task, place.thread,
                time(at), kJobEvent, job, kProcessesEvent, mpl);
  }

  // On the first thread of the first application, without a CPU.
  void point(const metrics::Point& point) override {
    text_.print("2:0:1:1:1:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}\n", time(point.at), kQueueEvent, point.queued, kBusyEvent,
                point.busy_cores, kRunningEvent, point.running, kSuspendedEvent, point.suspended, kProcessesInAllEvent,
                point.processes);
  }

  TextBlock text_;
  const ParaverSurvey& survey_;
  PointStream points_{*this};
  metrics::Stretches stretches_{*this};
  history::Follower follower_{{&points_, this, &stretches_}};
  CoreSeats seats_;
  std::size_t begun_ = 0;
  std::unordered_map<std::size_t, std::size_t> waits_;  // by application: how many have begun
};

void write_pcf(ByteSink& sink, const ParaverSurvey& survey) {
  TextBlock text(sink);
  text.print(
      "DEFAULT_OPTIONS\n\nLEVEL               {}\nUNITS               MICROSEC\nLOOK_BACK           100\n"
      "SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
      "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n",
      survey.has_applications() ? "APPL" : "CPU");
  for (const StateName& state : kStates) text.print("{}    {}\n", static_cast<int>(state.state), state.name);
  text.put("\n\nSTATES_COLOR\n");
  for (const StateName& state : kStates) text.print("{}    {{{}}}\n", static_cast<int>(state.state), state.colour);
  for (const EventType& event : kEvents) text.print("\n\nEVENT_TYPE\n0    {}    {}\n", event.type, event.name);
  text.put("\n");
  text.flush();
}

void write_row(ByteSink& sink, const ParaverSurvey& survey) {
  TextBlock text(sink);
  const Machine& machine = survey.machine();
  const log::NodeNames names{survey.header(), machine};
  text.print("LEVEL CPU SIZE {}\n", machine.size());
  for (const CoreId core : machine.cores()) text.print("core {}\n", core);
  text.print("\nLEVEL NODE SIZE {}\n", machine.nodes());
  for (int node = 0; node < machine.nodes(); ++node) text.print("{}\n", names.of(NodeId{node}));
  if (!survey.has_applications()) {
    text.print("\nLEVEL APPL SIZE 1\n{}\n",
               clean_line(fmt::format("{} on {}", survey.header().value("policy"), survey.header().value("machine"))));
    text.print("\nLEVEL TASK SIZE {}\n", machine.nodes());
    for (int node = 0; node < machine.nodes(); ++node) text.print("{}\n", names.of(NodeId{node}));
    const std::size_t seats = std::max<std::size_t>(survey.seats(), 1);
    text.print("\nLEVEL THREAD SIZE {}\n", static_cast<std::size_t>(machine.size()) * seats);
    for (int node = 0; node < machine.nodes(); ++node)
      for (std::size_t seat = 0; seat < seats; ++seat)
        for (const CoreId core : machine.cores_of(NodeId{node}))
          text.print("core {}{}\n", core, seat == 0 ? "" : fmt::format(", job {} on it", seat + 1));
    text.flush();
    return;
  }
  std::size_t tasks = 0, threads = 0;
  for (const ParaverApplication& application : survey.applications()) {
    tasks += application.threads.size();
    for (const auto& [node, count] : application.threads) threads += static_cast<std::size_t>(count);
  }
  text.print("\nLEVEL APPL SIZE {}\n", survey.applications().size());
  for (const ParaverApplication& application : survey.applications()) text.print("job {}\n", number(application.job));
  text.print("\nLEVEL TASK SIZE {}\n", tasks);
  for (const ParaverApplication& application : survey.applications())
    for (const auto& [node, count] : application.threads)
      text.print("job {} on node {}\n", number(application.job), static_cast<int>(node));
  text.print("\nLEVEL THREAD SIZE {}\n", threads);
  for (const ParaverApplication& application : survey.applications())
    for (const auto& [node, count] : application.threads)
      for (CoreCount i = 1; i <= count; ++i)
        text.print("job {} on node {}, core {} of {}\n", number(application.job), static_cast<int>(node), i, count);
  text.flush();
}

}  // namespace

Remarks export_paraver(const RunLog& run, const ExportFiles& files) { return export_paraver(run, files, {}); }

Remarks export_paraver(const RunLog& run, const ExportFiles& files, const ParaverLimits& limits) {
  ParaverSurvey survey{limits};
  const RunLog::Read read = run.read(survey.follower());
  survey.finish(read);
  std::vector<std::unique_ptr<ByteSink>> sinks;
  for (const std::string& file : files) sinks.push_back(open_sink(file));
  ParaverTrace trace{*sinks[0], survey};
  (void)run.read(trace.follower(), read.records);
  trace.finish();
  write_pcf(*sinks[1], survey);
  write_row(*sinks[2], survey);
  for (const auto& sink : sinks) sink->finish();
  for (const auto& sink : sinks) sink->close();
  if (survey.has_applications()) return {};
  return {
      fmt::format("{} {} for an application each: one application stands for the machine, and the job is the value of "
                  "event {}",
                  counted(survey.jobs(), "job"), survey.jobs() == 0 ? "give nothing" : "are too many", kJobEvent)};
}

}  // namespace replay::results
