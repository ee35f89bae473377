#include "launcher/agent/job/job_span.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <utility>

#include "launcher/agent/job/job_launch.hpp"
#include "scheduler/base/error.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kLineWithin = 10'000ms;             // to another node's agent
constexpr auto kMpiexecEndsWithin = 200ms;         // of what it has noticed itself
constexpr auto kHomeTakesTheRestWithin = 5'000ms;  // of a proxy's last words
constexpr auto kHomeEndsItWithin = 1'500ms;        // a job that is to end: home has its own order, if it is still there

}  // namespace

JobSpan::JobSpan(JobContext& job, JobEnding& ending)
    : job_(job), ending_(ending), leave_timer_(job.site.loop, -1, 0, [this] { leave(); }) {}

JobSpan::~JobSpan() {
  if (job_.site.proxy_desk != nullptr) job_.site.proxy_desk->forget(to_hex(job_.key));
}

// ---- home -----------------------------------------------------------------------------------------------------------

void JobSpan::begin() {
  if (job_.order.is_home())
    job_.site.proxy_desk->expect(to_hex(job_.key), [this](ProxyCall call) { on_call(std::move(call)); });
}

void JobSpan::on_call(ProxyCall call) {
  const auto& hosts = job_.order.hosts;
  const auto host = std::ranges::find(hosts, call.host, &protocol::JobHost::name);
  if (host == hosts.end() || !ending_.is_running()) return;  // the line is closed, and mpiexec ends
  const auto number = static_cast<std::size_t>(host - hosts.begin());
  if (number != 0) return open_line(number, std::move(call));
  if (control_.is_open()) return;
  control_ = std::move(call.control);
  start_own_proxy(call.arguments, control_.get());
}

void JobSpan::open_line(std::size_t host, ProxyCall call) {
  if (calls_.contains(host) || relays_.contains(host)) return;
  protocol::LinkSession line{.purpose = protocol::LinkPurpose::kJobLine};
  std::ranges::copy(job_.key, line.id.begin());
  const auto until = std::chrono::steady_clock::now() + kLineWithin;
  const auto dial = [this, host, line, until](int cancel) {
    return job_.site.dial(job_.order.hosts[host].address, line, until, cancel);
  };
  const auto held = std::make_shared<ProxyCall>(std::move(call));
  calls_[host] = std::make_unique<BlockingCall<DaemonStream>>(
      job_.site.loop, dial, [this, host, held](BlockingCall<DaemonStream>::Result result) {
        calls_.erase(host);
        if (const auto* why = std::get_if<std::string>(&result))
          return fail(host, *why);  // with `held` the line closes
        auto& stream = std::get<DaemonStream>(result);
        relays_[host] = std::make_unique<SealedRelay>(
            job_.site.loop, std::move(held->control), std::move(stream.stream),
            protocol::FrameSealer{stream.seals->sending}, protocol::FrameDecoder{stream.seals->receiving},
            SealedRelay::Callbacks{
                .on_ended = [this, host](const ProxyEnd& end) { on_far_end(host, end); },
                .on_delivered = {},
                .on_lost = [this, host](const std::string& why) { fail(host, "the line is cut: " + why); },
                .on_failing = [this, host](const std::string& why) { ending_.fail_elsewhere(named(host, why)); }});
        relays_[host]->open(held->arguments);
      });
}

/// mpiexec waits for ever for a node whose ranks have not all finalized.
void JobSpan::on_far_end(std::size_t host, const ProxyEnd& end) {
  if (end.finalized < end.ranks)
    return fail(host, end.reason.empty() ? fmt::format("{} of {} ranks have not reached MPI_Finalize",
                                                       end.ranks - end.finalized, end.ranks)
                                         : end.reason);
  relays_.erase(host);
}

void JobSpan::fail(std::size_t host, const std::string& reason) {
  relays_.erase(host);
  ending_.fail_elsewhere(named(host, reason), kMpiexecEndsWithin);
}

std::string JobSpan::named(std::size_t host, const std::string& reason) const {
  return fmt::format("{}: {}", job_.order.hosts[host].name, reason);
}

// ---- away from home -------------------------------------------------------------------------------------------------

void JobSpan::take_line(DaemonStream stream) {
  if (job_.order.is_home() || relays_.contains(0) || !ending_.is_running()) return;
  ControlLine line = make_control_line();
  proxys_end_ = std::move(line.proxys);
  relays_[0] = std::make_unique<SealedRelay>(
      job_.site.loop, std::move(line.ours), std::move(stream.stream), protocol::FrameSealer{stream.seals->sending},
      protocol::FrameDecoder{stream.seals->receiving},
      SealedRelay::Callbacks{{},
                             [this] { leave(); },
                             [this](const std::string& reason) {
                               if (job_.processes.own_proxy() == 0) return leave();
                               relays_.erase(0);
                               ending_.fail_unless_noticed(
                                   fmt::format("the line to {} is cut: {}", job_.order.hosts[0].name, reason));
                             },
                             [this](const std::vector<std::string>& words) {
                               start_own_proxy(words, proxys_end_.get());
                               proxys_end_.reset();
                             }});
}

void JobSpan::on_rank_died() {
  if (const auto line = relays_.find(0); line != relays_.end() && !ending_.unnoticed().empty())
    line->second->warn(ending_.unnoticed());
}

/// The part is over when home has its end, or cannot have it any more.
void JobSpan::leave() {
  leave_timer_.disarm();
  relays_.erase(0);
  ending_.on_part_over();
}

// ---- the proxy ------------------------------------------------------------------------------------------------------

void JobSpan::start_own_proxy(const std::vector<std::string>& words, int control) {
  try {
    job_.processes.take(launcher::start_proxy_of(job_, words, control));
  } catch (const std::exception& error) {
    ending_.break_off_unstarted(error.what());
  }
}

/// Of ranks that have not registered nothing is known; what they print is mpiexec's to judge.
ProxyEnd JobSpan::own_end() const {
  ProxyEnd end{0, static_cast<std::uint32_t>(job_.ranks.size()), ending_.unnoticed()};
  const auto& ranks = job_.ranks.all();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool has_finalized = !ranks[rank].process || ranks[rank].is_finalized ||
                               (job_.ranks.segment() != nullptr &&
                                job_.ranks.segment()->state(static_cast<std::uint32_t>(rank)) == REPLAY_VM_FINALIZED);
    end.finalized += has_finalized ? 1U : 0U;
    if (!has_finalized && end.reason.empty())
      end.reason = fmt::format("rank {} has not reached MPI_Finalize", job_.ranks.world_rank(rank));
  }
  return end;
}

void JobSpan::on_proxy_exit(int status) {
  if (WIFSIGNALED(status) && !ending_.is_to_end())
    ending_.fail_unless_noticed(
        fmt::format("Hydra's proxy was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  const ProxyEnd end = own_end();
  job_.processes.on_proxy_exit();
  if (job_.order.is_home()) {
    job_.ranks.signal(SIGKILL);
    end_control_line(control_);
    if (end.finalized < end.ranks) ending_.fail_unless_noticed(end.reason, kMpiexecEndsWithin);
  } else if (const auto line = relays_.find(0); line != relays_.end()) {
    // Ranks here live on until home has the reason: those elsewhere abort when they lose one, and mpiexec exits with them.
    line->second->drain(end);
    leave_timer_.arm_after(ending_.is_to_end() ? kHomeEndsItWithin : kHomeTakesTheRestWithin);
  } else {
    leave();
  }
}

}  // namespace replay::launcher
