// `replay generate lublin`: a workload of the model of Lublin and Feitelson.

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <limits>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/models/lublin_workload.hpp"

namespace replay::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1'000'000'000'000;
constexpr std::int64_t kMostSeconds = 10'000'000'000;  // seconds, of anything on the command line

constexpr Choice<SolveFor> kSolve[] = {{"arrivals", SolveFor::kArrivals}, {"runtimes", SolveFor::kRuntimes}};
constexpr Choice<ArrivalProcess> kArrivals[] = {{"lublin", ArrivalProcess::kLublin},
                                                {"poisson", ArrivalProcess::kPoisson}};
constexpr Choice<Generator> kGenerators[] = {{"xoshiro", Generator::kXoshiro}, {"drand48", Generator::kDrand48}};

struct LublinGiven {
  TraceOutput to;
  LublinOrder order;
  std::optional<SolveFor> solve;
  std::uint64_t seed = 1;
  std::array<GivenLublinParameters, 3> parameters;  // by LublinKind
};

// Adds an option for a duration in whole seconds.
template <class Seconds>
void add_seconds(CLI::App& command, const std::string& name, Seconds& value, const std::string& help) {
  constexpr DurationRange kWhole{.least = std::chrono::seconds{1},
                                 .most = std::chrono::seconds{kMostSeconds},
                                 .expected = "a duration in whole seconds, such as 90s, 5min, 2h or 1d"};
  const auto read = [&value, name, kWhole](const std::string& text) {
    const Duration duration = duration_of(name, text, kWhole);
    if (duration % std::chrono::seconds{1} != Duration::zero())
      throw UsageError(fmt::format("{}: expected {}, found '{}'", name, kWhole.expected, text));
    value = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  };
  add_read(command, name, "T", read, help);
}

std::string prefix_of(LublinKind kind) {
  return kind == LublinKind::kTypeless ? "--" : fmt::format("--{}.", to_text(kind));
}

void add_parameters(CLI::App& command, LublinKind kind, GivenLublinParameters& given) {
  const auto column = static_cast<std::size_t>(kind);
  const std::string group = fmt::format("Parameters, {} ({}defaults for {} processors)", to_text(kind),
                                        kind == LublinKind::kTypeless ? "" : "with --types; ", kLublinMachineSize);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const LublinParameter& p = kLublinParameters[i];
    command.add_option(prefix_of(kind) + std::string(p.name), given[i], std::string(p.meaning))
        ->type_name(fmt::format("FLOAT [{}]", p.value[column]))
        ->group(group);
  }
}

void add_what_is_wanted(CLI::App& command, LublinGiven& given) {
  add_count(command, "--jobs", given.order.jobs, 1, kMostJobs,
            fmt::format("how many (default {}, or what --duration gives)", kDefaultLublinJobs));
  add_seconds(command, "--duration", given.order.duration,
              "jobs until then; with --jobs: gaps are scaled so that the last one arrives then");
  add_count(command, "--machine-size", given.order.model.machine_size, 1, std::numeric_limits<CoreCount>::max(),
            "processors P; uhi is log2 P, umed goes with it")
      ->type_name("P");
  command
      .add_option("--load", given.order.load,
                  "offered load: work / (P x time from first to last arrival), met within 1 %")
      ->type_name("L");
  add_choice(command, "--solve", given.solve, kSolve,
             "what meets the load: arrivals (gaps scaled; a day stays a day) or runtimes [arrivals]");
  add_choice(command, "--arrivals", given.order.model.arrivals, kArrivals,
             "lublin, or poisson: the same mean gap without daily cycle")
      ->default_str("lublin");
  add_seconds(command, "--min-runtime", given.order.min_runtime, "shorter run times become this");
  add_seconds(command, "--max-runtime", given.order.max_runtime, "longer run times become this");
  add_count(command, "--start-hour", given.order.model.start_hour, 0, 23, "hour of the day at time 0")
      ->type_name("0..23");
  command.add_flag("--types", given.order.model.types,
                   "interactive and batch jobs (queues 0 and 1) instead of typeless ones");
  add_seed(command, given.seed, "another seed, another workload");
  add_choice(command, "--rng", given.order.model.generator, kGenerators,
             "xoshiro, or drand48: the jobs of the authors' program for its seed")
      ->default_str("xoshiro");
}

void set_parameters(LublinModel& model, const std::array<GivenLublinParameters, 3>& given) {
  for (const LublinKind kind : {LublinKind::kTypeless, LublinKind::kInteractive, LublinKind::kBatch}) {
    const auto& values = given[static_cast<std::size_t>(kind)];
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] && (kind != LublinKind::kTypeless) != model.types)
        throw UsageError(fmt::format(
            "{}{}: {}", prefix_of(kind), kLublinParameters[i].name,
            model.types ? "with --types, expected --interactive.NAME or --batch.NAME" : "expected --types beside it"));
    (kind == LublinKind::kTypeless      ? model.typeless
     : kind == LublinKind::kInteractive ? model.interactive
                                        : model.batch) = lublin_parameters(kind, model.machine_size, values);
  }
}

LublinOrder order_of(const LublinGiven& given) {
  LublinOrder order = given.order;
  if (given.solve && !order.load) throw UsageError("--solve: expected --load beside it");
  order.solve = given.solve.value_or(SolveFor::kArrivals);
  if (order.model.generator == Generator::kDrand48 && given.seed > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("--seed: expected at most {} with --rng drand48, found {}",
                                 std::numeric_limits<std::uint32_t>::max(), given.seed));
  order.model.seed = Seed{given.seed};
  set_parameters(order.model, given.parameters);
  return order;
}

int generate(const LublinGiven& given) {
  const LublinOrder order = order_of(given);
  const LublinPlan plan = plan_lublin(order);
  const LublinTotals totals = lublin_totals(order, plan);
  TraceWriter writer = create_trace(given.to);
  write_lublin(order, plan, totals, writer);
  writer.close();
  fmt::print(stderr, "{} from {} s to {} s on {}, offered load {:.4f}", counted(totals.jobs, "job"), totals.first,
             totals.last, counted(order.model.machine_size, "processor"), totals.load(order.model.machine_size));
  if (plan.gap_factor != 1) fmt::print(stderr, ", gaps x {:.6g}", plan.gap_factor);
  if (plan.runtime_factor != 1) fmt::print(stderr, ", run times x {:.6g}", plan.runtime_factor);
  fmt::print(stderr, "\n");
  return 0;
}

}  // namespace

Command add_generate_lublin(CLI::App& generate_group) {
  CLI::App& command =
      add_command(generate_group, "lublin", "the model of Lublin and Feitelson: rigid jobs with a daily cycle",
                  "Examples:\n"
                  "  replay generate lublin --jobs 10000 --machine-size 128 --seed 1 -o lublin.swf.gz\n"
                  "  replay generate lublin --jobs 150 --duration 2h --machine-size 32 --load 0.9 --solve runtimes -o "
                  "two-hours.swf\n"
                  "docs/lublin.md says what the parameters mean.");
  auto given = std::make_shared<LublinGiven>();
  add_trace_output(command, given->to);
  add_what_is_wanted(command, *given);
  for (const LublinKind kind : {LublinKind::kTypeless, LublinKind::kInteractive, LublinKind::kBatch})
    add_parameters(command, kind, given->parameters[static_cast<std::size_t>(kind)]);
  return [given] { return generate(*given); };
}

}  // namespace replay::cli
