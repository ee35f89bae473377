// G-LOMARC-TS: space sharing with conservative backfilling, in which groups of jobs may share nodes. The first waiting
// job starts in the way that saves most nodes: with waiting jobs matched to it, beside running jobs, matched to a
// running job with others, or alone on full nodes; else alone with as many processes per node as its self slowdown lets
// it have. A group starts only if that delays no job beyond R_max. Serial jobs are bundled, and short ones share nothing.
// Source: Zeng and Sodan, G-LOMARC-TS, sections 4.3 to 4.6. How we read it, and where we differ:
// docs/policies/sharing.md.

#include "scheduler/policy/sharing/g_lomarc_ts.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/base/mix_bits.hpp"
#include "scheduler/policy/sharing/outlook.hpp"
#include "scheduler/policy/sharing/shared_cluster.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {
namespace sharing {
namespace {

class GLomarcTs final : public Policy, public Hosting {
 public:
  explicit GLomarcTs(const Settings& settings) : Policy({.needs_equal_nodes = true}), settings_(settings) {}

  void decide(const ClusterView& view, Decisions& out) override {
    State& state = state_of(view);
    cluster_ = &state.cluster;
    search_ = &state.search;
    out_ = &out;
    if (is_left_over(view)) return;
    state.outlook.forget();
    cluster_->follow(view, out);
    // Where no core is free there is no half of a node to join, either; time may stand (view/policy.hpp).
    for (bool again = view.free.total() > 0; again;) {
      while (!queue().empty() && start_head(*queue().front())) {
      }
      again = backfill();
    }
    const auto planned = cluster_->plan().by_start();
    if (planned.empty() || planned.front()->planned <= view.now) return;
    wakes_.insert(planned.front()->planned);
    out.emplace_back(WakeAt{planned.front()->planned});
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    State& state = state_of(view);
    const int free = free_nodes(state, view);
    if (until <= view.now || free == 0) return free * state.cluster.nodes().cores();
    state.outlook.look(view);
    return std::min<int>(free, state.outlook.profile().least_free(view.now, until)) * state.cluster.nodes().cores();
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    State& state = state_of(view);
    state.outlook.look(view);
    return shape_of(state, job).nodes <= free_nodes(state, view) && state.outlook.is_due(view, job);
  }

  std::optional<Allocation> alone(const ClusterView& view, const Job& job) const override {
    State& state = state_of(view);
    const KnownJob shape = shape_of(state, job);
    if (shape.nodes > free_nodes(state, view)) return std::nullopt;
    std::vector<Seat> seats;
    for (int i = 0; i < shape.nodes; ++i) seats.push_back({state.free[static_cast<std::size_t>(i)], Half::kFirst});
    return state.cluster.nodes().allocation(job.processes, shape.per_node, seats);
  }

  std::optional<Instant> planned_start(const Job& job) const override {
    const KnownJob* const known = state_ ? state_->cluster.find(job.id) : nullptr;
    return known == nullptr || known->unit != nullptr ? std::nullopt : std::optional{known->planned};
  }

 private:
  // Whether the pass is only for a timer of a plan that is in force no more. It changes nothing, as if it had never been set:
  // a new plan would differ where jobs run faster together than planned. A wrapper's own reasons are further triggers.
  [[nodiscard]] bool is_left_over(const ClusterView& view) {
    const bool was_asked_for = !wakes_.empty() && *wakes_.begin() <= view.now;
    wakes_.erase(wakes_.begin(), wakes_.upper_bound(view.now));
    if (!was_asked_for || view.triggers.size() != 1 || view.triggers.front().kind != TriggerKind::kWake) return false;
    const auto planned = cluster_->plan().by_start();
    return planned.empty() || planned.front()->planned > view.now;
  }

  // What is kept from pass to pass. It begins with the first view, which has the machine.
  struct State {
    State(const Settings& settings, const Machine& machine)
        : cluster(settings, machine), search(settings, cluster.slowdowns()) {}
    SharedCluster cluster;
    GroupSearch search;
    Outlook outlook{cluster};
    std::vector<int> free;
  };
  State& state_of(const ClusterView& view) const {
    if (!state_) state_ = std::make_unique<State>(settings_, view.machine);
    state_->cluster.slowdowns().use(view);
    return *state_;
  }
  static int free_nodes(State& state, const ClusterView& view) {
    state.cluster.nodes().list_free(view.free, state.free);
    return static_cast<int>(state.free.size());
  }

  [[nodiscard]] std::span<KnownJob* const> queue() const { return cluster_->queue(); }

  // ---- the first waiting job ----

  // Whether it starts.
  bool start_head(KnownJob& job) {
    if (shares_nothing(job)) return start_alone(job);
    if (cluster_->has_node_for_each_process() && job.processes() <= cluster_->free_nodes()) {
      cluster_->start_spread(job, *out_);
      return true;
    }
    if (job.is_serial()) return join_bundle(job) || start_alone(job);
    groups_.clear();
    if (may_be_in_group(job)) {
      find_with_waiting(job);
      find_with_running(job);
      find_running_primaries(job);
    }
    return start_best(job);
  }

  // ---- the others ----

  // Whether one of them starts. Those before it in the queue may go with it.
  bool backfill() {
    bool any = false;
    behind_.assign(queue().begin(), queue().end());
    for (std::size_t i = 1; i < behind_.size(); ++i)
      if (behind_[i]->unit == nullptr && start_behind_head(*behind_[i])) any = true;
    return any;
  }

  bool start_behind_head(KnownJob& job) {
    if (shares_nothing(job)) return start_alone(job);
    if (job.is_serial()) return join_bundle(job) || start_alone(job);
    groups_.clear();
    if (may_be_in_group(job)) find_with_waiting(job);
    return start_best(job);
  }

  // ---- by itself ----

  [[nodiscard]] bool shares_nothing(const KnownJob& job) const {
    return job.job_class == JobClass::kShort || settings_.variant == Variant::kSpaceSharing;
  }

  // Cases 4 and 5, and the first job of a bundle.
  bool start_alone(KnownJob& job) {
    if (!cluster_->is_due(job)) return false;
    cluster_->start(job, *out_);
    return true;
  }

  bool join_bundle(KnownJob& job) {
    bundles_.clear();
    for (Unit* const unit : cluster_->open_units(job.job_class))
      if (unit->is_bundle() && std::ssize(unit->jobs) < cluster_->nodes().half() && goes_with(job, *unit))
        bundles_.push_back(unit);
    std::ranges::sort(bundles_, {}, [](const Unit* unit) { return unit->seats.front().node; });
    for (Unit* const bundle : bundles_) {
      if (cluster_->try_join(job, *bundle)) continue;
      cluster_->start_join(job, *bundle, *out_);
      return true;
    }
    return false;
  }

  [[nodiscard]] bool goes_with(KnownJob& job, const Unit& bundle) const {
    const double most = settings_.max_slowdown + kTolerance;
    return std::ranges::all_of(bundle.jobs, [&](KnownJob* mate) {
      return cluster_->slowdowns().slowdown(job, 1, *mate) <= most &&
             cluster_->slowdowns().slowdown(*mate, 1, job) <= most;
    });
  }

  // ---- in groups ----

  [[nodiscard]] bool may_be_in_group(const KnownJob& job) const {
    return job.nodes_in_group <= cluster_->nodes().nodes();
  }

  // Waiting jobs of its class but itself.
  [[nodiscard]] std::span<const Candidate> others_waiting(const KnownJob& job) {
    pool_.clear();
    for (KnownJob* const other : queue())
      if (other != &job && other->job_class == job.job_class && may_be_in_group(*other))
        pool_.push_back(candidate_of(*other));
    return pool_;
  }

  // Case 1.
  void find_with_waiting(KnownJob& job) {
    if (job.nodes_in_group > cluster_->free_nodes()) return;
    collect(search_->find(Way::kWaitingWithWaiting, candidate_of(job), others_waiting(job), nullptr,
                          cluster_->free_nodes(), cluster_->now()));
  }

  // Case 2.
  void find_with_running(KnownJob& job) {
    list_running(job.job_class);
    collect(search_->find(Way::kWaitingWithRunning, candidate_of(job), running_, nullptr, cluster_->free_nodes(),
                          cluster_->now()));
  }

  // Case 3. The least delayed running jobs are tried.
  void find_running_primaries(KnownJob& job) {
    list_running(job.job_class);
    std::ranges::sort(running_, {}, [](const Candidate& one) { return std::tuple{one.delay, one.arrival}; });
    if (running_.size() > settings_.running) running_.resize(settings_.running);
    const Candidate head = candidate_of(job);
    const std::span<const Candidate> pool = others_waiting(job);
    for (const Candidate& primary : running_)
      collect(search_->find(Way::kRunningWithWaiting, primary, pool, &head, cluster_->free_nodes(), cluster_->now()));
  }

  void list_running(JobClass job_class) {
    running_.clear();
    for (Unit* const unit : cluster_->open_units(job_class)) running_.push_back(candidate_of(*unit, cluster_->now()));
  }

  void collect(std::span<const Group> found) {
    for (const Group& group : found) {
      if (settings_.takes_first() && !is_fair(group)) continue;
      groups_.push_back(group);
      if (settings_.takes_first()) return;
    }
  }

  // The group with the largest gain that is fair, or the job by itself.
  bool start_best(KnownJob& job) {
    while (!groups_.empty()) {
      auto best = groups_.begin();
      for (auto group = groups_.begin(); group != groups_.end(); ++group)
        if (group->gain > best->gain + kTolerance) best = group;
      if (job.may_fill_nodes && gain_on_full_nodes(job) > best->gain + kTolerance && cluster_->is_due(job)) break;
      if (is_fair(*best)) {
        cluster_->start_group(*best, *out_);
        return true;
      }
      groups_.erase(best);
    }
    return start_alone(job);
  }

  // Case 5.
  [[nodiscard]] static double gain_on_full_nodes(const KnownJob& job) {
    return job.processes() * job.rate_full / job.nodes - 1;
  }

  [[nodiscard]] bool is_fair(const Group& group) {
    const auto delayed = cluster_->try_group(group);
    if (delayed) note_refusal(group, *delayed);
    return !delayed;
  }

  // Once for each set of jobs that is matched to a primary.
  void note_refusal(const Group& group, const NodePlan::Delayed& delayed) {
    KnownJob& primary = *group.primary.jobs.front();
    const KnownJob& job = *delayed.job;
    MatchRefused refused{
        primary.id(), {}, group.gain, job.id(), delayed.end - job.submitted, job.latest - job.submitted};
    std::uint64_t bits = 0;
    for (const Candidate& candidate : group.matched)
      for (const KnownJob* matched : candidate.jobs) {
        refused.matched.push_back(matched->id());
        bits = mix_bits(bits ^ static_cast<std::uint64_t>(number(matched->id())));
      }
    if (std::ranges::find(primary.refused, bits) != primary.refused.end()) return;
    primary.refused.push_back(bits);
    out_->emplace_back(std::move(refused));
  }

  // The shape in which it would start by itself.
  static KnownJob shape_of(State& state, const Job& job) {
    const KnownJob* const known = state.cluster.find(job.id);
    KnownJob shape;
    if (known == nullptr) return state.cluster.described(job);
    shape.nodes = known->nodes;
    shape.per_node = known->per_node;
    return shape;
  }

  Settings settings_;
  std::set<Instant> wakes_;  // asked for
  // Of decide().
  SharedCluster* cluster_ = nullptr;
  GroupSearch* search_ = nullptr;
  Decisions* out_ = nullptr;
  std::vector<KnownJob*> behind_;
  std::vector<Unit*> bundles_;
  std::vector<Candidate> pool_, running_;
  std::vector<Group> groups_;

  mutable std::unique_ptr<State> state_;  // questions change nothing of it but what they have computed
};

constexpr const char* kPaper = "G-LOMARC-TS paper, Table 6";

constexpr ParameterSpec kGLomarcTsParameters[] = {
    {"variant", ParameterType::kChoice, "glts", "glts|ssp|cst|cstws|fbo|ns|nh", "",
     "the whole policy; space sharing only; pairs only, the best or the first one; groups from the first block only; "
     "no "
     "sorting; no sorting and no blocks, the first group",
     "G-LOMARC-TS paper, section 5.1"},
    {"max-sl", ParameterType::kNumber, "1.25", "1..10", "",
     "MAX_SL: largest slowdown by a job on the same nodes, and by itself on all cores of its nodes", kPaper},
    {"self-sl-2", ParameterType::kNumber, "1.12", "0.1..10", "",
     "SELF_SL_2: largest slowdown of a job by itself on half of the cores of its nodes", kPaper},
    {"min-utilgain", ParameterType::kNumber, "0.45", "-1..100", "", "MIN_UTILGAIN: least utilisation gain of a group",
     kPaper},
    {"block-size", ParameterType::kInteger, "16", "1..1000000", "jobs",
     "BLOCK_SIZE: candidates that are sorted together", kPaper},
    {"matched-larger", ParameterType::kNumber, "0.125", "0..100", "",
     "MATCHED_LARGER: share by which matched jobs may need more nodes than their primary", kPaper},
    {"running-prim-num", ParameterType::kInteger, "8", "0..1000000", "jobs",
     "RUNNING_PRIM_NUM: running jobs that are tried as primaries", kPaper},
    {"matched-longer", ParameterType::kDuration, "3000s", "", "",
     "MATCHED_LONGER: how much longer than its primary a matched job may be", kPaper},
    {"f-slack", ParameterType::kNumber, "1.5", "0..1000", "",
     "F_slack: how much longer than expected a response may be by the will of the policy", kPaper},
    {"estimate-factor", ParameterType::kNumber, "0.75", "0.01..100", "",
     "the expected response is this share of the planned one", "G-LOMARC-TS paper, section 5.1"},
    {"short", ParameterType::kDuration, "10min", "", "", "jobs that request up to this are short, and share nothing",
     "G-LOMARC-TS paper, section 5.1"},
    {"medium", ParameterType::kDuration, "3h", "", "",
     "longer ones that request up to this are medium, the others long", "G-LOMARC-TS paper, section 5.1"},
};

std::unique_ptr<Policy> make_g_lomarc_ts(const Parameters& parameters) {
  Settings settings;
  settings.variant = parameters.choice<Variant>("variant", {{"glts", Variant::kFull},
                                                            {"ssp", Variant::kSpaceSharing},
                                                            {"cst", Variant::kBestPair},
                                                            {"cstws", Variant::kFirstPair},
                                                            {"fbo", Variant::kFirstBlockOnly},
                                                            {"ns", Variant::kUnsorted},
                                                            {"nh", Variant::kFirstGroup}});
  settings.max_slowdown = parameters.number("max-sl");
  settings.max_self = parameters.number("self-sl-2");
  settings.min_gain = parameters.number("min-utilgain");
  settings.block = static_cast<std::size_t>(parameters.integer("block-size"));
  settings.matched_larger = parameters.number("matched-larger");
  settings.running = static_cast<std::size_t>(parameters.integer("running-prim-num"));
  settings.matched_longer = parameters.duration("matched-longer");
  settings.slack = parameters.number("f-slack");
  settings.estimate_factor = parameters.number("estimate-factor");
  settings.short_up_to = parameters.duration("short");
  settings.medium_up_to = parameters.duration("medium");
  return std::make_unique<GLomarcTs>(settings);
}

}  // namespace
}  // namespace sharing

constinit const PolicyEntry kGLomarcTsPolicy{
    .name = "g-lomarc-ts",
    .summary = "groups of jobs share nodes where that saves nodes, and delays no job too much",
    .source = "Zeng and Sodan, G-LOMARC-TS",
    .parameters = sharing::kGLomarcTsParameters,
    .make = sharing::make_g_lomarc_ts,
    .needs_nodes = true,
    .tells = kWordsOf<ResponseExpected, GroupFormed, GroupEnded, MatchRefused>};

}  // namespace replay
