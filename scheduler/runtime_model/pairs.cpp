#include "scheduler/runtime_model/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/contention.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay {
namespace {

// The slowdowns that a profile has measured, by the applications of job and neighbour: indices of Profile::entries.
class MeasuredPairs {
 public:
  MeasuredPairs() = default;
  explicit MeasuredPairs(const Profile& profile) : size_(profile.entries.size()), slowdowns_(size_ * size_, 0) {
    for (std::size_t job = 0; job < size_; ++job)
      for (std::size_t beside = 0; beside < size_; ++beside)
        slowdowns_[job * size_ + beside] = slowdown_of(profile, profile.entries[job], profile.entries[beside]);
  }

  /// 0: not measured.
  [[nodiscard]] double slowdown(std::int32_t job, std::int32_t beside) const {
    const auto is_known = [this](std::int32_t application) {
      return application >= 0 && static_cast<std::size_t>(application) < size_;
    };
    if (!is_known(job) || !is_known(beside)) return 0;
    return slowdowns_[static_cast<std::size_t>(job) * size_ + static_cast<std::size_t>(beside)];
  }

 private:
  // The mean of the pairs of the job's own size; of all sizes if its own was not measured.
  static double slowdown_of(const Profile& profile, const ProfileEntry& job, const ProfileEntry& beside) {
    double own = 0, all = 0;
    std::size_t owns = 0, alls = 0;
    for (const PairSlowdown& pair : profile.pairs) {
      if (pair.benchmark != job.benchmark || pair.problem_class != job.problem_class ||
          pair.neighbour != beside.benchmark || pair.neighbour_class != beside.problem_class)
        continue;
      all += pair.slowdown.value, ++alls;
      if (pair.processes == job.processes) own += pair.slowdown.value, ++owns;
    }
    if (owns > 0) return own / static_cast<double>(owns);
    return alls > 0 ? all / static_cast<double>(alls) : 0;
  }

  std::size_t size_ = 0;
  std::vector<double> slowdowns_;
};

class Pairs final : public RuntimeModel {
 public:
  explicit Pairs(const ModelFiles& files)
      : table_(files.pairs), measured_(files.profile != nullptr ? MeasuredPairs(*files.profile) : MeasuredPairs{}) {}

  double slowdown(const ModelledJob& job, const Allocation& on, const Surroundings& around) const override {
    if (around.demand > 0)
      throw UsageError(
          "the policy puts two jobs on one core, and the runtime model 'pairs' does not say what that costs; "
          "try --runtime-model isolated+pairs");
    double product = around.machine != nullptr ? own(job, on, *around.machine) : 1;
    double most = 0;
    for (const ModelledJob* other : around.on_its_nodes) most = std::max(most, beside(job, *other));
    if (most > 0) product *= most;
    return job.slowdown_power == 1 ? product : std::pow(product, job.slowdown_power);
  }
  bool allows_sharing() const override { return false; }
  bool looks_at_nodes() const override { return true; }

 private:
  // Of its own processes on one node and on one CPU.
  static double own(const ModelledJob& job, const Allocation& on, const Machine& machine) {
    const Declaration* const declared = job.declaration;
    if (declared == nullptr || (!declared->same_node_slowdown && !declared->same_cpu_slowdown)) return 1;
    bool several_on_node = false, several_on_cpu = false;
    for_each_node(on, machine, [&](const NodeShare& share) {
      several_on_node = several_on_node || share.processes > 1;
      std::vector<ProcessCount> on_cpu(static_cast<std::size_t>(machine.packages_of(share.node)));
      for (const CoreLoad& load : share.cores)
        several_on_cpu = several_on_cpu || (on_cpu[machine.package_of(load.core)] += load.processes) > 1;
    });
    return (several_on_node ? declared->same_node_slowdown.value_or(1) : 1) *
           (several_on_cpu ? declared->same_cpu_slowdown.value_or(1) : 1);
  }

  [[nodiscard]] double beside(const ModelledJob& job, const ModelledJob& other) const {
    if (table_ != nullptr) return table_->slowdown(job.id, other.id);
    if (const double measured = measured_.slowdown(job.behaviour.application, other.behaviour.application);
        measured > 0)
      return measured;
    if (job.declaration == nullptr || other.declaration == nullptr) return 1;
    const auto &key = job.declaration->pair_key, &other_key = other.declaration->pair_key;
    return key && other_key ? co_scheduling_slowdown(*key, *other_key) : 1;
  }

  const PairTable* table_;
  MeasuredPairs measured_;
};

}  // namespace

std::unique_ptr<RuntimeModel> make_pairs(const ModelFiles& files) { return std::make_unique<Pairs>(files); }

}  // namespace replay
