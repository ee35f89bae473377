// `replay agent`: runs the node agent as its own program, for a daemon that connects over TCP and proves that it has
// the key. `replay agent --new-key FILE` makes such a key.

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "launcher/daemon/link_key.hpp"
#include "launcher/os/topology.hpp"
#include "launcher/service/agent_service.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kLongestSilence = 3600;

struct AgentCommandOptions {
  std::string listen = "127.0.0.1:0";
  std::string key_file;
  std::string new_key_file;
  experiment::RunSpec run;  // only its machine
  bool once = false;
  bool stay = false;
  double silence = 30;
  std::optional<std::size_t> slots;
  std::optional<std::size_t> at_most;
  std::string iface;
  std::optional<int> hold;  // for a daemon of this computer
};

launcher::LinkAddress listen_address(const std::string& text) {
  try {
    return launcher::LinkAddress::parse(text);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--listen: {}", error.what()));
  }
}

/// The first cores of this machine, as --machine names them.
std::string first_cores(std::size_t count, bool at_most, const experiment::RunSpec& run) {
  if (!run.machine.empty() && run.machine != "local")
    throw UsageError(fmt::format("--{} {}: expected --machine local, found '{}'", at_most ? "at-most" : "slots", count,
                                 run.machine));
  const auto cores = launcher::discover_local("local", run.node.smt).pu_of_core;
  if (at_most) count = std::min(count, cores.size());
  if (count < 1 || count > cores.size())
    throw UsageError(fmt::format("--slots {}: expected 1 to {}, the cores of this machine{}", count, cores.size(),
                                 run.node.smt ? "" : "; --smt counts hardware threads"));
  return fmt::format("local:{}", fmt::join(launcher::numbers(std::span{cores}.first(count)), ","));
}

// As UCX names it: "eth0" of the IP stack, "mlx5_0:1" of InfiniBand. Another one would fail each job that spans hosts.
void expect_network_device(const std::string& name) {
  const std::string device = name.substr(0, name.find(':'));
  if (name.empty() || ::if_nametoindex(name.c_str()) != 0) return;
  if (!device.empty() && fs::exists(fs::path{"/sys/class/infiniband"} / device)) return;
  std::vector<std::string> there;
  for (const char* kind : {"/sys/class/net", "/sys/class/infiniband"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{kind, none}) there.push_back(entry.path().filename().string());
  }
  std::ranges::sort(there);
  throw UsageError(
      fmt::format("--iface: expected a network device of this host, {}, found '{}'", fmt::join(there, ", "), name));
}

int run(AgentCommandOptions& options) {
  if (!options.new_key_file.empty()) {
    launcher::make_link_key(options.new_key_file);
    return 0;
  }
  if (options.key_file.empty())
    throw UsageError("expected --key FILE: daemons prove that they have the same; --new-key FILE makes one");
  if (!(options.silence >= 1) || options.silence > kLongestSilence)
    throw UsageError(fmt::format("--silence: expected 1 to {} seconds, found '{}'", kLongestSilence, options.silence));
  expect_network_device(options.iface);
  launcher::AgentServiceOptions service;
  service.listen = listen_address(options.listen);
  if (options.key_file == "-") service.starter = STDIN_FILENO;
  service.key =
      service.starter < 0 ? launcher::read_link_key(options.key_file) : launcher::receive_link_key(service.starter);
  if (options.slots) options.run.machine = first_cores(*options.slots, false, options.run);
  if (options.at_most) options.run.machine = first_cores(*options.at_most, true, options.run);
  if (experiment::is_elsewhere(options.run.machine))
    throw UsageError(fmt::format("--machine {}: an agent has cores of its own", options.run.machine));
  experiment::RealMachine machine{options.run};
  if (machine.machine().nodes() > 1)
    throw UsageError(
        fmt::format("--machine {}: an agent is one node; expected emulated:1xPACKAGESxCORES", options.run.machine));
  machine.find_programs();
  for (const std::string& note : machine.notes()) fmt::print(stderr, "replay agent: note: {}\n", note);
  machine.leave_the_jobs_cores();
  service.agent = machine.node();
  if (options.hold) {  // the agent keeps it, and no program that it starts
    if (::fcntl(*options.hold, F_SETFD, FD_CLOEXEC) != 0)
      throw UsageError(fmt::format("--hold {}: expected a descriptor that is open", *options.hold));
    service.agent.kept_open.push_back(*options.hold);
  }
  service.agent.interface = options.iface;
  service.agent.mpi = mpi_here();
  service.agent.notes = machine.notes();
  service.agent.silence_limit = std::chrono::milliseconds{static_cast<long>(options.silence * 1000)};
  service.stays = options.stay;
  service.on_listening = [](const launcher::LinkAddress& address) {
    fmt::print("replay agent: listening on {}\n", address.to_text());
    std::fflush(stdout);
  };
  return launcher::serve_daemons(service);
}

}  // namespace

Command add_agent(CLI::App& app) {
  auto options = std::make_shared<AgentCommandOptions>();
  CLI::App& agent =
      add_command(app, "agent", "start, move and end jobs on this node for a daemon that comes over TCP",
                  "Example:\n"
                  "  replay agent --new-key ~/replay.key\n"
                  "  replay agent --key ~/replay.key --machine local:0-3        prints the address that it listens on\n"
                  "  replay --machine agent:127.0.0.1:40123 --agent-key ~/replay.key --trace t.swf --policy easy");
  add_text(agent, "--listen", options->listen, "ADDRESS:PORT", "address and port; port 0: the kernel chooses one")
      ->capture_default_str();
  add_text(agent, "--key", options->key_file, "FILE",
           "key file; a holder of the key may run programs as you. -: one line of standard input; the agent ends when "
           "this is closed, or when no daemon has come within a minute");
  add_text(agent, "--new-key", options->new_key_file, "FILE", "make a key file, and nothing else");
  add_options_of_run(agent, options->run, {"--machine"});
  add_node_options(agent, options->run);
  agent.get_option("--machine")
      ->description("local, local:CORES by OS index, such as local:0-3, or virtual cores: emulated:1xPACKAGESxCORES");
  auto* slots =
      agent.add_option("--slots", options->slots, "only the first N cores of --machine local")->type_name("N");
  agent.add_option("--at-most", options->at_most, "the same, or all of them if there are fewer")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->excludes(slots);
  add_text(agent, "--iface", options->iface, "NAME",
           "network device of the ranks of jobs on several hosts, such as eth0 (default: UCX chooses)");
  agent.add_option("--hold", options->hold, "descriptor that stays open as long as the agent lives: a lock")
      ->type_name("N")
      ->group("");
  auto* once = agent.add_flag("--once", options->once, "go when the first daemon has gone (the default)");
  agent.add_flag("--stay", options->stay, "wait for the next daemon instead")->excludes(once);
  agent.add_option("--silence", options->silence, "end all jobs when the daemon has not been heard of for so long")
      ->type_name("SECONDS")
      ->capture_default_str();
  return [options] { return run(*options); };
}

}  // namespace replay::cli
