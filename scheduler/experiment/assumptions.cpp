#include "scheduler/experiment/assumptions.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/experiment/profile_use.hpp"

namespace replay::experiment {
namespace {

// The profile that counts jobs over several nodes as if they were on one; empty: there is none.
std::string profile_without_nodes(const Prepared& run) {
  const bool is_one =
      run.profile && run.machine.nodes() > 1 && !knows_several_nodes(*run.profile) &&
      std::ranges::any_of(run.workload().jobs, [](const auto& traced) { return traced.job.processes > 1; });
  return is_one ? profile_path(run.spec) : std::string{};
}

// Processes shared cores, or a job lost or gained some while it ran.
bool made_use_of_malleability(const metrics::Summary& figures) {
  constexpr double kRounding = 1e-9;
  return figures.value("shrinks") > 0 || figures.value("expands") > 0 ||
         figures.value("mean_mpl") > figures.value("utilisation") * (1 + kRounding);
}

// Of a complete run: a job that was cut at its request ends as killed whatever the errors are.
std::string killed_by_errors(const Assumptions& assumed, const metrics::Summary& figures) {
  const double overrun = figures.value("jobs_overrun"), counted = figures.value("jobs_counted");
  const auto cut = static_cast<double>(assumed.cut_at_request);
  const bool is_complete = counted >= static_cast<double>(assumed.jobs);
  if (is_complete || cut == 0) return fmt::format("{:.0f} of {:.0f}", std::max(overrun - cut, 0.0), counted);
  return fmt::format("at most {:.0f} of {:.0f}", overrun, counted);
}

}  // namespace

std::optional<std::string> note_on_curves(const Prepared& run) {
  std::vector<std::string_view> choosers;
  for (const PreparedPolicy& policy : run.policies)
    if (policy.traits.chooses_sizes) choosers.push_back(policy.text);
  if (choosers.empty()) return std::nullopt;
  const TracedJobs& jobs = run.workload().jobs;
  if (jobs.declare_anything())
    for (const TracedJob& traced : jobs)
      if (traced.job.declaration && traced.job.declaration->speedup) return std::nullopt;
  return fmt::format(
      "no job declares a speedup curve, and no other model stands in for its run times at other sizes: {} starts "
      "every job with its submitted size, as a rigid one; `replay trace declare --speedup three-point` declares curves",
      fmt::join(choosers, " or "));
}

Assumptions assumptions_of(const Prepared& run) {
  const TracedJobs& jobs = run.workload().jobs;
  const auto cut = std::ranges::count_if(jobs, [](const TracedJob& job) { return job.truth.cut_at_request; });
  return {run.spec.errors,
          run.spec.overrun,
          jobs.size(),
          run.loaded.without_flexibility,
          static_cast<std::uint64_t>(cut),
          profile_without_nodes(run)};
}

std::vector<std::string> notes_on_figures(const Assumptions& assumed, std::span<const FiguresOfPolicy> policies) {
  std::vector<std::string> notes;
  if (assumed.without_flexibility > 0 &&
      std::ranges::any_of(
          policies, made_use_of_malleability, [](const auto& one) -> const auto& { return *one.figures; }))
    notes.push_back(
        fmt::format("malleability is assumed: {} of {} do not say whether they are rigid, moldable or malleable, and "
                    "count as malleable; the column flexibility of the side file says it",
                    assumed.without_flexibility, counted(assumed.jobs, "job")));
  if (!assumed.profile_without_nodes.empty())
    notes.push_back(
        fmt::format("a job over several nodes is assumed to run as on one: {} has no figures of several nodes; `replay "
                    "calibrate --machine hosts:FILE` measures them",
                    assumed.profile_without_nodes));
  if (assumed.overrun == Overrun::kExtend) return notes;
  std::vector<std::string> errors;
  for (const auto& [name, error] : {std::pair{"--curve-error", assumed.errors.curve_error},
                                    std::pair{"--slowdown-error", assumed.errors.slowdown_error}})
    if (error > 0) errors.push_back(fmt::format("{} {}", name, error));
  if (errors.empty()) return notes;
  std::vector<std::string> kills;
  for (const auto& [policy, figures] : policies)
    kills.push_back(fmt::format("{} {}", policy, killed_by_errors(assumed, *figures)));
  notes.push_back(
      fmt::format("{} with --overrun {}: a job that therefore takes longer than its estimate, which is by what it "
                  "declares, is killed there. Jobs killed for this: {}; with --overrun extend they go on",
                  fmt::join(errors, " and "), word_of(kOverruns, assumed.overrun), fmt::join(kills, ", ")));
  return notes;
}

}  // namespace replay::experiment
