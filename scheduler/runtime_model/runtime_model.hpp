// The runtime model: how fast a job runs on its allocation, relative to running expanded and alone with the processes it
// was started with: progress per second. A job's end moves when its allocation changes, and when another job comes to
// its cores or nodes or leaves them. The controller asks with what jobs declare, the simulator with what is true.
// Sources: FCFS-malleable paper, section 4, formulas (3) and (4), for jobs on fewer cores than processes. The paper has
// only processes of one job on a core; there m*u, MPL x CPUUtil, is how much of it they want. We count a neighbour's
// processes like the job's own: m*u + demand, where `demand` is the sum of the CPU utilisations of the other jobs'
// processes on the job's busiest core. G-LOMARC-TS, section 4.9, for jobs that share nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/runtime_model/pair_table.hpp"

namespace replay {

struct Profile;

/// The model that reads a profile of `replay calibrate`.
inline constexpr const char* kCalibrated = "calibrated";

/// A job as a runtime model sees it: as it declares itself or as it truly is. What it points to must stay as long as the
/// job runs.
struct ModelledJob {
  JobId id{};
  ProcessCount processes = 1;  ///< those it was started with
  Behaviour behaviour{};
  Duration runtime{};  ///< with these processes, expanded and alone; as it declares itself, its estimate
  const Declaration* declaration = nullptr;
  double speedup_power = 1;   ///< JobTruth::speedup_power
  double slowdown_power = 1;  ///< JobTruth::slowdown_power
};

/// As it declares itself, on an allocation of its own (which says how many processes it has).
[[nodiscard]] inline ModelledJob as_declared(const Job& job, const Allocation& on) {
  return {.id = job.id,
          .processes = processes_on(on, job.processes),
          .behaviour = job.declared,
          .runtime = estimate_at(job, processes_on(on, job.processes)),
          .declaration = job.declaration.get()};
}
/// As it truly is.
[[nodiscard]] inline ModelledJob as_true(const TracedJob& traced, const Allocation& on) {
  return {.id = traced.job.id,
          .processes = processes_on(on, traced.job.processes),
          .behaviour = traced.truth.behaviour,
          .runtime = runtime_at(traced, processes_on(on, traced.job.processes)),
          .declaration = traced.job.declaration.get(),
          .speedup_power = traced.truth.speedup_power,
          .slowdown_power = traced.truth.slowdown_power};
}

/// What is around a job on its allocation.
struct Surroundings {
  /// SharedCores::demand of other jobs on its busiest core; >= 0.
  double demand = 0;
  /// The jobs that have a core on one of its nodes, each once. Empty for a model that does not ask for them.
  std::span<const ModelledJob* const> on_its_nodes{};
  /// Its machine; null on a pool.
  const Machine* machine = nullptr;
};

/// No other job near.
[[nodiscard]] inline Surroundings alone_on(const Machine& machine) {
  return {.machine = machine.names_cores() ? &machine : nullptr};
}

/// What a model answers for. A model of each can be joined: "isolated+pairs".
enum class ModelPart : std::uint8_t {
  kCores,      ///< fewer cores than processes, others on the same cores
  kNeighbours  ///< others on the same nodes, and how a job's own processes lie on them
};

class RuntimeModel {
 public:
  virtual ~RuntimeModel() = default;
  /// Run time on this allocation in these surroundings over run time expanded and alone; > 0, and 1 there.
  [[nodiscard]] virtual double slowdown(const ModelledJob& job, const Allocation& on,
                                        const Surroundings& around) const = 0;
  /// How long a resize takes, from the order until all processes are on the cores `to`, of a job that holds `from` cores;
  /// the job runs on as before meanwhile.
  [[nodiscard]] virtual Duration resize_time(const ModelledJob& /*job*/, CoreCount /*from*/, const Allocation& /*to*/,
                                             const Surroundings& /*around*/) const {
    return {};
  }
  /// False: jobs cannot share cores at all, so policies must be told that every job is rigid; with demand slowdown()
  /// throws UsageError.
  [[nodiscard]] virtual bool allows_sharing() const { return true; }
  /// True if the model reads Behaviour::network_overhead, which a workload then needs to have drawn.
  [[nodiscard]] virtual bool uses_network_overhead() const { return false; }
  /// True if it reads Surroundings::on_its_nodes.
  [[nodiscard]] virtual bool looks_at_nodes() const { return false; }
  /// True if a job divides its work anew among the cores that it has, fewer or more than it was started with; false: its
  /// processes share them, which makes sense for ceil(processes / m) cores only.
  [[nodiscard]] virtual bool divides_work_anew() const { return false; }

  [[nodiscard]] double rate(const ModelledJob& job, const Allocation& on, const Surroundings& around) const {
    return 1.0 / slowdown(job, on, around);
  }
  /// The rates of a job as it declares itself and as it truly is, without a question where every model answers 1.
  [[nodiscard]] double declared_rate(const Job& job, const Allocation& on, const Surroundings& around) const {
    return is_by_itself(on, job) ? 1 : rate(as_declared(job, on), on, around);
  }
  [[nodiscard]] double true_rate(const TracedJob& traced, const Allocation& on, const Surroundings& around) const {
    return is_by_itself(on, traced.job) ? 1 : rate(as_true(traced, on), on, around);
  }

 private:
  // A core for each process, of a pool: no other job can be near.
  [[nodiscard]] static bool is_by_itself(const Allocation& on, const Job& job) {
    return on.is_expanded() && on.named.empty() && on.cores == cores_needed(job, processes_on(on, job.processes));
  }
};

/// Formulas for a job on fewer cores than processes, or beside others on its cores: s(m, demand).
class SharedCoresModel : public RuntimeModel {
 public:
  /// At multiprogramming level `mpl` beside others' `demand`. >= 1, and 1 at mpl 1 without demand. REQUIRES: demand >= 0.
  [[nodiscard]] virtual double slowdown_of(const Behaviour& behaviour, int mpl, double demand) const = 0;
  [[nodiscard]] double slowdown(const ModelledJob& job, const Allocation& on, const Surroundings& around) const final {
    return slowdown_of(job.behaviour, on.mpl, around.demand);
  }
};

/// The files that models read; null: none was given.
struct ModelFiles {
  const Profile* profile = nullptr;  ///< of `replay calibrate`: for `calibrated`, and for `pairs`
  const PairTable* pairs = nullptr;  ///< of --pairs: for `pairs`
  /// The run time of a job that is no benchmark has launch and end in it, as the profile has them (set_benchmarks).
  bool adds_overheads = false;
};

struct RuntimeModelEntry {
  std::string_view name;
  ModelPart part;
  std::string_view summary;
  std::string_view reads;  ///< what of a job, a trace and files it reads
  std::string_view source;
  std::unique_ptr<RuntimeModel> (*make)(const ModelFiles& files);
};

/// All models; `replay models` prints them.
[[nodiscard]] std::span<const RuntimeModelEntry> runtime_models();

/// A model by its name, or several joined by '+', whose slowdowns are multiplied: "isolated+pairs". Throws UsageError with
/// the nearest name when there is no such model, when two of them answer for the same, and when one needs a profile that
/// is not given.
[[nodiscard]] std::unique_ptr<RuntimeModel> make_runtime_model(std::string_view name, const ModelFiles& files = {});

/// Whether `name` is this model, or is joined from it and others.
[[nodiscard]] bool names_model(std::string_view name, std::string_view model);

/// Gives each job its OV of formula (4): uniform in [0,1), a hash of (seed, job), the same under every policy. Trace
/// files do not have it (paper, section 4); a job with a value in its side file keeps that. Declared and true values
/// are set alike.
void draw_network_overheads(Workload& workload, std::uint64_t seed);

}  // namespace replay
