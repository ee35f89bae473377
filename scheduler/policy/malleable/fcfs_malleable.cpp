// FCFS-malleable: strict arrival order over virtual malleability. A job keeps its processes for life and runs expanded
// (a core each) or shrunk (up to max_mpl processes share a core). When the head of the queue does not fit, running jobs
// are shrunk, as few as needed, until it fits shrunk; with an empty queue shrunk jobs are expanded again.
// Source: Utrera, Tabik, Corbalan, Labarta: A Job Scheduling Approach for Multi-core Clusters Based on Virtual
// Malleability, 2012, section 3.1, Algorithm 1 and Figure 2. Read as in docs/policies/fcfs-malleable.md, which says
// where Algorithm 1 to the letter and Figure 2 disagree and why the figure wins.
// easy-malleable is the paper's future work (section 5): the same, and behind a head that has to wait, later jobs start
// if they do not delay the instant at which shrinking could make room for it. No job is shrunk for a backfilled one.
// Room is counted on each node, as processes never leave theirs.
// fcfs-malleable may also start the head beside one running job, on cores of that job (share=first|last; ours).

#include "scheduler/policy/malleable/fcfs_malleable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/policy/malleable/core_sharing.hpp"
#include "scheduler/policy/view/counted_ends.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {
namespace {

enum class Criterion : std::uint8_t { kOldest, kLeastCpuUtil, kLongest, kShortest };

// Whether the head may start on cores of a running job: before any job is shrunk for it, or when that makes no room.
enum class Share : std::uint8_t { kOff, kFirst, kLast };

// A slowdown that is larger than the bound by no more than a rounding error is within it.
constexpr double kSlowdownTolerance = 1e-9;

struct FcfsMalleableSettings {
  int max_mpl = 2;
  Criterion criterion = Criterion::kOldest;
  bool expand_eagerly = false;
  bool backfill = false;
  bool shrunk_run_at_one_in_m = false;  // for estimated ends, whatever the runtime model says
  Share share = Share::kOff;
  double max_slowdown = 0;  // of either of two jobs on the same cores
};

// Cores that can be had, node by node; a pool is one node, without a limit of processes per job.
class Room {
 public:
  Room(const FreeCores& free, const Machine& machine)
      : machine_(machine), cores_(machine.names_cores() ? static_cast<std::size_t>(machine.nodes()) : 1, free.total()) {
    for (std::size_t node = 0; machine.names_cores() && node < cores_.size(); ++node)
      cores_[node] = free.on_node(static_cast<NodeId>(node));
  }

  void add(std::size_t node, CoreCount cores) { cores_[node] += cores; }

  // As FreeCores::place() would: no node gets more processes of a job than it has cores.
  [[nodiscard]] bool holds(ProcessCount processes, int mpl) const {
    if (!machine_.names_cores()) return processes_at(cores_.front(), mpl) >= processes;
    ProcessCount places = 0;
    auto cores = cores_.begin();
    for (const NodeGroup& group : machine_.groups()) {
      const ProcessCount most = processes_at(group.cores_per_node(), 1);
      for (const auto end = cores + group.nodes; cores != end; ++cores)
        places += std::min(processes_at(*cores, mpl), most);
    }
    return places >= processes;
  }

 private:
  const Machine& machine_;
  std::vector<CoreCount> cores_;
};

// The latest start of the head if every job that can be shrunk is shrunk, and the room that there is then.
struct ShrunkShadow {
  Instant at;
  Room room;
  ProcessCount head;
  int deepest;  // level of the head

  [[nodiscard]] bool head_fits() const { return room.holds(head, deepest); }
};

// The running job on the cores of which another one starts: its place in Pass::jobs_, and the level of the other one.
struct Host {
  std::size_t place;
  int level;
};

// A job of this pass and the cores it would have after it.
struct Candidate {
  const Job* job;
  const RunningJob* running;  // nullptr: started in this pass
  Allocation allocation;
  bool malleable;
  bool started_now;
  double cpu_use;
  std::optional<Host> host = {};  // started in this pass on cores of this job
};

// One pass, on a copy of the free cores and of what each job holds. Only emit() makes decisions of it, so a job that is
// shrunk and expanded again within one instant is not touched at all.
class Pass {
 public:
  Pass(const ClusterView& view, const FcfsMalleableSettings& settings)
      : view_(view), settings_(settings), free_(view.free), now_(view.now) {
    jobs_.reserve(view.running.size() + 4);
    for (const RunningJob* running : view.running.by_start()) {
      if (running->is_gone_in_plan() || running->is_suspended()) continue;
      jobs_.push_back({running->job, running, running->allocation, running->is_malleable(), running->started == now_,
                       running->cpu_use});
    }
  }

  // Rules (1) to (4) for the head. False: it waits, and nothing has changed.
  bool start(const Job& head) {
    const int deepest = deepest_of(head);
    std::optional<Allocation> place = fit(head, deepest);  // (1) expanded, (2) shrunk
    if (!place && settings_.share == Share::kFirst && start_beside(head, deepest)) return true;
    if (!place) place = fit_by_shrinking(head, deepest);                                // (3)
    if (!place) return settings_.share == Share::kLast && start_beside(head, deepest);  // else (4)
    place->shareable = settings_.share != Share::kOff && may_share_cores(head);
    enter(head, std::move(*place));
    return true;
  }

  // "J2 and J3 can run expanded": expands jobs started at this instant that need not have been shrunk.
  void expand_started_now() {
    for (Candidate& candidate : jobs_)  // in start order: oldest first
      if (candidate.started_now) expand(candidate);
  }

  // By estimates, with all that this pass has changed so far: the cores that shrinking can free, and all cores of jobs
  // that have ended by then.
  [[nodiscard]] ShrunkShadow shadow_of(const Job& head) const {
    struct End {
      Instant at;
      std::size_t node;
      CoreCount cores;
    };
    ShrunkShadow shadow{now_, Room{free_, view_.machine}, head.processes, deepest_of(head)};
    std::vector<End> ends;
    for (const ClosedNode& closed : free_.closed())
      ends.push_back({closed.up_again(now_), index_of(closed.node), view_.machine.cores_of(closed.node).size()});
    for (const Candidate& c : jobs_) {
      const Instant end = estimated_end(c);
      for_each_least(*c.job, c.allocation, c.malleable, [&](std::size_t node, CoreCount held, CoreCount least) {
        if (free_.is_open(NodeId{static_cast<std::int32_t>(node)})) {
          shadow.room.add(node, held - least);
          ends.push_back({end, node, least});
        } else if (End& up = *std::ranges::find(ends, node, &End::node); end > up.at) {  // these come first
          up.cores -= held;
          ends.push_back({end, node, held});
        }
      });
    }
    std::ranges::sort(ends, {}, &End::at);
    for (std::size_t i = 0; i < ends.size() && (ends[i].at <= shadow.at || !shadow.head_fits()); ++i) {
      shadow.at = std::max(shadow.at, ends[i].at);
      shadow.room.add(ends[i].node, ends[i].cores);
    }
    return shadow;
  }

  // Starts `job` expanded if there is room for it, else shrunk; on free cores only, and only if the head's shadow is
  // not moved.
  void backfill(const Job& job, ShrunkShadow& shadow) {
    auto place = fit(job, deepest_of(job));
    if (!place) return;
    if (Progress{job.estimate, now_, rate_of(job, *place)}.end() > shadow.at) {
      const auto change_room = [&](CoreCount sign) {
        for_each_least(job, *place, job.can_shrink(), [&](std::size_t node, CoreCount /*held*/, CoreCount least) {
          shadow.room.add(node, sign * least);
        });
      };
      change_room(-1);
      if (!shadow.head_fits()) {
        change_room(+1);
        return;
      }
    }
    enter(job, std::move(*place));
  }

  [[nodiscard]] bool has_free_cores() const { return free_.total() > 0; }

  void expand_all() {
    for (Candidate* candidate : in_criterion_order()) expand(*candidate);
  }

  // Shrinks first: they make the room for the rest. The pass has counted cores per node; here they get their names. A
  // job keeps every core that it can keep: one that keeps its number of cores is not moved.
  void emit(const ClusterView& view, Decisions& out) {
    FreeCores free{view.free};
    const auto resize_those_that = [&](auto changes) {
      for (Candidate& c : jobs_)
        if (c.running != nullptr && changes(c.allocation.cores, c.running->allocation.cores)) resize(c, free, out);
    };
    resize_those_that(std::less{});
    // A job that starts on the cores of another one needs the cores with which that one was expanded.
    const bool expand_first = std::ranges::any_of(jobs_, [](const Candidate& c) { return c.host.has_value(); });
    if (expand_first) resize_those_that(std::greater{});
    for (Candidate& c : jobs_) {
      if (c.running != nullptr) continue;
      Allocation place = *(c.host ? free.place_beside(cores_of(jobs_[c.host->place]), c.job->processes, c.host->level)
                                  : free.place_like(c.allocation));
      free.take(place);
      if (place.shareable) c.allocation = place;
      out.emplace_back(Start{c.job->id, std::move(place)});
    }
    if (!expand_first) resize_those_that(std::greater{});
  }

 private:
  void enter(const Job& job, Allocation on, std::optional<Host> host = {}) {
    free_.take(on);
    jobs_.push_back({&job, nullptr, std::move(on), job.can_shrink(), true, job.declared.cpu_use, host});
  }

  [[nodiscard]] int deepest_of(const Job& job) const { return job.can_shrink() ? settings_.max_mpl : 1; }

  // Calls visit(node, cores held there, cores that it keeps when it is shrunk as far as it goes).
  template <class Visit>
  void for_each_least(const Job& job, const Allocation& on, bool malleable, Visit visit) const {
    const auto least = [&](CoreCount held, ProcessCount processes) {
      return malleable ? std::min(held, cores_at(processes, settings_.max_mpl)) : held;
    };
    if (!view_.machine.names_cores()) {
      visit(std::size_t{0}, on.cores, least(on.cores, job.processes));
      return;
    }
    for_each_node(on, view_.machine, [&](const NodeShare& share) {
      const auto held = static_cast<CoreCount>(share.cores.size());
      visit(static_cast<std::size_t>(share.node), held, least(held, share.processes));
    });
  }

  [[nodiscard]] double rate_of(const Job& job, const Allocation& on) const {
    return settings_.shrunk_run_at_one_in_m ? 1.0 / on.mpl : view_.rate_of(job, on);
  }

  [[nodiscard]] Instant estimated_end(const Candidate& c) const {
    const double rate = rate_of(*c.job, c.allocation);
    if (c.running == nullptr) return Progress{c.job->estimate, now_, rate}.end();
    Progress budget = c.running->budget;
    if (rate == budget.rate()) return std::max(c.running->estimated_end, now_);
    budget.change_rate(now_, rate);
    return std::max(budget.end(), now_);
  }

  std::optional<Allocation> fit(const Job& job, int deepest) const {
    for (int mpl = 1; mpl <= deepest; ++mpl)
      if (auto place = free_.place(job.processes, mpl)) return place;
    return std::nullopt;
  }

  // On cores of one running job that no third job has: at the least level, and there the first job in the criterion's
  // order, so that no core gets more than max_mpl processes and neither job is slowed down beyond the bound.
  bool start_beside(const Job& head, int deepest) {
    if (!may_share_cores(head)) return false;
    const std::vector<Candidate*> order = in_criterion_order();
    for (int level = 1; level <= std::min(deepest, settings_.max_mpl - 1); ++level)
      for (const Candidate* host : order) {
        if (!host->allocation.shareable || host->allocation.mpl + level > settings_.max_mpl) continue;
        if (host->running != nullptr && host->job->can_shrink() && !host->malleable)
          continue;  // turned out to be rigid
        auto place = free_.place_beside(host->allocation, head.processes, level);
        if (!place || !get_along({*host->job, host->allocation}, {head, *place})) continue;
        enter(head, std::move(*place), Host{static_cast<std::size_t>(host - jobs_.data()), level});
        return true;
      }
    return false;
  }

  [[nodiscard]] bool get_along(const PlacedJob& one, const PlacedJob& other) const {
    const double most = settings_.max_slowdown + kSlowdownTolerance;
    return slowdown_beside(view_, one, other) <= most && slowdown_beside(view_, other, one) <= most;
  }

  // Shrinks running jobs one level per round, in the criterion's order, until the head fits; undoes it all if it never
  // does. From round to round the head may be shrunk further too, which may be enough without another victim.
  std::optional<Allocation> fit_by_shrinking(const Job& head, int deepest) {
    std::vector<std::pair<Candidate*, Allocation>> undo;
    const std::vector<Candidate*> order = in_criterion_order();
    for (int level = 2; level <= settings_.max_mpl; ++level) {
      if (level > 2 && level <= deepest)
        if (auto place = fit(head, level)) return place;
      for (Candidate* victim : order) {
        if (!victim->malleable || victim->allocation.mpl >= level) continue;
        if (is_sharing(victim->allocation, free_)) continue;
        if (free_.gain(victim->allocation, victim->job->processes, level) <= 0) continue;
        undo.emplace_back(victim, victim->allocation);
        move(*victim, *free_.at_level(victim->allocation, victim->job->processes, level));
        if (auto place = fit(head, std::min(deepest, level))) return place;
      }
    }
    for (auto entry = undo.rbegin(); entry != undo.rend(); ++entry) move(*entry->first, std::move(entry->second));
    return std::nullopt;
  }

  // Pinned, or one that has refused an order or was adopted.
  static bool stays(const Candidate& candidate) {
    return candidate.running != nullptr &&
           (candidate.running->is_pinned() || candidate.running->malleability == Malleability::kRefuses);
  }

  // Goes to the next smaller level as a whole, repeatedly, as long as there is room.
  void expand(Candidate& candidate) {
    if (is_sharing(candidate.allocation, free_) || stays(candidate)) return;
    while (candidate.allocation.mpl > 1) {
      auto wider = free_.at_level(candidate.allocation, candidate.job->processes, candidate.allocation.mpl - 1);
      if (!wider) return;
      move(candidate, std::move(*wider));
    }
  }

  // With their names, once its decision has been made.
  static const Allocation& cores_of(const Candidate& c) {
    const bool is_where_it_was = c.running != nullptr && c.allocation.cores == c.running->allocation.cores;
    return is_where_it_was ? c.running->allocation : c.allocation;
  }

  static void resize(Candidate& c, FreeCores& free, Decisions& out) {
    Allocation to = *free.at_level(c.running->allocation, c.job->processes, c.allocation.mpl);
    free.release(c.running->allocation);
    free.take(to);
    if (to.shareable) c.allocation = to;
    out.emplace_back(Resize{c.job->id, std::move(to)});
  }

  void move(Candidate& candidate, Allocation to) {
    free_.release(candidate.allocation);
    free_.take(to);
    candidate.allocation = std::move(to);
  }

  std::vector<Candidate*> in_criterion_order() {
    std::vector<Candidate*> order;
    order.reserve(jobs_.size());
    for (Candidate& candidate : jobs_) order.push_back(&candidate);
    const auto by = [&order](auto key) { std::ranges::stable_sort(order, {}, key); };
    switch (settings_.criterion) {
      case Criterion::kOldest: break;  // jobs_ is in start order
      case Criterion::kLeastCpuUtil: by([](const Candidate* c) { return c->cpu_use; }); break;
      case Criterion::kLongest: by([](const Candidate* c) { return -c->job->estimate.count(); }); break;
      case Criterion::kShortest: by([](const Candidate* c) { return c->job->estimate.count(); }); break;
    }
    return order;
  }

  const ClusterView& view_;
  const FcfsMalleableSettings& settings_;
  FreeCores free_;
  Instant now_;
  std::vector<Candidate> jobs_;  // in start order
};

class FcfsMalleable final : public Policy, public Hosting {
 public:
  explicit FcfsMalleable(FcfsMalleableSettings settings) : settings_(settings) {}

  void decide(const ClusterView& view, Decisions& out) override {
    if (settings_.share != Share::kOff && !view.machine.names_cores())
      throw PolicyError(
          fmt::format("fcfs-malleable with 'share' puts two jobs on the same cores: expected a machine of "
                      "nodes, found {}; try --machine 4x2x2",
                      view.machine.to_text()));
    if (counted_.are_all(view)) return;
    if (!time_stands(view)) counted_.note_pass(view);
    if (view.waiting.empty() && nobody_is_shrunk(view)) return;
    Pass pass{view, settings_};
    auto waiting = view.waiting.begin();
    for (bool has_started = true; has_started;) {
      const Job* blocked = nullptr;
      for (; waiting != view.waiting.end() && blocked == nullptr; ++waiting)
        if (!pass.start(**waiting)) blocked = *waiting;
      if (blocked != nullptr) pass.expand_started_now();
      if (blocked != nullptr && settings_.backfill) backfill(pass, *blocked, waiting, view.waiting.end());
      if (blocked == nullptr || settings_.expand_eagerly) pass.expand_all();
      // A job that was expanded has more cores on which another one can start.
      has_started = blocked != nullptr && settings_.share != Share::kOff && pass.start(*blocked);
    }
    pass.emit(view, out);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    const bool head_may_move = !view.waiting.empty() && !view.running.by_estimated_end().empty() &&
                               view.running.by_estimated_end().front()->estimated_end < until;
    return head_may_move ? CoreCount{0} : view.free.total();
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    if (view.waiting.empty() || view.waiting.head().id != job.id) return false;
    const int deepest = job.can_shrink() ? settings_.max_mpl : 1;
    for (int mpl = 1; mpl <= deepest; ++mpl)
      if (view.free.place(job.processes, mpl)) return true;
    return false;
  }

 private:
  // [next, end) are the jobs behind the head.
  static void backfill(Pass& pass, const Job& head, WaitingQueue::iterator next, WaitingQueue::iterator end) {
    if (next == end || !pass.has_free_cores()) return;
    ShrunkShadow shadow = pass.shadow_of(head);
    for (; next != end && pass.has_free_cores(); ++next) pass.backfill(**next, shadow);
  }

  static bool nobody_is_shrunk(const ClusterView& view) {
    return std::ranges::all_of(view.running.by_start(),
                               [](const RunningJob* job) { return job->allocation.is_expanded(); });
  }

  FcfsMalleableSettings settings_;
  CountedEnds counted_;  // expanding moves ends: a second pass would see other ends than the first
};

constexpr ParameterSpec kMaxMplParameter = {"max_mpl",
                                            ParameterType::kInteger,
                                            "2",
                                            "1..64",
                                            "processes per core",
                                            "highest multiprogramming level; 1 never shrinks",
                                            "Utrera et al. 2012, section 3.1"};
constexpr ParameterSpec kCriterionParameter = {"criterion",
                                               ParameterType::kChoice,
                                               "oldest",
                                               "oldest|least-cpu-util|longest|shortest",
                                               "",
                                               "which running job is shrunk or expanded first",
                                               "Utrera et al. 2012, section 3.1"};
constexpr ParameterSpec kExpandParameter = {
    "expand",
    ParameterType::kChoice,
    "queue-empty",
    "queue-empty|eager",
    "",
    "when older shrunk jobs are expanded: with an empty queue (the paper), or also while the head cannot start",
    "Utrera et al. 2012, section 3.1; eager is ours"};
constexpr ParameterSpec kFcfsMalleableParameters[] = {
    kMaxMplParameter,
    kCriterionParameter,
    kExpandParameter,
    {"share", ParameterType::kChoice, "off", "off|last|first", "",
     "whether the head may start on cores of a running job, taking turns with it: when shrinking makes no room for it, "
     "or "
     "before any job is shrunk",
     "ours"},
    {"max_slowdown", ParameterType::kNumber, "1.5", "1..64", "times its time alone",
     "largest slowdown of either of two jobs on the same cores, by the runtime model", "ours"},
};
constexpr ParameterSpec kEasyMalleableParameters[] = {
    kMaxMplParameter,
    kCriterionParameter,
    kExpandParameter,
    {"estimate", ParameterType::kChoice, "declared", "declared|conservative", "",
     "how fast a shrunk job is taken to run when ends are estimated: at the rate that the runtime model gives it by "
     "what it declares, or at 1 / m",
     "ours"},
};

std::unique_ptr<Policy> make_malleable(const Parameters& parameters, bool backfill) {
  FcfsMalleableSettings settings;
  settings.backfill = backfill;
  settings.shrunk_run_at_one_in_m = backfill && parameters.choice("estimate") == "conservative";
  settings.max_mpl = static_cast<int>(parameters.integer("max_mpl"));
  if (!backfill) {
    settings.share =
        parameters.choice<Share>("share", {{"off", Share::kOff}, {"last", Share::kLast}, {"first", Share::kFirst}});
    settings.max_slowdown = parameters.number("max_slowdown");
  }
  settings.expand_eagerly = parameters.choice("expand") == "eager";
  settings.criterion = parameters.choice<Criterion>("criterion", {{"oldest", Criterion::kOldest},
                                                                  {"least-cpu-util", Criterion::kLeastCpuUtil},
                                                                  {"longest", Criterion::kLongest},
                                                                  {"shortest", Criterion::kShortest}});
  return std::make_unique<FcfsMalleable>(settings);
}

std::unique_ptr<Policy> make_fcfs_malleable(const Parameters& parameters) { return make_malleable(parameters, false); }

std::unique_ptr<Policy> make_easy_malleable(const Parameters& parameters) { return make_malleable(parameters, true); }

}  // namespace

constinit const PolicyEntry kFcfsMalleablePolicy{
    "fcfs-malleable", "arrival order; shrinks running jobs so that the head can start",
    "Utrera, Tabik, Corbalan, Labarta 2012", kFcfsMalleableParameters, make_fcfs_malleable};
constinit const PolicyEntry kEasyMalleablePolicy{
    "easy-malleable", "fcfs-malleable with backfilling that does not delay the head",
    "Utrera et al. 2012, section 5, future work; rules are ours", kEasyMalleableParameters, make_easy_malleable};

}  // namespace replay
