#include "scheduler/runtime_model/runtime_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/mix_bits.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/runtime_model/calibrated.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"

namespace replay {
namespace {

// Space sharing as it is usually simulated: a job runs on all its cores or not at all.
class Rigid final : public RuntimeModel {
 public:
  double slowdown(const Behaviour&, int mpl, double demand) const override {
    INVARIANT(mpl == 1, "the rigid model knows no multiprogramming level {}", mpl);
    if (demand > 0)
      throw UsageError(
          "the policy puts two jobs on one core, and the runtime model 'rigid' does not say what that costs; "
          "try --runtime-model isolated");
    return 1;
  }
  bool allows_sharing() const override { return false; }
};

// (3): t = execTime * MPL * CPUUtil, never faster than expanded. The benchmark `phases` follows it.
class Isolated final : public RuntimeModel {
 public:
  double slowdown(const Behaviour& b, int mpl, double demand) const override {
    return std::max(1.0, mpl * b.cpu_use + demand);
  }
};

// (4) at MPL m over (4) at MPL 1: the overhead of the network is there in both, so that an expanded job takes what the
// trace says. The literal reading, without the division, is `utrera-additive`. The division has its price: beside a
// neighbour a job that hardly computes or communicates (u + ov near 0) is slowed down without bound.
class Utrera final : public RuntimeModel {
 public:
  double slowdown(const Behaviour& b, int mpl, double demand) const override {
    const double expanded = b.cpu_use + b.network_overhead;
    if ((mpl == 1 && demand <= 0) || expanded <= 0) return 1;
    return std::max(1.0, (mpl * b.cpu_use + demand + b.network_overhead) / expanded);
  }
  bool uses_network_overhead() const override { return true; }
};

// (4) to the letter: t = execTime * (m * u + ov), once processes share a core.
class UtreraAdditive final : public RuntimeModel {
 public:
  double slowdown(const Behaviour& b, int mpl, double demand) const override {
    return mpl == 1 && demand <= 0 ? 1 : std::max(1.0, mpl * b.cpu_use + demand + b.network_overhead);
  }
  bool uses_network_overhead() const override { return true; }
};

template <typename Model>
std::unique_ptr<RuntimeModel> make(const Profile*) {
  return std::make_unique<Model>();
}

constexpr RuntimeModelEntry kModels[] = {
    {"utrera", "s(m) = max(1, (m*u + d + ov) / (u + ov)): formula (4) at MPL m over MPL 1; d: demand of other jobs",
     "Utrera et al. 2012, section 4, formula (4)", make<Utrera>},
    {"utrera-additive", "s(m) = max(1, m*u + d + ov): formula (4) to the letter, kept to show what it does",
     "Utrera et al. 2012, section 4, formula (4)", make<UtreraAdditive>},
    {"isolated", "s(m) = max(1, m*u + d): what the benchmark `phases` obeys",
     "Utrera et al. 2012, section 4, formula (3)", make<Isolated>},
    {kCalibrated,
     "run times and s(m) as measured on a machine (--profile); s(m, d) = max(1, c*max(1, m*u + d)) where they were not",
     "replay calibrate; formula (3) for the shape", make_calibrated},
    {"rigid", "no job ever shares cores; malleable policies find nothing to shrink", "space sharing", make<Rigid>},
};

}  // namespace

std::span<const RuntimeModelEntry> runtime_models() { return kModels; }

std::unique_ptr<RuntimeModel> make_runtime_model(std::string_view name, const Profile* profile) {
  std::vector<std::string_view> known;
  for (const RuntimeModelEntry& entry : kModels) {
    if (entry.name == name) return entry.make(profile);
    known.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown runtime model '{}'{}", name, suggestion(name, known)));
}

DeclaredRate declared_rate(const RuntimeModel& model) {
  return [&model](const Job& job, const Allocation& allocation, double demand) {
    return model.rate(job.declared, allocation, demand);
  };
}

void draw_network_overheads(Workload& workload, std::uint64_t seed) {
  const std::uint64_t mixed = mix_bits(seed);
  workload.jobs.set_network_overheads(
      [mixed](JobId job) { return unit_interval(mix_bits(mixed ^ static_cast<std::uint64_t>(job))); });
}

}  // namespace replay
