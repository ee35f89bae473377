#include "scheduler/validate/paper_experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "traces/history.hpp"
#include "traces/models/lublin_workload.hpp"
#include "traces/tools/match.hpp"
#include "traces/trace_stream.hpp"

namespace replay::validate {
namespace fs = std::filesystem;
namespace {

LublinOrder order_of(const PaperWorkload& workload, std::string_view arrivals, int load_percent, std::uint64_t seed) {
  LublinOrder order;
  order.model.machine_size = workload.cores;
  order.model.typeless = default_lublin_parameters(LublinKind::kTypeless, workload.cores);
  order.model.arrivals = arrivals == "poisson" ? ArrivalProcess::kPoisson : ArrivalProcess::kLublin;
  order.model.seed = Seed{seed};
  order.jobs = workload.jobs;
  order.duration = workload.duration_s;
  order.load = load_percent / 100.0;
  order.solve = SolveFor::kRuntimes;
  order.min_runtime = workload.min_runtime_s;
  return order;
}

// The model's times are whole seconds, too coarse for jobs of a second, so it makes jobs ten times too long.
constexpr double kModelSeconds = 10;

// Gives each job the benchmark that is nearest in run time, and that benchmark's run time and CPU use, for the
// simulator. A job of a size that was not measured gets the figures of the nearest size.
class Benchmarks {
 public:
  explicit Benchmarks(const std::string& file)
      : profile_(read_profile(file)), matcher_(candidates_of(profile_), {.time_scale = 1 / kModelSeconds}) {}

  void add_to(SwfHeader& header) const {
    matcher_.set_programs(header);
    note_history(header, "replay trace match");
  }
  void apply(TraceEntry& entry) {
    matcher_.apply(entry);
    const ProfileEntry* found = nullptr;
    const std::string& command = matcher_.programs().at(static_cast<std::size_t>(entry.record.executable));
    for (const ProfileEntry& e : profile_.entries)
      if (e.command == command && (found == nullptr || distance(e, entry) < distance(*found, entry))) found = &e;
    entry.record.run = from_seconds(found->runtime_s.value);
    if (found->cpu_use) entry.record.average_cpu = from_seconds(found->runtime_s.value * found->cpu_use->value);
  }

 private:
  static std::vector<MatchCandidate> candidates_of(const Profile& profile) {
    std::vector<MatchCandidate> candidates;
    for (const ProfileEntry& entry : profile.entries)
      candidates.push_back({entry.command, entry.processes, entry.runtime_s.value});
    return candidates;
  }
  static double distance(const ProfileEntry& entry, const TraceEntry& job) {
    return std::abs(std::log(static_cast<double>(entry.processes) / job.record.allocated));
  }

  Profile profile_;
  Matcher matcher_;
};

// Processor seconds.
double work_of(const std::vector<TraceEntry>& entries) {
  double work = 0;
  for (const TraceEntry& entry : entries) work += seconds(entry.record.run) * entry.record.allocated;
  return work;
}

void stretch_arrivals(std::vector<TraceEntry>& entries, double factor) {
  for (TraceEntry& entry : entries) entry.record.submit = from_seconds(seconds(entry.record.submit) * factor);
}

}  // namespace

PaperWorkload emulated_workload() { return {}; }

PaperWorkload physical_workload(CoreCount cores, std::string profile) {
  return {.cores = cores, .jobs = 60, .duration_s = 3000, .min_runtime_s = 10, .profile = std::move(profile)};
}

std::string write_paper_trace(const fs::path& folder, const PaperWorkload& workload, std::string_view arrivals,
                              int load_percent, std::uint64_t seed) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  const LublinOrder order = order_of(workload, arrivals, load_percent, seed);
  const LublinPlan plan = plan_lublin(order);
  std::optional<Benchmarks> benchmarks;
  if (!workload.profile.empty()) benchmarks.emplace(workload.profile);
  SwfHeader header = lublin_header(order, lublin_totals(order, plan));
  if (benchmarks) benchmarks->add_to(header);
  note_history(header, fmt::format("replay trace declare --estimates factor:{:g}", kEstimateFactor));

  const fs::path file = folder / fmt::format("{}-{}-{}.swf", arrivals, load_percent, seed);
  std::vector<TraceEntry> entries;
  LublinTrace trace(order, plan);
  for (LublinJob job; trace.next(job);) entries.push_back({lublin_record(entries.size() + 1, job), {}});
  if (benchmarks) {
    const double wanted = work_of(entries);
    for (TraceEntry& entry : entries) benchmarks->apply(entry);
    const double factor = work_of(entries) / wanted;  // so that the load holds
    stretch_arrivals(entries, factor);
    note_history(header, fmt::format("replay trace scale --exact --arrivals {}", factor));
  }
  TraceWriter writer(file.string(), {.force = true});
  writer.write(header);
  for (TraceEntry& entry : entries) {
    entry.record.requested_time = from_seconds(seconds(entry.record.run) * kEstimateFactor);
    writer.write(entry);
  }
  writer.close();
  return file.string();
}

std::vector<ValidationCell> paper_cells(const fs::path& traces, const PaperWorkload& workload, std::uint64_t seed) {
  std::vector<ValidationCell> cells;
  for (const int load : kPaperLoads)
    for (const std::string_view arrivals : kPaperArrivals) {
      const std::string trace = write_paper_trace(traces, workload, arrivals, load, seed);
      for (const std::string_view policy : kPaperPolicies) {
        ValidationCell cell{.name = {}, .trace = trace, .policy = std::string{policy}};
        cell.load_percent = load;
        cell.arrivals = arrivals;
        cell.name = cell_name(cell.load_percent, cell.arrivals, cell.policy);
        cells.push_back(std::move(cell));
      }
    }
  return cells;
}

}  // namespace replay::validate
