#include "scheduler/experiment/real_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "launcher/mpich/mpiexec.hpp"
#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kEmulated = "emulated:";
// Virtual cores are numbered as the machine numbers them.
launcher::LocalMachine emulated_machine(const std::string& text) {
  launcher::LocalMachine emulated;
  try {
    emulated.machine = Machine::parse(text);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  const CoreCount cores = emulated.machine.size();
  if (!emulated.machine.names_cores() || cores > static_cast<CoreCount>(REPLAY_VM_MAX_CORES))
    throw UsageError(
        fmt::format("machine '{}': expected emulated:NODESxPACKAGESxCORES with at most {} cores, such as "
                    "emulated:8x2x2",
                    text, REPLAY_VM_MAX_CORES));
  emulated.pu_of_core = launcher::emulated_pus(cores);
  emulated.notes.emplace_back(
      "the cores are emulated: ranks sleep their work instead of computing it; processes, messages and moves are real");
  return emulated;
}

}  // namespace

std::optional<std::string> job_network_note(launcher::JobNetwork wanted) {
  if (wanted == launcher::JobNetwork::kHost) return std::nullopt;
  const auto reason = launcher::why_no_own_network();
  if (!reason) return std::nullopt;
  return fmt::format(
      "jobs have no network of their own ({}): every user of this machine can connect to their mpiexec and end them; "
      "it "
      "listens in ports 25000 to 25999 (docs/remote-agent.md)",
      *reason);
}

void use_hwloc() {
  use_hardware_reader([](const std::string& text) {
    if (is_elsewhere(text))
      throw UsageError(
          fmt::format("--machine {}: is one of real runs; a simulation takes its shape, such as 3x2x2", text));
    const bool is_here = text == "local" || text.starts_with("local:");
    return is_here ? launcher::discover_local(text).machine : launcher::synthetic_machine(text);
  });
}

RealMachine::RealMachine(const RunSpec& run, const KeptAgents* kept)
    : back_end_(word_of(kBackEnds, run.node.back_end)) {
  agent_.back_end = run.node.back_end;
  agent_.quantum = run.node.quantum;
  agent_.turn = run.node.turn;
  agent_.network = run.node.job_network;
  const std::string spec = run.machine.empty() ? "local" : run.machine;
  if (!run.node.bootstrap.empty() && !is_slurm(spec) && !hosts_file_of(spec))
    throw UsageError(
        fmt::format("--bootstrap: --machine {} starts no agents on hosts: expected hosts:FILE, pbs or slurm", spec));
  if (!is_elsewhere(spec) && !run.keep_jobs)
    for (const char* option : {"--agent-key", "--lease"})
      if (const std::string value = option_text(run, option); value != option_text({}, option))
        throw UsageError(fmt::format("{} {}: --machine {} is here: expected hosts:FILE, slurm, pbs or agent:HOST:PORT",
                                     option, value, spec));
  if (spec.starts_with(kEmulated)) {
    if (run.node.smt) throw UsageError("--smt: emulated cores have no hardware threads");
    if (run.node.back_end == launcher::BackEnd::kYield)
      throw UsageError("--back-end yield: emulated cores are tokens; expected auto or token");
    if (run.node.turn != NodeUse{}.turn)
      throw UsageError(fmt::format("--turn {}: jobs on emulated cores take no turns; expected --quantum",
                                   option_text(run, "--turn")));
    local_ = emulated_machine(spec);
    agent_.emulated_cores = local_.machine.size();
    // Packages as large as each other; no number stands for others.
    if (local_.machine.has_equal_nodes())
      agent_.packages = local_.machine.nodes() * local_.machine.groups().front().packages;
    back_end_ = "token";
  } else if (is_elsewhere(spec)) {
    cluster_ = kept == nullptr ? std::make_shared<Cluster>(run) : std::make_shared<Cluster>(run, *kept);
    local_ = cluster_->machine();
    agent_.emulated_cores = cluster_->is_emulated() ? local_.machine.size() : CoreCount{0};
  } else if (spec == "local" || spec.starts_with("local:")) {
    if (run.node.quantum != NodeUse{}.quantum)
      throw UsageError(fmt::format("--quantum {}: real cores have none; expected --turn, or --machine emulated:...",
                                   option_text(run, "--quantum")));
    local_ = launcher::discover_local(spec, run.node.smt);
    agent_.cores = local_.pu_of_core;
    agent_.packages = local_.machine.groups().front().packages;
  } else {
    throw UsageError(
        fmt::format("--machine {}: a real run takes local, local:CORES such as local:0-3, virtual cores such as "
                    "emulated:8x2x2, hosts:FILE, slurm, pbs or agent:HOST:PORT; `replay simulate` takes any machine",
                    spec));
  }
  if (!run.keep_jobs || !is_here()) return;
  Cluster::expect_lease(run);
  keeps_ = std::make_shared<const Keeps>(
      Keeps{run, local_, kept == nullptr ? std::nullopt : std::optional<KeptAgents>{*kept}});
}

void RealMachine::lend_to_agent(AgentsLock lock) { lock_ = std::make_shared<const AgentsLock>(std::move(lock)); }

std::string RealMachine::text() const {
  return fmt::format("{}{}", is_emulated() ? kEmulated : "", machine().to_text());
}

RealCores RealMachine::cores() const {
  using enum JobsCores::Kind;
  if (!is_here()) return {.machine = machine(), .kind = kElsewhere, .hosts = hosts()};
  return is_emulated() ? RealCores{machine(), kVirtual} : RealCores{machine(), kHere, agent_.turn};
}

std::string RealMachine::description() const {
  if (cluster_)
    return fmt::format("{} of {}", counted(machine().size(), is_emulated() ? "emulated core" : "core"),
                       cluster_->name());
  if (is_emulated())
    return fmt::format("{} ({}, quantum {:g} ms)", counted(machine().size(), "emulated core"), machine().to_text(),
                       static_cast<double>(agent_.quantum.count()) / 1000);
  return fmt::format("{} (OS {})", counted(machine().size(), "core"),
                     fmt::join(launcher::numbers(local_.pu_of_core), ","));
}

std::vector<std::pair<std::string, std::string>> RealMachine::settings() const {
  if (cluster_) return {};  // the agent has its own
  std::vector<std::pair<std::string, std::string>> settings{{"back_end", back_end_}};
  settings.emplace_back("job_network", word_of(kJobNetworks, agent_.network));
  const auto time = is_emulated() ? agent_.quantum : agent_.turn;
  settings.emplace_back(is_emulated() ? "quantum_ms" : "turn_ms",
                        fmt::format("{:g}", static_cast<double>(time.count()) / 1000));
  return settings;
}

std::vector<std::string> RealMachine::hosts() const {
  return cluster_ ? cluster_->hosts() : std::vector<std::string>{};
}

std::vector<std::string> RealMachine::layout() const {
  std::vector<std::string> lines{fmt::format("{}, as {}", description(), text())};
  if (cluster_) std::ranges::move(cluster_->describe_nodes(), std::back_inserter(lines));
  return lines;
}

void RealMachine::expect_runs(std::size_t count) const {
  if (cluster_) cluster_->expect_runs(count);
}

void RealMachine::take(const MachinePart& part) {
  std::vector<launcher::PuId> pus;
  for (const CoreId core : part.cores) pus.push_back(local_.pu_of_core[index_of(core)]);
  local_.machine = part.machine;
  local_.pu_of_core = std::move(pus);
  local_.notes.push_back(part.note);
}

void RealMachine::find_programs() {
  if (cluster_) return;  // the agent has its own
  const auto cores = static_cast<std::size_t>(machine().size());
  if (const std::string why = launcher::why_too_few_descriptors(cores); !why.empty()) throw InputError(why);
  agent_.mpiexec = launcher::find_mpiexec();
  const auto vmlib = vm_library();
  const std::string missing = fmt::format("no libreplay-vm.so in {}", library_folder().string());
  if (!vmlib && is_emulated()) throw InputError(missing + ": emulated cores need it");
  if (!vmlib) local_.notes.push_back(missing + ": every job is rigid");
  agent_.vmlib = vmlib.value_or(fs::path{});
  agent_.replay_proxy = replay_proxy().value_or(fs::path{});
  if (const auto note = job_network_note(agent_.network)) {
    local_.notes.push_back(*note);
    agent_.network = launcher::JobNetwork::kHost;
  }
  if (const auto note = launcher::missing_devices_note(agent_.network)) local_.notes.push_back(*note);
}

std::vector<std::string> RealMachine::check_nodes(const fs::path& folder, const std::vector<std::string>& programs) {
  if (!cluster_) return {};
  std::vector<std::string> added = cluster_->check(folder, programs);
  local_.notes.insert(local_.notes.end(), added.begin(), added.end());
  return added;
}

void RealMachine::leave_the_jobs_cores() const {
  // Emulated jobs hardly use cores; remote ones use other cores. An agent that is a program of its own has the cores from us.
  const bool has_own_start = keeps_ && !keeper_;
  if (!is_emulated() && !cluster_ && !has_own_start) launcher::leave_cores(local_.pu_of_core);
}

std::unique_ptr<launcher::MeasuredExecutor> RealMachine::start() {
  if (cluster_) return cluster_->start(local_);
  if (keeps_) {
    keeper_ = std::make_shared<Cluster>(keeps_->spec, LocalCores{keeps_->machine, agent_.packages, is_emulated()},
                                        keeps_->kept ? &*keeps_->kept : nullptr, lock_ ? lock_->descriptor() : -1);
    leave_the_jobs_cores();
    return keeper_->start(local_);
  }
  return launcher::make_local_executor(launcher::start_agent(agent_), local_);
}

}  // namespace replay::experiment
