#include "launcher/daemon/agent_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "launcher/daemon/agent_session.hpp"
#include "launcher/daemon/job_parts.hpp"
#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"

namespace replay::launcher {
namespace {

constexpr int kJobKeyBytes = 16;
constexpr std::chrono::seconds kUnheard{5};                // five missed heartbeats
constexpr std::chrono::milliseconds kJobsEndWithin{2000};  // as ordered, where the agent answers
constexpr std::chrono::milliseconds kBetweenGlances{200};

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
      if (remote.size() > 1) node->host = one.host;
      node->link.emplace(std::move(one.link));
    }
  }

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    INVARIANT(listener_ == nullptr, "the executor is attached twice");
    listener_ = listener;
    hurry_.emplace(loop, -1, 0, [this] { lose_if_only_the_unheard_are_left(); });
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
      Node& node = *nodes_[number];
      const auto on_report = [this, number](const protocol::AgentReport& report) {
        std::visit([this, number](const auto& r) { pass_on(number, r); }, report);
      };
      const auto on_lost = [this, &node](const std::string& reason) { lose(node.explain(reason)); };
      if (node.link)
        node.session.emplace(loop, *node.link, on_report, on_lost,
                             [this, &node](const std::string& text) { listener_->on_site_noted(node.explain(text)); });
      else
        node.session.emplace(loop, node.child->stream(), on_report, on_lost);
    }
  }

  void detach() override {
    hurry_.reset();
    for (const auto& node : nodes_) node->session.reset();
    listener_ = nullptr;
    is_lost_ = true;  // no order is sent any more; the destructor ends the agents and their jobs
  }

  void launch(const live::LaunchOrder& order) override {
    std::vector<JobParts::Part> parts;
    for (const Place& place : places_of(order.core_of_rank)) {
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
      const protocol::LinkNonce random = new_nonce();
      launch.key.assign(random.begin(), random.begin() + kJobKeyBytes);
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

  void send(std::size_t node, const protocol::AgentOrder& order) {
    INVARIANT(nodes_[node]->session || is_lost_, "an order before attach()");
    if (!is_lost_) nodes_[node]->session->send(order);
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
  [[nodiscard]] const Node* unheard_node_of(const JobParts& job) const {
    const auto is_unheard = [this](const JobParts::Part& part) {
      const Node& node = *nodes_[part.node];
      return node.link && node.session->silent_for() > kUnheard;
    };
    const auto part = std::ranges::find_if(job.parts(), is_unheard);
    return part == job.parts().end() ? nullptr : nodes_[part->node].get();
  }

  void lose_if_only_the_unheard_are_left() {
    if (is_lost_) return;
    hurry_->arm_after(kBetweenGlances);
    const Node* unheard = nullptr;
    for (const auto& [id, job] : jobs_)
      if (unheard = unheard_node_of(job); unheard == nullptr) return;
    if (unheard == nullptr) return;
    lose(unheard->explain(fmt::format("not heard of for {:.0f} s, and the run is told to end: it is not waited for",
                                      unheard->session->silent_for().count())));
  }

  void lose(const std::string& reason) {
    if (is_lost_) return;
    is_lost_ = true;
    for (const auto& node : nodes_) node->link ? node->link->end() : node->child->stop();  // what still runs there ends
    jobs_.clear();
    listener_->on_lost(reason);
  }

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Place> places_;  // of the machine's cores
  live::ExecutorListener* listener_ = nullptr;
  OnStatistics on_statistics_;
  std::map<JobId, JobParts> jobs_;  // launched, end not yet heard
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
