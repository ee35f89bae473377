#include "scheduler/experiment/cluster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <system_error>
#include <utility>

#include "launcher/bootstrap/hosts_file.hpp"
#include "launcher/bootstrap/slurm_job.hpp"
#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/process/quiet_thread.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::experiment {
namespace {

constexpr std::string_view kAgent = "agent:";
constexpr const char* kThisComputer = "this computer";
constexpr const char* kStartHere = "sh -c 'exec \"$@\"'";  // called with HOST and COMMAND...
constexpr std::chrono::seconds kJobsEndWithin{10};         // jobs of our own previous connection
constexpr std::chrono::seconds kLastDaemonGoesWithin{2};   // another daemon, which has just ended its run

std::chrono::milliseconds lease_of(const RunSpec& spec) {
  if (spec.keep_jobs && spec.node.lease == Duration::zero())
    throw UsageError(
        "--lease 0: jobs end with the line to their agent: expected a duration from 1s to 1h with --keep-jobs");
  return std::chrono::duration_cast<std::chrono::milliseconds>(spec.node.lease);
}

launcher::LinkAddress parse_address(const std::string& text) {
  try {
    return launcher::LinkAddress::parse(text);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--machine agent:{}: {}", text, error.what()));
  }
}

protocol::LinkKey key_from(const std::string& file, std::string_view what_runs) {
  if (file.empty())
    throw UsageError(
        fmt::format("--machine {} needs --agent-key FILE, the key file that the agent was started with", what_runs));
  return launcher::read_link_key(file);
}

// How the cores of a node are used, in words of `replay agent`; what is as usual is left out.
std::vector<std::string> words_for_an_agent(const RunSpec& spec) {
  std::vector<std::string> words;
  if (spec.node.smt) words.emplace_back("--smt");
  for (const char* option : {"--back-end", "--quantum", "--turn", "--job-network"})
    if (const std::string value = option_text(spec, option); value != option_text({}, option))
      words.insert(words.end(), {option, value});
  return words;
}

void expect_that_agents_decide(const RunSpec& spec) {
  const std::vector<std::string> words = words_for_an_agent(spec);
  if (words.empty()) return;
  throw UsageError(fmt::format(
      "--machine {0}: {1}: the agent decides how the cores of its node are used: expected `replay agent {1} ...` "
      "there, and not here",
      spec.machine, fmt::join(words, " ")));
}

// All at once: each may take its time.
template <class Ask>
auto ask_each(std::size_t nodes, Ask ask) {
  const AllSignalsBlocked blocked;
  std::vector<std::future<decltype(ask(nodes))>> coming;
  for (std::size_t node = 0; node < nodes; ++node) coming.push_back(std::async(std::launch::async, ask, node));
  return coming;
}

// A file with a word that only its reader knows, in the run's folder for as long as this lives.
class FileWithWord {
 public:
  explicit FileWithWord(const std::filesystem::path& folder)
      : word_(launcher::text_of_link_key(launcher::new_link_key()).substr(0, kDigits)),
        path_(std::filesystem::absolute(folder) /
              fmt::format("{}{}", results::kWordFile, word_.substr(0, results::kWordDigits))) {
    write_whole_file(path_, word_);
  }
  FileWithWord(const FileWithWord&) = delete;
  FileWithWord& operator=(const FileWithWord&) = delete;
  ~FileWithWord() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  [[nodiscard]] const std::string& word() const { return word_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr std::size_t kDigits = 32;
  std::string word_;
  std::filesystem::path path_;
};

// What does not fit on a node, beside the first one; a line each.
std::vector<std::string> misfits_of(const protocol::NodeChecked& node, const FileWithWord& file,
                                    const protocol::NodeChecked& first, const std::string& name_of_first) {
  constexpr std::size_t kShownDigits = 12;
  std::vector<std::string> found;
  const std::string folder = file.path().parent_path().string();
  if (!node.unreadable.empty())
    found.push_back(fmt::format("{}: is not the folder of this run there ({}: {}): expected one that all hosts see",
                                folder, file.path().filename().string(), clean_line(node.unreadable)));
  else if (node.word != file.word())
    found.push_back(fmt::format("{}: has another file {} there: expected a folder that all hosts see", folder,
                                file.path().filename().string()));
  for (const std::string& program : node.missing)
    found.push_back(fmt::format("program {}: not found there, or not executable", visible_text(program)));
  const auto text = [](const std::string& said) { return said.empty() ? std::string{"none"} : clean_line(said); };
  if (node.mpi != first.mpi)
    found.push_back(
        fmt::format("MPI: expected that of {}, {}, found {}", name_of_first, text(first.mpi), text(node.mpi)));
  if (node.vmlib != first.vmlib)
    found.push_back(fmt::format("vmlib: expected that of {}, SHA-256 {}..., found {}...", name_of_first,
                                text(first.vmlib).substr(0, kShownDigits), text(node.vmlib).substr(0, kShownDigits)));
  if (node.turn_us != first.turn_us)
    found.push_back(fmt::format("turns: expected those of {}, --turn {:g}ms, found {:g}ms", name_of_first,
                                static_cast<double>(first.turn_us) / 1000, static_cast<double>(node.turn_us) / 1000));
  return found;
}

void expect_cores(const launcher::AgentLink& link, const protocol::Hello& first) {
  if (link.hello.cores != first.cores || link.hello.emulated != first.emulated)
    throw InputError(fmt::format("{}: has other cores than at the first connection", link.name));
}

}  // namespace

bool is_an_agent_there(const KeptAgents& agents) {
  return std::ranges::any_of(agents.nodes, [](const KeptAgents::Node& node) {
    return launcher::is_listened_at(launcher::LinkAddress::parse(node.address));
  });
}

struct Cluster::Checked {
  std::filesystem::path folder;
  std::vector<std::string> programs;
  protocol::NodeChecked first;  // of the first node
  std::string name_of_first;
};

// As check() does for all of them, when one comes back.
void Cluster::expect_alike(launcher::AgentLink& link, const Checked& checked) {
  const FileWithWord file{checked.folder};
  const launcher::CheckedNode now = launcher::check_node(link, {file.path().string(), checked.programs});
  const std::vector<std::string> misfits = misfits_of(now.node, file, checked.first, checked.name_of_first);
  if (!misfits.empty()) throw InputError(fmt::format("{}: {}", link.name, fmt::join(misfits, "; ")));
}

std::string Cluster::Node::title() const {
  return host.empty() ? fmt::format("agent {}", address.to_text()) : fmt::format("host {}", host);
}

Cluster::Cluster(const RunSpec& spec) : lease_(lease_of(spec)) {
  if (spec.machine.starts_with(kAgent)) {
    expect_that_agents_decide(spec);
    nodes_.push_back({.host = "", .address = parse_address(spec.machine.substr(kAgent.size()))});
    is_key_of_user_ = true;
    key_ = key_from(spec.node.agent_key, "agent:HOST:PORT");
  } else {
    take_hosts(spec);
  }
  connect_first();
}

Cluster::Cluster(const RunSpec& spec, const KeptAgents& kept) : kept_(kept), goes_on_(true), lease_(lease_of(spec)) {
  if (spec.machine.starts_with(kAgent)) {
    nodes_.push_back({});
    is_key_of_user_ = true;
    key_ = key_from(spec.node.agent_key, "agent:HOST:PORT");
  } else {
    take_hosts(spec);
  }
  take_kept_nodes();
  make_machine();
}

void Cluster::expect_lease(const RunSpec& spec) { (void)lease_of(spec); }

Cluster::Cluster(const RunSpec& spec, const LocalCores& here, const KeptAgents* kept, int held)
    : goes_on_(kept != nullptr), file_(kThisComputer), lease_(lease_of(spec)) {
  if (kept != nullptr) kept_ = *kept;
  launcher::Bootstrap how;
  how.command = kStartHere;
  how.listen = "127.0.0.1:0";
  how.held = held;
  launcher::Host host{.host = "127.0.0.1"};
  const CoreCount cores = here.machine.machine.size();
  if (here.are_emulated)
    host.emulated = launcher::EmulatedCores{here.packages, cores / here.packages};
  else
    host.cores = here.machine.pu_of_core;
  key_ = launcher::new_link_key();
  start_agents(spec, std::move(how), {std::move(host)});
  nodes_.front().host.clear();
  if (kept != nullptr)
    take_kept_nodes();
  else
    connect_first();
}

void Cluster::expect_as_many_kept() const {
  if (kept_.nodes.size() != nodes_.size())
    throw InputError(fmt::format("{}: expected {}, as the run has had, found {}", name(),
                                 counted(kept_.nodes.size(), "host"), nodes_.size()));
}

void Cluster::take_kept_nodes() {
  expect_as_many_kept();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].address = launcher::LinkAddress::parse(kept_.nodes[i].address);
    nodes_[i].hello = kept_.nodes[i].hello;
  }
}

void Cluster::connect_first() {
  std::vector<launcher::AgentLink> links = connect(kLastDaemonGoesWithin);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].hello = links[i].hello;
    nodes_[i].stays = links[i].stays;
    nodes_[i].first.emplace(std::move(links[i]));
  }
  make_machine();
}

std::vector<launcher::Host> Cluster::hosts_of_slurm(const RunSpec& spec) {
  const std::size_t colon = spec.machine.find(':');
  launcher::SlurmJob job = launcher::slurm_job(colon == std::string::npos ? "" : spec.machine.substr(colon + 1));
  file_ = "Slurm job " + job.id;
  const auto left = launcher::slurm_time_left(job.id);
  if (left && *left <= live::kBeforeMachineEnd)
    throw InputError(
        fmt::format("{} has {} s left: expected more than {} s, as a run in it ends so long before its limit", file_,
                    left->count(), live::kBeforeMachineEnd.count()));
  if (!left) machine_.notes.push_back(fmt::format("{} has no time limit, or squeue does not say it", file_));
  if (left) end_ = {std::chrono::steady_clock::now() + *left, "the time limit of " + file_};
  return std::move(job.hosts);
}

void Cluster::take_hosts(const RunSpec& spec) {
  std::vector<launcher::Host> hosts;
  launcher::Bootstrap how;
  if (is_slurm(spec.machine)) {
    hosts = hosts_of_slurm(spec);
    how.command = launcher::kStartBySlurm;
  } else {
    file_ = hosts_file_of(spec.machine).value();
    if (file_.empty()) throw UsageError("--machine hosts: expected hosts:FILE, found no file");
    hosts = launcher::read_hosts(open_source(file_));
  }
  const auto runs = [](const launcher::Host& host) { return host.agent_port != 0; };
  const bool some_run = is_key_of_user_ = std::ranges::any_of(hosts, runs);
  if (some_run) expect_that_agents_decide(spec);
  key_ = some_run ? key_from(spec.node.agent_key, "hosts:FILE with agent=PORT") : launcher::new_link_key();
  if (!spec.node.bootstrap.empty()) how.command = spec.node.bootstrap;
  start_agents(spec, std::move(how), std::move(hosts));
}

void Cluster::start_agents(const RunSpec& spec, launcher::Bootstrap how, std::vector<launcher::Host> hosts) {
  how.program = own_program().string();
  how.options = words_for_an_agent(spec);
  how.outlive_us = spec.keep_jobs;
  for (const launcher::Host& host : hosts) {
    Node& node = nodes_.emplace_back();
    node.host = host.host;
    if (host.agent_port == 0) node.started_by = command_line_of(launcher::words_to_start_agent(how, host));
  }
  if (goes_on_) {  // those that were started run already
    expect_as_many_kept();
    if (kept_.key != protocol::LinkKey{}) key_ = kept_.key;
    for (std::size_t i = 0; i < hosts.size(); ++i)
      hosts[i].agent_port = launcher::LinkAddress::parse(kept_.nodes[i].address).port;
  }
  starter_ = std::make_unique<launcher::AgentStarter>(how, hosts, key_);
  std::string missing;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const launcher::StartedAgent& agent = starter_->agents()[i];
    if (agent.port == 0) missing += "\n  " + agent.why;
    nodes_[i].address = {hosts[i].host, agent.port};
  }
  if (!missing.empty()) throw InputError(fmt::format("not every host of {} has an agent:{}", file_, missing));
}

std::vector<launcher::AgentLink> Cluster::connect(std::chrono::milliseconds patience) const {
  auto comings = ask_each(nodes_.size(), [this, patience](std::size_t node) {
    return launcher::connect_agent(nodes_[node].address, key_, lease_, patience);
  });
  std::vector<launcher::AgentLink> links(nodes_.size());
  std::vector<std::string> misfits;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    try {
      links[i] = comings[i].get();
    } catch (const InputError& error) {
      if (file_.empty()) throw;
      misfits.push_back(fmt::format("{}: {}", nodes_[i].title(), error.what()));
    }
  }
  if (!misfits.empty()) throw InputError(text_of(misfits));
  return links;
}

// Not connected: the executor does that when it goes on.
std::vector<launcher::AgentLink> Cluster::links_of_kept() const {
  std::vector<launcher::AgentLink> links(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    links[i].name = fmt::format("agent {}", nodes_[i].address.to_text());
    links[i].address = nodes_[i].address;
    links[i].key = key_;
    links[i].session = {.id = kept_.nodes[i].session, .lease_ms = static_cast<std::uint32_t>(lease_.count())};
    links[i].hello = nodes_[i].hello;
    links[i].is_gone = kept_.are_gone;
  }
  return links;
}

std::vector<launcher::AgentLink> Cluster::connect_for_run() {
  if (goes_on_) return links_of_kept();
  std::vector<launcher::AgentLink> links;
  if (nodes_[0].first)
    for (Node& node : nodes_) links.push_back(*std::exchange(node.first, std::nullopt));
  else
    links = connect_again();
  kept_ = {.key = is_key_of_user_ ? protocol::LinkKey{} : key_, .nodes = {}};
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    kept_.nodes.push_back({nodes_[i].host, links[i].address.to_text(), links[i].session.id, links[i].hello});
  return links;
}

std::vector<launcher::AgentLink> Cluster::connect_again() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].started_by.empty()) nodes_[i].address.port = starter_->port_of_running(i, -1);
  return connect(kJobsEndWithin);
}

std::string Cluster::text_of(const std::vector<std::string>& misfits) const {
  if (file_.empty()) return fmt::format("{}", fmt::join(misfits, "\n"));
  return fmt::format("not every host of {} can be used:\n  {}", file_, fmt::join(misfits, "\n  "));
}

std::vector<std::string> Cluster::check(const std::filesystem::path& folder, const std::vector<std::string>& programs) {
  const FileWithWord file{folder};
  auto coming = ask_each(nodes_.size(), [&, this](std::size_t node) {
    return launcher::check_node(nodes_[node].first.value(), {file.path().string(), programs});
  });
  std::vector<std::string> misfits, notes;
  std::map<std::string, std::vector<std::string>> hosts_of_note;
  std::optional<protocol::NodeChecked> first;
  std::string name_of_first;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string title = nodes_[i].title();
    try {
      const launcher::CheckedNode checked = coming[i].get();
      if (!first) first = checked.node, name_of_first = nodes_[i].host;
      for (const std::string& one : misfits_of(checked.node, file, *first, name_of_first))
        misfits.push_back(fmt::format("{}: {}", title, one));
      for (const std::string& note : checked.node.notes) hosts_of_note[note].push_back(title);
      if (const auto note = checked.clock_note(nodes_.size() > 1)) notes.push_back(fmt::format("{}: {}", title, *note));
    } catch (const InputError& error) {
      misfits.push_back(fmt::format("{}: {}", title, error.what()));
    }
  }
  if (!misfits.empty()) throw InputError(text_of(misfits));
  checked_ = std::make_shared<const Checked>(Checked{folder, programs, first.value(), name_of_first});
  for (const auto& [note, titles] : hosts_of_note) {
    const bool is_of_all = titles.size() == nodes_.size() && nodes_.size() > 1;
    notes.push_back(fmt::format("{}: {}", is_of_all ? "every host" : fmt::format("{}", fmt::join(titles, ", ")), note));
  }
  return notes;
}

void Cluster::make_machine() {
  std::vector<NodeGroup> groups;
  for (const Node& node : nodes_) {
    if (node.hello.emulated != is_emulated())
      throw InputError(fmt::format("hosts of {}: {} has {} cores, {} has {} ones: expected one kind", file_,
                                   nodes_[0].host, is_emulated() ? "emulated" : "real", node.host,
                                   node.hello.emulated ? "emulated" : "real"));
    const std::vector<launcher::PuId> pus = launcher::pus_of(node.hello.cores);
    groups.push_back({.nodes = 1,
                      .packages = node.hello.packages,
                      .cores_per_package = static_cast<int>(pus.size()) / node.hello.packages});
    machine_.pu_of_core.insert(machine_.pu_of_core.end(), pus.begin(), pus.end());
  }
  machine_.machine = Machine::of(groups);
}

std::string Cluster::name() const {
  if (file_.empty()) return fmt::format("agent {}", nodes_[0].address.to_text());
  return fmt::format("{} of {}", counted(nodes_.size(), "host"), std::filesystem::path{file_}.filename().string());
}

std::vector<std::string> Cluster::hosts() const {
  std::vector<std::string> names;
  for (const Node& node : nodes_)
    if (!node.host.empty()) names.push_back(node.host);
  return names;
}

std::vector<std::string> Cluster::describe_nodes() const {
  std::vector<std::string> lines;
  for (const Node& node : nodes_)
    lines.push_back(fmt::format("{}: {}{} in {} ({}{}), agent {}", node.title(),
                                counted(node.hello.cores.size(), node.hello.emulated ? "emulated core" : "core"),
                                node.hello.host.empty() || node.hello.host == node.host ? "" : " of " + node.hello.host,
                                counted(node.hello.packages, "package"), node.hello.emulated ? "" : "OS ",
                                fmt::join(node.hello.cores, ","),
                                node.started_by.empty() ? "runs already" : "started by " + node.started_by));
  return lines;
}

void Cluster::expect_runs(std::size_t count) const {
  for (const Node& node : nodes_)
    if (count > 1 && !node.stays)
      throw UsageError(
          fmt::format("agent {} goes when its first daemon goes, and {} policies are {} runs: start it with --stay",
                      node.address.to_text(), count, count));
}

std::unique_ptr<launcher::MeasuredExecutor> Cluster::start(const launcher::LocalMachine& used) {
  std::vector<launcher::AgentLink> links = connect_for_run();
  std::vector<launcher::RemoteNode> remote;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    expect_cores(links[i], nodes_[i].hello);
    std::vector<launcher::PuId> cores;
    if (nodes_.size() == 1)
      cores = used.pu_of_core;  // an agent may have the cores of several emulated nodes
    else
      for (const CoreId core : used.machine.cores_of(static_cast<NodeId>(i)))
        cores.push_back(used.pu_of_core[index_of(core)]);
    // Its agent may have died, or with it the one that listens for daemons.
    const auto rejoin = [node = nodes_[i].hello, target = static_cast<launcher::LinkTarget>(links[i]),
                         checked = checked_, starter = nodes_[i].started_by.empty() ? nullptr : starter_.get(),
                         i](int cancel) {
      launcher::LinkTarget now = target;
      if (starter != nullptr) now.address.port = starter->port_of_running(i, cancel);
      launcher::AgentLink link = launcher::rejoin_agent(now, cancel);
      expect_cores(link, node);
      if (checked) expect_alike(link, *checked);
      return link;
    };
    remote.push_back({std::move(links[i]), nodes_[i].host, std::move(cores), rejoin});
  }
  return launcher::make_remote_executor(std::move(remote));
}

}  // namespace replay::experiment
