#include "scheduler/runtime_model/runtime_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/mix_bits.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/runtime_model/calibrated.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"
#include "scheduler/runtime_model/neighbours_part.hpp"
#include "scheduler/runtime_model/pairs.hpp"

namespace replay {
namespace {

[[noreturn]] void refuse_shared_core(std::string_view model) {
  throw UsageError(
      fmt::format("the policy puts two jobs on one core, and the runtime model '{}' does not say what that costs; "
                  "try --runtime-model isolated",
                  model));
}

// Space sharing as it is usually simulated: a job runs on all its cores or not at all.
class Rigid final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour&, int mpl, double demand) const override {
    INVARIANT(mpl == 1, "the rigid model knows no multiprogramming level {}", mpl);
    if (demand > 0) refuse_shared_core("rigid");
    return 1;
  }
  bool allows_sharing() const override { return false; }
};

// (3): t = execTime * MPL * CPUUtil, never faster than expanded. The benchmark `phases` follows it.
class Isolated final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour& b, int mpl, double demand) const override {
    return std::max(1.0, mpl * b.cpu_use + demand);
  }
};

// (4) at MPL m over (4) at MPL 1: the overhead of the network is there in both, so that an expanded job takes what the
// trace says. The literal reading, without the division, is `utrera-additive`. The division has its price: beside a
// neighbour a job that hardly computes or communicates (u + ov near 0) is slowed down without bound.
class Utrera final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour& b, int mpl, double demand) const override {
    const double expanded = b.cpu_use + b.network_overhead;
    if ((mpl == 1 && demand <= 0) || expanded <= 0) return 1;
    return std::max(1.0, (mpl * b.cpu_use + demand + b.network_overhead) / expanded);
  }
  bool uses_network_overhead() const override { return true; }
};

// (4) to the letter: t = execTime * (m * u + ov), once processes share a core.
class UtreraAdditive final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour& b, int mpl, double demand) const override {
    return mpl == 1 && demand <= 0 ? 1 : std::max(1.0, mpl * b.cpu_use + demand + b.network_overhead);
  }
  bool uses_network_overhead() const override { return true; }
};

// On fewer cores than processes, or on more, a job is as fast as its curve says of that many cores: it divides its work
// anew, as malleable jobs of the SCOJO papers do. Without a curve the speedup is linear.
class Speedup final : public RuntimeModel {
 public:
  double slowdown(const ModelledJob& job, const Allocation& on, const Surroundings& around) const override {
    if (around.demand > 0) refuse_shared_core("speedup");
    if (on.cores == cores_at(job.processes, 1)) return 1;
    const bool has_curve = job.declaration != nullptr && job.declaration->speedup;
    if (!has_curve) return static_cast<double>(job.processes) / on.cores;
    return 1 / speed_at(job.processes, job.declaration, processes_at(on.cores, 1), job.speedup_power);
  }
  bool divides_work_anew() const override { return true; }
};

// Several models, each for a part: their slowdowns are multiplied.
class Joined final : public RuntimeModel {
 public:
  void add(std::unique_ptr<RuntimeModel> model, ModelPart part) {
    if (part == ModelPart::kCores) cores_ = model.get();
    models_.push_back(std::move(model));
  }
  double slowdown(const ModelledJob& job, const Allocation& on, const Surroundings& around) const override {
    double product = 1;
    for (const auto& model : models_) {
      Surroundings seen = around;
      if (cores_ != nullptr && model.get() != cores_) seen.demand = 0;
      product *= model->slowdown(job, on, seen);
    }
    return product;
  }
  Duration resize_time(const ModelledJob& job, CoreCount from, const Allocation& to,
                       const Surroundings& around) const override {
    Duration longest{};
    for (const auto& model : models_) longest = std::max(longest, model->resize_time(job, from, to, around));
    return longest;
  }
  bool allows_sharing() const override { return cores_ != nullptr && cores_->allows_sharing(); }
  bool uses_network_overhead() const override {
    return std::ranges::any_of(models_, [](const auto& model) { return model->uses_network_overhead(); });
  }
  bool divides_work_anew() const override { return cores_ != nullptr && cores_->divides_work_anew(); }
  bool looks_at_nodes() const override {
    return std::ranges::any_of(models_, [](const auto& model) { return model->looks_at_nodes(); });
  }

 private:
  std::vector<std::unique_ptr<RuntimeModel>> models_;
  const RuntimeModel* cores_ = nullptr;
};

template <typename Model>
std::unique_ptr<RuntimeModel> make(const ModelFiles& /*files*/) {
  return std::make_unique<Model>();
}

constexpr RuntimeModelEntry kModels[] = {
    {"utrera", ModelPart::kCores,
     "s(m) = max(1, (m*u + d + ov) / (u + ov)): formula (4) at MPL m over MPL 1; d: demand of other jobs",
     "CPU use u, network overhead ov (drawn where it is not declared)", "Utrera et al. 2012, section 4, formula (4)",
     make<Utrera>},
    {"utrera-additive", ModelPart::kCores,
     "s(m) = max(1, m*u + d + ov): formula (4) to the letter, kept to show what it does",
     "CPU use u, network overhead ov (drawn where it is not declared)", "Utrera et al. 2012, section 4, formula (4)",
     make<UtreraAdditive>},
    {"isolated", ModelPart::kCores, "s(m) = max(1, m*u + d): what the benchmark `phases` obeys", "CPU use u",
     "Utrera et al. 2012, section 4, formula (3)", make<Isolated>},
    {kCalibrated, ModelPart::kCores,
     "run times and s(m) as measured on a machine (--profile); s(m, d) = max(1, c*max(1, m*u + d)) where they were not",
     "the profile, the benchmark of a job, the nodes it lies on, CPU use u",
     "replay calibrate; formula (3) for the shape", make_calibrated},
    {"speedup", ModelPart::kCores, "s = S(p) / S(c) on c cores with p processes: a job divides its work anew",
     "speedup curve; linear where none is declared", "SCOJO-P, section 5.2; Downey 1997", make<Speedup>},
    {"rigid", ModelPart::kCores, "no job ever shares cores; malleable policies find nothing to shrink", "nothing",
     "space sharing", make<Rigid>},
    {"pairs", ModelPart::kNeighbours,
     "self * max SL(job, other) over the jobs on its nodes; self: 1, SL_sno or SL_sno*SL_scr by processes a node and "
     "CPU",
     "sl_scr, sl_sno; SL of pairs from --pairs, else as measured (calibrated+pairs), else by pair_key, else 1",
     "G-LOMARC-TS, section 4.9 and Table 4", make_pairs},
};

}  // namespace

std::span<const RuntimeModelEntry> runtime_models() { return kModels; }

namespace {

const RuntimeModelEntry& entry_of(std::string_view name) {
  std::vector<std::string_view> known;
  for (const RuntimeModelEntry& entry : kModels) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown runtime model '{}'{}", name, suggestion(name, known)));
}

}  // namespace

std::unique_ptr<RuntimeModel> make_runtime_model(std::string_view name, const ModelFiles& files) {
  if (name.find('+') == std::string_view::npos) return entry_of(name).make(files);
  auto joined = std::make_unique<Joined>();
  std::vector<const RuntimeModelEntry*> parts;
  for (const std::string_view part : split(name, '+')) {
    const RuntimeModelEntry& entry = entry_of(part);
    const auto same = std::ranges::find(parts, entry.part, &RuntimeModelEntry::part);
    if (same != parts.end())
      throw UsageError(fmt::format("runtime model '{}': {} and {} say the same thing of a job; expected one of them",
                                   name, (*same)->name, entry.name));
    parts.push_back(&entry);
    joined->add(entry.make(files), entry.part);
  }
  return joined;
}

std::string neighbours_part(std::string_view model) {
  for (const std::string_view part : split(model, '+'))
    if (entry_of(part).part == ModelPart::kNeighbours) return std::string{part};
  return {};
}

bool names_model(std::string_view name, std::string_view model) {
  return std::ranges::any_of(split(name, '+'), [model](std::string_view part) { return part == model; });
}

DeclaredRate declared_rate(const RuntimeModel& model) {
  return [&model](const Job& job, const Allocation& on, const Surroundings& around) {
    return model.declared_rate(job, on, around);
  };
}

void draw_network_overheads(Workload& workload, std::uint64_t seed) {
  const std::uint64_t mixed = mix_bits(seed);
  workload.jobs.set_network_overheads(
      [mixed](JobId job) { return unit_interval(mix_bits(mixed ^ static_cast<std::uint64_t>(job))); });
}

}  // namespace replay
