#include "launcher/daemon/agent_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "launcher/daemon/agent_session.hpp"
#include "launcher/daemon/executor_inputs.hpp"
#include "launcher/daemon/job_parts.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/blocking_call.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

constexpr std::chrono::seconds kUnheard{5};                // five missed heartbeats
constexpr std::chrono::milliseconds kJobsEndWithin{2000};  // as ordered, where the agent answers
constexpr std::chrono::milliseconds kBetweenGlances{200};
constexpr std::chrono::milliseconds kBetweenRejoins{2'000};

class AgentExecutor final : public MeasuredExecutor {
 public:
  AgentExecutor(AgentHandle child, const std::vector<PuId>& pu_of_core) {
    auto& node = nodes_.emplace_back(std::make_unique<Node>());
    node->child.emplace(std::move(child));
    for (const PuId pu : pu_of_core) places_.push_back({0, number(pu)});
  }
  explicit AgentExecutor(std::vector<RemoteNode> remote) {
    for (RemoteNode& one : remote) {
      for (const PuId pu : one.cores) places_.push_back({nodes_.size(), number(pu)});
      auto& node = nodes_.emplace_back(std::make_unique<Node>());
      if (remote.size() > 1) node->host = one.host, node->rejoin = std::move(one.rejoin);
      node->link.emplace(std::move(one.link));
    }
  }

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    hurry_.emplace(loop, -1, 0, [this] { lose_the_unheard_if_only_their_jobs_are_left(); });
    loop_ = loop;
    for (std::size_t number = 0; number < nodes_.size(); ++number) open_session(number);
  }

  void detach() override {
    hurry_.reset();
    for (const auto& node : nodes_) {
      node->rejoining.reset();
      node->rejoin_event.reset();
      node->session.reset();
    }
    listener_ = nullptr;
    is_lost_ = true;  // no order is sent any more; the destructor ends the agents and their jobs
  }

  void launch(const live::LaunchOrder& order) override {
    std::vector<JobParts::Part> parts;
    for (const Place& place : places_of(order.core_of_rank)) {
      INVARIANT(!nodes_[place.node]->is_down, "job {} is launched on node {}, which is down",
                static_cast<std::int64_t>(order.job), place.node);
      if (parts.empty() || parts.back().node != place.node) parts.push_back({place.node, nodes_[place.node]->host, {}});
      parts.back().cores.push_back(place.pu);
    }
    const auto send_to = [this](std::size_t node, const protocol::AgentOrder& one) { send(node, one); };
    jobs_.erase(order.job);
    const JobParts& job = jobs_.try_emplace(order.job, order.job, std::move(parts), send_to, *listener_).first->second;
    protocol::LaunchJob launch{order.job,
                               order.command,
                               order.environment,
                               std::filesystem::absolute(order.directory).string(),
                               {},
                               order.malleable,
                               nodes_.front()->link ? 0 : monotonic_ns(),  // the clock of another node is another one
                               order.working_directory.string(),
                               order.surroundings};
    launch.label = order.label;
    if (job.parts().size() > 1) {
      for (const JobParts::Part& part : job.parts())
        launch.hosts.push_back(
            {part.host, nodes_[part.node]->link->address.to_text(), static_cast<std::int32_t>(part.cores.size())});
      const LinkTarget& first = *nodes_[job.parts().front().node]->link;
      launch.key = protocol::job_key(first.key, first.session.id, ++spanning_launches_);
    }
    for (const JobParts::Part& part : job.parts()) {
      launch.core_of_rank = part.cores;
      send(part.node, launch);
      ++launch.own_host;
    }
  }
  void resize(JobId id, const std::vector<CoreId>& core_of_rank) override {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;  // its end is on its way
    const std::vector<Place> places = places_of(core_of_rank);
    std::vector<std::vector<std::int32_t>> cores;
    auto place = places.begin();
    for (const JobParts::Part& part : job->second.parts()) {
      auto& here = cores.emplace_back();
      for (; here.size() < part.cores.size() && place != places.end() && place->node == part.node; ++place)
        here.push_back(place->pu);
      INVARIANT(here.size() == part.cores.size(), "a rank of job {} leaves its node", static_cast<std::int64_t>(id));
    }
    INVARIANT(place == places.end(), "job {} gets more cores than ranks", static_cast<std::int64_t>(id));
    job->second.resize(cores);
  }
  void suspend(JobId job) override {
    tell(job, [](JobParts& parts) { parts.suspend(); });
  }
  void resume(JobId job) override {
    tell(job, [](JobParts& parts) { parts.resume(); });
  }
  void end(JobId job, Outcome reason) override {
    tell(job, [reason](JobParts& parts) { parts.end(reason); });
  }
  void slow_down(JobId job, double slowdown) override {
    const double within = std::clamp(slowdown, protocol::kLeastSlowdown, protocol::kMostSlowdown);
    tell(job, [within](JobParts& parts) { parts.slow_down(within); });
  }
  void hurry() override { hurry_->arm_after(kJobsEndWithin); }

  void hold() override { holds_ = true; }
  void release() override {
    for (const auto& node : nodes_)
      if (node->session) node->session->release();
  }
  void play(const std::string& input) override {
    is_played_ = true;
    std::visit([this](const auto& one) { take(one); }, executor_input(input, nodes_.size()));
    is_played_ = false;
  }
  void go_on() override {
    for (const auto& node : nodes_)
      if (node->session && !node->is_down && !node->link->stream.is_open()) node->session->go_on();
  }
  void leave() override {
    is_lost_ = true;
    for (const auto& node : nodes_) {
      node->rejoining.reset();
      node->session.reset();
      node->link->close();
    }
  }

  void tell_statistics_to(OnStatistics on_statistics) override { on_statistics_ = std::move(on_statistics); }
  void ask_statistics(JobId job) override {
    tell(job, [](JobParts& parts) { parts.ask_statistics(); });
  }

 private:
  /// An agent: our child, or one behind a link.
  struct Node {
    std::string host;  // for reasons of jobs; empty: the only node
    std::optional<AgentHandle> child;
    std::optional<AgentLink> link;
    std::function<AgentLink(int cancel)> rejoin;
    bool is_silent = false;  // its line is cut
    bool is_down = false;
    std::optional<LoopEvent> rejoin_event;               // with `rejoin`, while it is down
    std::unique_ptr<BlockingCall<AgentLink>> rejoining;  // the same
    std::string why_not;                                 // the last try has failed
    // Last, so that it is destroyed before the stream is closed, which ends all jobs.
    std::optional<AgentSession> session;

    [[nodiscard]] std::string explain(const std::string& reason) const {
      if (!link) return reason;
      return host.empty() ? fmt::format("{}: {}", link->name, reason)
                          : fmt::format("{} ({}): {}", host, link->name, reason);
    }
  };
  /// Of a core: its node, and its number there.
  struct Place {
    std::size_t node;
    std::int32_t pu;
  };

  [[nodiscard]] std::vector<Place> places_of(const std::vector<CoreId>& cores) const {
    std::vector<Place> found;
    for (const CoreId core : cores) {
      INVARIANT(index_of(core) < places_.size(), "core {} of a machine of {}", core, places_.size());
      found.push_back(places_[index_of(core)]);
    }
    return found;
  }

  void open_session(std::size_t number) {
    Node& node = *nodes_[number];
    const auto on_report = [this, number](const protocol::AgentReport& report) {
      if (protocol::is_numbered(report)) tell_input(Reported{number, report});
      pass_on_report(number, report);
    };
    const auto on_lost = [this, number](const std::string& reason) { hear(NodeLost{number, reason}); };
    if (node.link)
      node.session.emplace(
          loop_, *node.link, on_report, on_lost,
          [this, number](AgentSession::LineState line, const std::string& text) {
            hear(LineChanged{number, line == AgentSession::LineState::kMended, text});
          },
          holds_);
    else
      node.session.emplace(loop_, node.child->stream(), on_report, on_lost);
  }

  // ---- what comes from the nodes ----

  void tell_input(const ExecutorInput& input) {
    if (holds_ && !is_played_) listener_->on_input(to_bytes(input));
  }
  template <class Input>
  void hear(Input input) {
    if (is_lost_) return;
    tell_input(input);
    take(input);
  }

  // Another executor of this run has got it.
  void take(const Reported& input) { nodes_[input.node]->session->play(input.report); }

  void take(const LineChanged& input) {
    Node& node = *nodes_[input.node];
    const bool was_silent = std::exchange(node.is_silent, !input.is_mended);
    if (nodes_.size() == 1 || was_silent == node.is_silent) return listener_->on_site_noted(node.explain(input.text));
    tell(input.node, node.is_silent ? NodeState::kSilent : NodeState::kUp, input.text);
  }

  void take(const NodeLost& input) { lose(input.node, input.reason); }

  void take(const RejoinFailed& input) {
    Node& node = *nodes_[input.node];
    node.why_not = input.why_not;
    listener_->on_site_noted(fmt::format("{}, which is down: {}", node.host, input.why_not));
  }

  void take(const NodeRejoined& input) {
    AgentLink link;
    static_cast<LinkTarget&>(link) = *nodes_[input.node]->link;
    link.address = LinkAddress::parse(input.address);
    link.session = {.id = input.session, .lease_ms = link.session.lease_ms};
    come_back(input.node, std::move(link));
  }

  void tell(std::size_t number, NodeState state, const std::string& reason) {
    listener_->on_node({NodeId{static_cast<std::int32_t>(number)}, state, kNever, reason, ""}, nodes_[number]->host);
  }

  void send(std::size_t node, const protocol::AgentOrder& order) {
    INVARIANT(nodes_[node]->session || is_lost_, "an order before attach()");
    if (!is_lost_) nodes_[node]->session->send(order);
  }

  void pass_on_report(std::size_t number, const protocol::AgentReport& report) {
    std::visit([this, number](const auto& r) { pass_on(number, r); }, report);
  }

  template <class Do>
  void tell(JobId id, Do what) {
    if (const auto job = jobs_.find(id); job != jobs_.end()) what(job->second);
  }

  void pass_on(std::size_t node, const protocol::JobStatistics& report) {
    const auto job = jobs_.find(report.job);
    if (job == jobs_.end() || !job->second.is_on(node) || !on_statistics_) return;
    if (const auto joined = job->second.join(node, report)) on_statistics_(*joined);
  }

  /// Of a job that has ended nothing is passed on, nor are Hello and Heartbeat.
  template <class Report>
  void pass_on(std::size_t node, const Report& report) {
    if constexpr (requires(JobParts & parts) { parts.on(node, report); }) {
      const auto job = jobs_.find(report.job);
      if (job == jobs_.end() || !job->second.is_on(node)) return;
      job->second.on(node, report);
      if (const auto now = jobs_.find(report.job); now != jobs_.end() && now->second.is_over()) jobs_.erase(now);
    }
  }

  /// Agents that are forked here die with a word.
  [[nodiscard]] bool is_unheard(std::size_t number) const {
    const Node& node = *nodes_[number];
    return node.link && !node.is_down && node.session->silent_for() > kUnheard;
  }

  void lose_the_unheard_if_only_their_jobs_are_left() {
    if (is_lost_) return;
    hurry_->arm_after(kBetweenGlances);
    for (const auto& [id, job] : jobs_)
      if (std::ranges::none_of(job.parts(), [this](const JobParts::Part& part) { return is_unheard(part.node); }))
        return;
    if (jobs_.empty()) return;
    for (std::size_t number = 0; number < nodes_.size(); ++number)
      if (is_unheard(number))
        hear(NodeLost{number, fmt::format("not heard of for {:.0f} s, and the run is told to end: it is not waited for",
                                          nodes_[number]->session->silent_for().count())});
  }

  void lose(std::size_t number, const std::string& reason) {
    if (is_lost_) return;
    Node& lost = *nodes_[number];
    lost.is_down = true;
    lost.is_silent = false;
    lost.session->give_up();
    if (std::ranges::all_of(nodes_, [](const auto& node) { return node->is_down; }))
      return lose_all(lost.explain(reason));
    lost.link->end();  // what still runs there ends
    tell(number, NodeState::kDown, reason);
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      if (job->second.is_on(number)) job->second.lose(number, reason);
      job = job->second.is_over() ? jobs_.erase(job) : std::next(job);
    }
    if (!lost.rejoin) return;
    lost.rejoin_event.emplace(loop_, -1, 0, [this, number] { rejoin(number); });
    lost.rejoin_event->arm_after(kBetweenRejoins);
  }

  void lose_all(const std::string& reason) {
    is_lost_ = true;
    for (const auto& node : nodes_) node->link ? node->link->end() : node->child->stop();  // the same
    jobs_.clear();
    listener_->on_lost(reason);
  }

  // ---- a node that is down, and may come back ----

  void rejoin(std::size_t number) {
    Node& node = *nodes_[number];
    if (is_lost_) return;
    try {
      node.rejoining = std::make_unique<BlockingCall<AgentLink>>(
          loop_, node.rejoin,
          [this, number](BlockingCall<AgentLink>::Result result) { on_rejoined(number, std::move(result)); });
    } catch (const std::system_error&) {  // no thread: perhaps the next time
      node.rejoin_event->arm_after(kBetweenRejoins);
    }
  }

  void on_rejoined(std::size_t number, BlockingCall<AgentLink>::Result result) {
    Node& node = *nodes_[number];
    node.rejoining.reset();
    if (is_lost_) return;
    if (const auto* why_not = std::get_if<std::string>(&result)) {
      if (*why_not != node.why_not) hear(RejoinFailed{number, *why_not});
      return node.rejoin_event->arm_after(kBetweenRejoins);
    }
    AgentLink link = std::get<AgentLink>(std::move(result));
    tell_input(NodeRejoined{number, link.address.to_text(), link.session.id});
    come_back(number, std::move(link));
  }

  void come_back(std::size_t number, AgentLink link) {
    Node& node = *nodes_[number];
    node.rejoin_event.reset();
    node.why_not.clear();
    node.session.reset();  // before the link that it uses
    *node.link = std::move(link);
    node.is_down = false;
    open_session(number);
    tell(number, NodeState::kUp, "an agent is there again");
  }

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Place> places_;  // of the machine's cores
  event_base* loop_ = nullptr;
  live::ExecutorListener* listener_ = nullptr;
  OnStatistics on_statistics_;
  std::map<JobId, JobParts> jobs_;  // launched, end not yet heard
  std::uint64_t spanning_launches_ = 0;
  bool holds_ = false;
  bool is_played_ = false;  // an input, at the moment
  bool is_lost_ = false;
  std::optional<LoopEvent> hurry_;  // none: not attached
};

}  // namespace

std::unique_ptr<MeasuredExecutor> make_local_executor(AgentHandle agent, LocalMachine local) {
  return std::make_unique<AgentExecutor>(std::move(agent), local.pu_of_core);
}

std::unique_ptr<MeasuredExecutor> make_remote_executor(std::vector<RemoteNode> nodes) {
  return std::make_unique<AgentExecutor>(std::move(nodes));
}

}  // namespace replay::launcher
