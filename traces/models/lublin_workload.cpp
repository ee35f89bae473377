#include "traces/models/lublin_workload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "scheduler/base/error.hpp"
#include "traces/history.hpp"
#include "traces/models/solve.hpp"
#include "traces/offered_load.hpp"

namespace replay {
namespace {

constexpr double kWanted = 1e-4;    // of a load, relative: times are whole seconds
constexpr double kPromised = 0.01;  // of a load, relative

void check(const LublinOrder& order) {
  if (order.jobs && *order.jobs == 0) throw UsageError("--jobs: expected at least 1, found 0");
  if (order.duration && *order.duration < 1) throw UsageError("--duration: expected at least 1 s");
  if (order.load) expect_offered_load(*order.load);
  if (order.max_runtime && *order.max_runtime < order.min_runtime)
    throw UsageError(fmt::format("--max-runtime: expected at least --min-runtime, {} s, found {} s", order.min_runtime,
                                 *order.max_runtime));
  if (order.load && order.jobs && *order.jobs == 1) throw UsageError("--load: expected at least two jobs, found one");
  if (order.load && order.solve == SolveFor::kArrivals && order.jobs && order.duration)
    throw UsageError(
        "--load with --solve arrivals: --jobs and --duration together fix the arrivals; expected one of them, or "
        "--solve runtimes");
}

LublinTotals add_up(const LublinOrder& order, const LublinPlan& plan,
                    const std::function<bool(const LublinTotals&)>& enough) {
  LublinTotals totals;
  LublinTrace trace(order, plan);
  for (LublinJob job; !enough(totals) && trace.next(job);) {
    if (totals.jobs++ == 0) totals.first = job.arrival;
    totals.last = job.arrival;
    totals.work += static_cast<double>(job.size) * static_cast<double>(job.runtime);
  }
  return totals;
}

std::uint64_t jobs_within_duration(const LublinOrder& order) {
  LublinStream stream(order.model);
  std::uint64_t jobs = 0;
  while (stream.next().arrival <= *order.duration) ++jobs;
  if (jobs == 0)
    throw UsageError(
        fmt::format("--duration: no job arrives within {} s: expected a longer one, or --jobs", *order.duration));
  return jobs;
}

// The number of jobs that have the work of that load over that duration; the nearest count, at least two.
std::uint64_t jobs_with_the_work(const LublinOrder& order) {
  const double wanted = *order.load * order.model.machine_size * static_cast<double>(*order.duration);
  double before = 0;
  const LublinTotals totals = add_up(order, {.jobs = ~std::uint64_t{0}}, [&](const LublinTotals& t) {
    if (t.work >= wanted) return true;
    before = t.work;
    return false;
  });
  return std::max<std::uint64_t>(wanted - before < totals.work - wanted ? totals.jobs - 1 : totals.jobs, 2);
}

std::uint64_t count_jobs(const LublinOrder& order) {
  if (order.jobs) return *order.jobs;
  if (!order.duration) return kDefaultLublinJobs;
  return order.load && order.solve == SolveFor::kArrivals ? jobs_with_the_work(order) : jobs_within_duration(order);
}

// Finds the gap factor with which the last job arrives in the second in which the duration ends.
void span_duration(const LublinOrder& order, LublinPlan& plan) {
  const auto wanted = static_cast<double>(*order.duration);
  const auto last_arrival = [&](double factor) {
    LublinStream stream(order.model, factor);
    LublinJob job;
    for (std::uint64_t i = 0; i < plan.jobs; ++i) job = stream.next();
    return static_cast<double>(job.arrival);
  };
  const Solution solution = solve_factor(last_arrival, wanted, 0);
  if (std::abs(solution.value - wanted) > 1)
    throw UsageError(
        fmt::format("--duration: {} jobs cannot end at {} s, only at {} s", plan.jobs, wanted, solution.value));
  plan.gap_factor = solution.factor;
}

// Solves for the time from first to last arrival per work, which rises with the factor; the load itself falls with it.
void meet_load_by_arrivals(const LublinOrder& order, LublinPlan& plan) {
  const auto inverse_load = [&](double factor) {
    LublinPlan tried = plan;
    tried.gap_factor = factor;
    const LublinTotals totals = lublin_totals(order, tried);
    return static_cast<double>(totals.last - totals.first) * order.model.machine_size / totals.work;
  };
  plan.gap_factor = solve_factor(inverse_load, 1 / *order.load, kWanted).factor;
}

void meet_load_by_runtimes(const LublinOrder& order, LublinPlan& plan) {
  const auto load = [&](double factor) {
    LublinPlan tried = plan;
    tried.runtime_factor = factor;
    return lublin_totals(order, tried).load(order.model.machine_size);
  };
  plan.runtime_factor = solve_factor(load, *order.load, kWanted).factor;
}

void expect_load(const LublinOrder& order, const LublinPlan& plan) {
  const double load = lublin_totals(order, plan).load(order.model.machine_size);
  if (std::abs(load - *order.load) <= kPromised * *order.load) return;
  throw UsageError(
      fmt::format("--load {}: cannot be met with these {} jobs; the nearest is {:.4g} (times are whole seconds, run "
                  "times from {} s{})",
                  *order.load, plan.jobs, load, order.min_runtime,
                  order.max_runtime ? fmt::format(" to {} s", *order.max_runtime) : std::string()));
}

void append_parameters(std::string& text, const LublinOrder& order) {
  const auto append = [&](LublinKind kind, const LublinParameters& p, std::string_view prefix) {
    const LublinParameters usual = default_lublin_parameters(kind, order.model.machine_size);
    for (const LublinParameter& entry : kLublinParameters) {
      const bool is_said = entry.member == &LublinParameters::umed && p.uhi != usual.uhi;  // else it follows uhi
      if (is_said || p.*entry.member != usual.*entry.member)
        text += fmt::format(" --{}{} {}", prefix, entry.name, p.*entry.member);
    }
  };
  if (!order.model.types) return append(LublinKind::kTypeless, order.model.typeless, "");
  append(LublinKind::kInteractive, order.model.interactive, "interactive.");
  append(LublinKind::kBatch, order.model.batch, "batch.");
}

}  // namespace

double LublinTotals::load(CoreCount machine_size) const {
  return work / (static_cast<double>(last - first) * machine_size);
}

LublinTrace::LublinTrace(const LublinOrder& order, const LublinPlan& plan)
    : order_(order), plan_(plan), stream_(order.model, plan.gap_factor) {}

bool LublinTrace::next(LublinJob& job) {
  if (given_ == plan_.jobs) return false;
  job = stream_.next();
  if (job.arrival > kMostSwfSeconds)
    throw UsageError(
        fmt::format("job {} would arrive after more than {} s, which is too late for SWF: expected fewer jobs, or "
                    "denser ones by --load or --duration",
                    given_ + 1, kMostSwfSeconds));
  if (plan_.runtime_factor != 1) {
    const double scaled = static_cast<double>(job.runtime) * plan_.runtime_factor;
    job.runtime = std::llround(std::min(scaled, static_cast<double>(kMostSwfRunSeconds)));
  }
  job.runtime = std::max(job.runtime, order_.min_runtime);
  if (order_.max_runtime) job.runtime = std::min(job.runtime, *order_.max_runtime);
  ++given_;
  return true;
}

LublinPlan plan_lublin(const LublinOrder& order) {
  check(order);
  LublinPlan plan{.jobs = count_jobs(order)};
  if (order.jobs && order.duration) span_duration(order, plan);
  if (!order.load) return plan;
  if (order.solve == SolveFor::kArrivals)
    meet_load_by_arrivals(order, plan);
  else
    meet_load_by_runtimes(order, plan);
  expect_load(order, plan);
  return plan;
}

LublinTotals lublin_totals(const LublinOrder& order, const LublinPlan& plan) {
  return add_up(order, plan, [](const LublinTotals&) { return false; });
}

SwfRecord lublin_record(std::uint64_t number, const LublinJob& job) {
  SwfRecord record;
  record.job = static_cast<std::int64_t>(number);
  record.submit = std::chrono::seconds{job.arrival};
  record.run = std::chrono::seconds{job.runtime};
  record.allocated = job.size;
  record.status = 1;
  record.queue = job.batch ? 1 : 0;
  return record;
}

std::string lublin_command(const LublinOrder& order) {
  const LublinModel& model = order.model;
  std::string text = "replay generate lublin";
  if (model.types) text += " --types";
  if (order.jobs || !order.duration) text += fmt::format(" --jobs {}", order.jobs.value_or(kDefaultLublinJobs));
  if (order.duration) text += fmt::format(" --duration {}s", *order.duration);
  text += fmt::format(" --machine-size {}", model.machine_size);
  if (order.load)
    text +=
        fmt::format(" --load {} --solve {}", *order.load, order.solve == SolveFor::kArrivals ? "arrivals" : "runtimes");
  if (model.arrivals == ArrivalProcess::kPoisson) text += " --arrivals poisson";
  if (order.min_runtime > 1) text += fmt::format(" --min-runtime {}s", order.min_runtime);
  if (order.max_runtime) text += fmt::format(" --max-runtime {}s", *order.max_runtime);
  if (model.start_hour != 0) text += fmt::format(" --start-hour {}", model.start_hour);
  append_parameters(text, order);
  if (model.generator == Generator::kDrand48) text += " --rng drand48";
  return text + fmt::format(" --seed {}", static_cast<std::uint64_t>(model.seed));
}

SwfHeader lublin_header(const LublinOrder& order, const LublinTotals& totals) {
  SwfHeader header;
  header.add("Version", "2.2");
  header.add("Computer", fmt::format("Lublin-Feitelson model of a machine of {} processors", order.model.machine_size));
  header.add("Acknowledge", "Uri Lublin and Dror Feitelson, Hebrew University (the model)");
  header.add("Information", "JPDC 63(11), 2003, pp. 1105-1122");
  header.add("MaxJobs", fmt::format("{}", totals.jobs));
  header.add("MaxRecords", fmt::format("{}", totals.jobs));
  header.add("MaxProcs", fmt::format("{}", order.model.machine_size));
  header.add("UnixStartTime", fmt::format("{}", 4 * 86400 + order.model.start_hour * 3600));  // a Monday
  header.add("TimeZoneString", "UTC");
  header.add("StartTime", fmt::format("Mon Jan 05 {:02}:00:00 UTC 1970", order.model.start_hour));
  if (order.model.types) header.add("Queues", "0 interactive, 1 batch");
  note_history(header, lublin_command(order));
  return header;
}

void write_lublin(const LublinOrder& order, const LublinPlan& plan, const LublinTotals& totals, TraceWriter& writer) {
  writer.write(lublin_header(order, totals));
  LublinTrace trace(order, plan);
  std::uint64_t number = 0;
  for (LublinJob job; trace.next(job);) writer.write(TraceEntry{lublin_record(++number, job), {}});
}

}  // namespace replay
