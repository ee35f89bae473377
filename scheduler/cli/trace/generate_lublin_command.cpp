// `replay generate lublin`: a workload of the model of Lublin and Feitelson.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/models/lublin_workload.hpp"

namespace replay::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1'000'000'000'000;
constexpr std::int64_t kMostSeconds = 10'000'000'000;  // seconds, of anything on the command line

struct LublinGiven {
  TraceOutput to;
  LublinOrder order;
  std::optional<std::string> duration, min_runtime, max_runtime;
  std::string solve = "arrivals", arrivals = "lublin", generator = "xoshiro";
  bool solve_given = false;
  std::uint64_t seed = 1;
  std::array<GivenLublinParameters, 3> parameters;  // by LublinKind
};

std::int64_t whole_seconds(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || *duration < std::chrono::seconds{1} || *duration > std::chrono::seconds{kMostSeconds} ||
      *duration % std::chrono::seconds{1} != Duration::zero())
    throw UsageError(
        fmt::format("{}: expected a duration in whole seconds, such as 90s, 5min, 2h or 1d, found '{}'", option, text));
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
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
  command
      .add_option("--jobs", given.order.jobs,
                  fmt::format("how many (default {}, or what --duration gives)", kDefaultLublinJobs))
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, kMostJobs));
  command
      .add_option("--duration", given.duration,
                  "jobs until then; with --jobs: gaps are scaled so that the last one arrives then")
      ->type_name("T");
  command
      .add_option("--machine-size", given.order.model.machine_size, "processors P; uhi is log2 P, umed goes with it")
      ->type_name("P")
      ->capture_default_str()
      ->check(CLI::Range(1, std::numeric_limits<CoreCount>::max()));
  command
      .add_option("--load", given.order.load,
                  "offered load: work / (P x time from first to last arrival), met within 1 %")
      ->type_name("L");
  command
      .add_option_function<std::string>(
          "--solve",
          [&given](const std::string& text) {
            given.solve = text;
            given.solve_given = true;
          },
          "what meets the load: arrivals (gaps scaled; a day stays a day) or runtimes [arrivals]")
      ->check(CLI::IsMember({"arrivals", "runtimes"}));
  command.add_option("--arrivals", given.arrivals, "lublin, or poisson: the same mean gap without daily cycle")
      ->capture_default_str()
      ->check(CLI::IsMember({"lublin", "poisson"}));
  command.add_option("--min-runtime", given.min_runtime, "shorter run times become this")->type_name("T");
  command.add_option("--max-runtime", given.max_runtime, "longer run times become this")->type_name("T");
  command.add_option("--start-hour", given.order.model.start_hour, "hour of the day at time 0")
      ->type_name("0..23")
      ->capture_default_str()
      ->check(CLI::Range(0, 23));
  command.add_flag("--types", given.order.model.types,
                   "interactive and batch jobs (queues 0 and 1) instead of typeless ones");
  command.add_option("--seed", given.seed, "another seed, another workload")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
  command.add_option("--rng", given.generator, "xoshiro, or drand48: the jobs of the authors' program for its seed")
      ->capture_default_str()
      ->check(CLI::IsMember({"xoshiro", "drand48"}));
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
  if (given.duration) order.duration = whole_seconds("--duration", *given.duration);
  if (given.min_runtime) order.min_runtime = whole_seconds("--min-runtime", *given.min_runtime);
  if (given.max_runtime) order.max_runtime = whole_seconds("--max-runtime", *given.max_runtime);
  if (given.solve_given && !order.load) throw UsageError("--solve: expected --load beside it");
  order.solve = given.solve == "arrivals" ? SolveFor::kArrivals : SolveFor::kRuntimes;
  order.model.arrivals = given.arrivals == "poisson" ? ArrivalProcess::kPoisson : ArrivalProcess::kLublin;
  order.model.generator = given.generator == "drand48" ? Generator::kDrand48 : Generator::kXoshiro;
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
  writer.write(lublin_header(order, totals));
  LublinTrace trace(order, plan);
  std::uint64_t number = 0;
  for (LublinJob job; trace.next(job);) writer.write(TraceEntry{lublin_record(++number, job), {}});
  writer.close();
  fmt::print(stderr, "{} jobs from {} s to {} s on {} processors, offered load {:.4f}", totals.jobs, totals.first,
             totals.last, order.model.machine_size, totals.load(order.model.machine_size));
  if (plan.gap_factor != 1) fmt::print(stderr, ", gaps x {:.6g}", plan.gap_factor);
  if (plan.runtime_factor != 1) fmt::print(stderr, ", run times x {:.6g}", plan.runtime_factor);
  fmt::print(stderr, "\n");
  return 0;
}

}  // namespace

Command add_generate_lublin(CLI::App& generate_group) {
  auto* command =
      generate_group.add_subcommand("lublin", "the model of Lublin and Feitelson: rigid jobs with a daily cycle");
  command->footer(
      "Examples:\n"
      "  replay generate lublin --jobs 10000 --machine-size 128 --seed 1 -o lublin.swf.gz\n"
      "  replay generate lublin --jobs 150 --duration 2h --machine-size 32 --load 0.9 --solve runtimes -o "
      "two-hours.swf\n"
      "docs/lublin.md says what the parameters mean.");
  auto given = std::make_shared<LublinGiven>();
  add_trace_output(*command, given->to);
  add_what_is_wanted(*command, *given);
  for (const LublinKind kind : {LublinKind::kTypeless, LublinKind::kInteractive, LublinKind::kBatch})
    add_parameters(*command, kind, given->parameters[static_cast<std::size_t>(kind)]);
  return [given] { return generate(*given); };
}

}  // namespace replay::cli
