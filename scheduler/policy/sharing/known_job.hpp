// A job as the policy g-lomarc-ts knows it, from its submission to its end: how it may lie, what was promised to it,
// and when it starts or ends by the plan. Terms: G-LOMARC-TS, Table 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::sharing {

struct Unit;

/// For so long a job past its planned end is still planned to run.
inline constexpr Duration kOneTick{1};

struct KnownJob {
  const Job* job = nullptr;
  KnownJob* self = nullptr;  ///< this, where it stays; for spans of one job
  JobClass job_class = JobClass::kShort;
  Instant submitted{};  ///< in the clock of the view, which may be that of a virtual machine

  // Its shapes. Rates are declared progress per second, alone on its nodes.
  int per_node = 1;             ///< PPN_ssp, formula 8, if it has its nodes for itself
  int per_node_in_group = 1;    ///< PPN beside another job
  int nodes = 1;                ///< with per_node
  int nodes_in_group = 1;       ///< with per_node_in_group
  bool may_fill_nodes = false;  ///< case 5: with all cores of its nodes
  double rate_one = 1, rate_half = 1, rate_full = 1;
  Duration length{};  ///< by its estimate, with per_node

  // What was promised.
  Duration expected{};          ///< R_est
  double exactly_expected = 0;  ///< R_est, not rounded to whole microseconds
  Instant latest{};             ///< submitted + R_max
  Instant planned = kNever;     ///< its start by the plan, while it waits
  Instant ends_at() const { return planned + length; }

  // While it runs. Nothing else of it is up to date then but what is promised.
  Unit* unit = nullptr;  ///< null: it waits
  int slot = 0;          ///< a serial job's core of its half
  Progress work;         ///< as the controller has it
  Instant end{};         ///< by its own and its partners' estimates

  std::vector<std::uint64_t> refused;  ///< sets of jobs that were refused as its matches

  std::uint64_t mark = 0;  ///< scratch, of one function at a time

  // For Slowdowns.
  ModelledJob modelled{};
  std::unordered_map<std::uint64_t, double> rates_beside;

  [[nodiscard]] JobId id() const { return job->id; }
  [[nodiscard]] ProcessCount processes() const { return job->processes; }
  [[nodiscard]] bool is_serial() const { return job->processes == 1; }
  [[nodiscard]] std::tuple<Instant, JobId> arrival() const { return {job->submitted, job->id}; }
  /// R / R_est of a running job, in millionths, so that jobs that nothing has delayed are equal.
  [[nodiscard]] std::int64_t delay() const {
    return std::llround(static_cast<double>((end - submitted).count()) / exactly_expected * 1e6);
  }
};

}  // namespace replay::sharing
