#include "scheduler/experiment/remote_agent.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "launcher/daemon/agent_executor.hpp"
#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/error.hpp"

namespace replay::experiment {
namespace {

constexpr std::chrono::seconds kJobsEndWithin{10};        // jobs of our own previous connection
constexpr std::chrono::seconds kLastDaemonGoesWithin{2};  // another daemon, which has just ended its run

launcher::LinkAddress parse_address(const std::string& text) {
  try {
    return launcher::LinkAddress::parse(text);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--machine agent:{}: {}", text, error.what()));
  }
}

protocol::LinkKey key_from(const std::string& file) {
  if (file.empty())
    throw UsageError("--machine agent:HOST:PORT needs --agent-key FILE, the key file that the agent was started with");
  return launcher::read_link_key(file);
}

}  // namespace

RemoteAgent::RemoteAgent(const std::string& address, const NodeUse& use)
    : address_(parse_address(address)),
      key_(key_from(use.agent_key)),
      lease_(std::chrono::duration_cast<std::chrono::milliseconds>(use.lease)),
      first_(launcher::connect_agent(address_, key_, lease_, kLastDaemonGoesWithin)),
      name_(first_->name),
      hello_(first_->hello),
      stays_(first_->stays) {}

launcher::LocalMachine RemoteAgent::machine() const {
  launcher::LocalMachine found;
  found.machine = Machine::cluster(1, 1, static_cast<int>(hello_.cores.size()));
  found.pu_of_core = launcher::pus_of(hello_.cores);
  return found;
}

void RemoteAgent::expect_runs(std::size_t count) const {
  if (count > 1 && !stays_)
    throw UsageError(fmt::format(
        "{} goes when its first daemon goes, and {} policies are {} runs: start it with --stay", name_, count, count));
}

std::unique_ptr<live::Executor> RemoteAgent::start() {
  if (first_) return launcher::make_remote_executor(*std::exchange(first_, std::nullopt));
  launcher::AgentLink link = launcher::connect_agent(address_, key_, lease_, kJobsEndWithin);
  if (link.hello.cores != hello_.cores || link.hello.emulated != hello_.emulated)
    throw InputError(fmt::format("{}: has other cores than at the first connection", name_));
  return launcher::make_remote_executor(std::move(link));
}

}  // namespace replay::experiment
