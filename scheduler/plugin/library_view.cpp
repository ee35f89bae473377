#include "scheduler/plugin/library_view.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <variant>

namespace replay::plugin {
namespace {

// ABI version 2: shared objects that exist have these offsets in them. Fields may follow the last one, nothing else.
static_assert(offsetof(replay_job, declaration) == 80 && offsetof(replay_job, can_shrink) == 44);
static_assert(offsetof(replay_declaration, pair_key) == 80 && offsetof(replay_declaration, speedup_parameters) == 32);
static_assert(offsetof(replay_running, cpu_use) == 48 && offsetof(replay_running, processes) == 44);
static_assert(sizeof(replay_trigger) == 16 && offsetof(replay_trigger, kind) == 8 && sizeof(replay_parameter) == 16);
static_assert(offsetof(replay_view, layout) == 88 && offsetof(replay_view, free_on_node) == 32);
static_assert(offsetof(replay_answer, fastest_size) == 112 && offsetof(replay_answer, start) == 16);
static_assert(offsetof(replay_policy_table, may_start_now) == 88 && offsetof(replay_policy_table, create) == 48);
static_assert(REPLAY_POLICY_ABI == 2 && sizeof(replay_layout) == 32);

std::int64_t microseconds(Instant instant) { return instant.time_since_epoch().count(); }

std::int32_t kind_of(TriggerKind kind) {
  switch (kind) {
    case TriggerKind::kSubmit: return REPLAY_SUBMIT;
    case TriggerKind::kFinish: return REPLAY_FINISH;
    case TriggerKind::kEstimateReached: return REPLAY_ESTIMATE_REACHED;
    case TriggerKind::kWake: return REPLAY_WAKE;
    case TriggerKind::kChange: return REPLAY_CHANGE;
    case TriggerKind::kNodes: return REPLAY_NODES;
  }
  return REPLAY_CHANGE;
}

std::int32_t flexibility_of(Flexibility flexibility) {
  switch (flexibility) {
    case Flexibility::kRigid: return REPLAY_RIGID;
    case Flexibility::kMoldable: return REPLAY_MOLDABLE;
    case Flexibility::kMalleable: return REPLAY_MALLEABLE;
  }
  return REPLAY_RIGID;
}

void set_speedup(const SpeedupCurve& curve, replay_declaration& out) {
  out.speedup = REPLAY_LINEAR;
  if (const auto* law = std::get_if<DowneySpeedup>(&curve.law())) {
    out.speedup = REPLAY_DOWNEY;
    out.speedup_parameters[0] = law->a;
    out.speedup_parameters[1] = law->sigma;
  } else if (const auto* points = std::get_if<ThreePointSpeedup>(&curve.law())) {
    out.speedup = REPLAY_THREE_POINT;
    out.speedup_parameters[0] = points->optimum;
    std::ranges::copy(points->efficiency, out.speedup_parameters + 1);
  }
}

replay_declaration declaration_of(const Declaration& declared) {
  static_assert(sizeof(ProcessCount) == sizeof(std::int32_t) && std::is_standard_layout_v<ProcessCount>,
                "`sizes` is passed on as it is");
  replay_declaration out{};
  out.least = declared.least.value_or(0);
  out.most = declared.most.value_or(0);
  out.sizes = reinterpret_cast<const std::int32_t*>(declared.sizes.data());
  out.size_count = declared.sizes.size();
  if (declared.speedup) set_speedup(*declared.speedup, out);
  out.has_pair_key = declared.pair_key ? 1 : 0;
  out.same_cpu_slowdown = declared.same_cpu_slowdown.value_or(0);
  out.same_node_slowdown = declared.same_node_slowdown.value_or(0);
  out.pair_key = declared.pair_key.value_or(0);
  return out;
}

}  // namespace

replay_job LibraryView::job_of(const Job& job) {
  const replay_declaration* declaration = nullptr;
  if (job.declaration) declaration = &declarations_.emplace_back(declaration_of(*job.declaration));
  return {static_cast<std::int64_t>(job.id),
          microseconds(job.submitted),
          job.estimate.count(),
          job.processes,
          flexibility_of(job.flexibility),
          job.user,
          job.group,
          job.queue,
          job.can_shrink() ? 1 : 0,
          job.user_priority,
          job.political_priority,
          job.declared.cpu_use,
          job.declared.network_overhead,
          declaration};
}

const replay_job& LibraryView::also(const Job& job) { return jobs_.emplace_back(job_of(job)); }

const replay_view& LibraryView::of(const ClusterView& view) {
  // Pointers into both are taken below, and also() adds one to each.
  const std::size_t most = view.waiting.size() + view.running.size() + 1;
  jobs_.clear();
  jobs_.reserve(most);
  declarations_.clear();
  declarations_.reserve(most);
  add_waiting(view);
  add_running(view);
  triggers_.clear();
  for (const Trigger& trigger : view.triggers)
    triggers_.push_back(
        {trigger.job == nullptr ? 0 : static_cast<std::int64_t>(trigger.job->id), kind_of(trigger.kind), 0});
  free_on_node_.clear();
  if (view.machine.names_cores())
    for (int node = 0; node < view.machine.nodes(); ++node) free_on_node_.push_back(view.free.on_node(NodeId{node}));
  else
    free_on_node_.push_back(view.free.total());
  closed_.clear();
  for (const ClosedNode& closed : view.free.closed())
    closed_.push_back({number(closed.node), 0, microseconds(closed.until)});
  view_ = {sizeof(replay_view),
           microseconds(view.now),
           view.machine.size(),
           view.machine.nodes(),
           view.free.total(),
           0,
           free_on_node_.data(),
           waiting_at_.data(),
           waiting_at_.size(),
           running_at_.data(),
           running_at_.size(),
           triggers_.data(),
           triggers_.size(),
           &layout_,
           microseconds(view.machine_until),
           closed_.data(),
           closed_.size()};
  return view_;
}

void LibraryView::add_waiting(const ClusterView& view) {
  waiting_at_.clear();
  for (const Job* job : view.waiting) {
    jobs_.push_back(job_of(*job));
    waiting_at_.push_back(&jobs_.back());
  }
}

void LibraryView::add_running(const ClusterView& view) {
  running_.clear();
  running_at_.clear();
  running_.reserve(view.running.size());
  for (const RunningJob* job : view.running.by_start()) {
    if (job->is_gone_in_plan()) continue;  // its cores count as free
    jobs_.push_back(job_of(*job->job));
    running_.push_back({&jobs_.back(), microseconds(job->started), microseconds(job->estimated_end),
                        job->allocation.cores, job->allocation.mpl, job->is_launched() ? 1 : 0,
                        job->is_malleable() ? 1 : 0, job->is_suspended() ? 1 : 0, job->processes(), job->cpu_use});
    running_at_.push_back(&running_.back());
  }
}

}  // namespace replay::plugin
