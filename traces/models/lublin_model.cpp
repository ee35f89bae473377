#include "traces/models/lublin_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "traces/models/portable_math.hpp"

namespace replay {
namespace {

constexpr int kMostJobRedraws = 100'000;

GammaMethod method_of(Generator generator) {
  return generator == Generator::kDrand48 ? GammaMethod::kSumOfLogs : GammaMethod::kMarsagliaTsang;
}

// Uniform in [low, medium] with probability `below`, else in [medium, high].
double two_stage_uniform(const LublinParameters& p, UniformSource& source) {
  const bool below = source.uniform() <= p.uprob;
  const double low = below ? p.ulow : p.umed;
  const double high = below ? p.umed : p.uhi;
  return source.uniform() * (high - low) + low;
}

const LublinParameters& parameters_of(LublinKind kind, const LublinModel& model) {
  if (kind == LublinKind::kTypeless) return model.typeless;
  return kind == LublinKind::kInteractive ? model.interactive : model.batch;
}

}  // namespace

LublinStream::Kind::Kind(const LublinParameters& p, const LublinArrivals::Options& options)
    : parameters(p),
      short_runtime(p.a1, p.b1, options.method),
      long_runtime(p.a2, p.b2, options.method),
      arrivals(p, options) {}

LublinStream::LublinStream(const LublinModel& model, double gap_factor)
    : machine_size_(model.machine_size),
      largest_power_(static_cast<CoreCount>(std::bit_floor(static_cast<std::uint32_t>(model.machine_size)))) {
  if (model.generator == Generator::kDrand48) shared_source_ = std::make_shared<Drand48>(model.seed);
  if (!model.types) {
    add_kind(LublinKind::kTypeless, model, gap_factor);
  } else {
    add_kind(LublinKind::kInteractive, model, gap_factor);
    add_kind(LublinKind::kBatch, model, gap_factor);
  }
  // The program draws the first batch arrival before the first interactive one; for typeless jobs it draws a batch
  // arrival of the same parameters, and drops it.
  if (shared_source_ && !model.types) (void)LublinArrivals(kinds_[0].arrivals).next(*shared_source_);
  for (std::size_t i = kinds_.size(); i-- > 0;) {
    Kind& kind = kinds_[i];
    kind.next_arrival = kind.arrivals.next(*kind.arrival_source);
  }
}

// Arrivals and jobs of each kind have streams of their own, so that an option for one does not change the other.
void LublinStream::add_kind(LublinKind kind, const LublinModel& model, double gap_factor) {
  const LublinParameters& parameters = parameters_of(kind, model);
  check_lublin_parameters(parameters, model.machine_size,
                          model.types ? fmt::format("--{}.", to_text(kind)) : std::string("--"));
  Kind& added = kinds_.emplace_back(
      parameters, LublinArrivals::Options{model.arrivals, method_of(model.generator), model.start_hour, gap_factor});
  const auto stream = [&](std::string_view purpose) -> std::shared_ptr<UniformSource> {
    if (shared_source_) return shared_source_;
    return std::make_shared<Rng>(model.seed, fmt::format("lublin {} {}", to_text(kind), purpose));
  };
  added.arrival_source = stream("arrivals");
  added.job_source = stream("jobs");
}

LublinJob LublinStream::next() {
  // Equal times: interactive first.
  Kind& kind = kinds_.size() == 1 || kinds_[0].next_arrival <= kinds_[1].next_arrival ? kinds_[0] : kinds_[1];
  LublinJob job;
  job.batch = &kind != kinds_.data();
  job.arrival = kind.next_arrival;
  kind.next_arrival = kind.arrivals.next(*kind.arrival_source);
  job.size = draw_size(kind);
  job.runtime = draw_runtime(kind, job.size);
  return job;
}

// One number decides both whether the job is serial and whether its size is made a power of two.
ProcessCount LublinStream::draw_size(const Kind& kind) const {
  const LublinParameters& p = kind.parameters;
  const double u = kind.job_source->uniform();
  if (u <= p.serial_prob) return 1;
  const double x = two_stage_uniform(p, *kind.job_source);
  const bool power_of_two = u <= p.serial_prob + p.pow2_prob;
  const double size = power_of_two ? portable::exp2(std::floor(x + 0.5)) : std::floor(portable::exp2(x) + 0.5);
  return static_cast<ProcessCount>(std::min<double>(size, power_of_two ? largest_power_ : machine_size_));
}

std::int64_t LublinStream::draw_runtime(const Kind& kind, ProcessCount size) {
  const LublinParameters& p = kind.parameters;
  const double short_share = std::clamp(p.pa * size + p.pb, 0.0, 1.0);
  for (int i = 0; i < kMostJobRedraws; ++i) {
    const bool is_short = kind.job_source->uniform() <= short_share;
    const double h = (is_short ? kind.short_runtime : kind.long_runtime).draw(*kind.job_source);
    if (h <= kMostLogRuntime) return static_cast<std::int64_t>(portable::exp(h));
  }
  throw UsageError("a1, b1, a2, b2: expected run times that e^12 s can hold, found none in 100,000 draws");
}

}  // namespace replay
