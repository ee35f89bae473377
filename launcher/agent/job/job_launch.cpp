#include "launcher/agent/job/job_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "launcher/mpich/mpiexec.hpp"
#include "launcher/mpich/other_mpi.hpp"
#include "launcher/mpich/vmlib_file.hpp"
#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::launcher {
namespace {

constexpr std::uint64_t kOldestStartNs = 60'000'000'000;

std::string mpiexec_name(const AgentSite& site) { return site.mpiexec.empty() ? "mpiexec" : site.mpiexec.string(); }

/// What mpiexec and the ranks inherit.
Variables surroundings_of(const protocol::LaunchJob& order) {
  return order.surroundings.empty() ? own_environment() : order.surroundings;
}

/// By the user: what the ranks get in their environment.
bool is_vmlib_switched_off(const protocol::LaunchJob& order) {
  std::string value = "0";
  for (const Variables& variables : {surroundings_of(order), order.environment})
    for (const auto& [name, text] : variables)
      if (name == REPLAY_VM_ENV_OFF) value = text;
  return value != "0";
}

/// Where it would run is looked at only for a path that depends on it, and for folders of the PATH that do.
std::optional<std::filesystem::path> find_in(const std::filesystem::path& directory, const std::string& program,
                                             const std::string& folders) {
  if (program.find('/') != std::string::npos) return find_program((directory / program).string(), folders);
  for (const std::string_view folder : split(folders, ':'))
    if (const auto found = find_program((directory / folder / program).string(), folders)) return found;
  return std::nullopt;
}

/// As mpiexec will find it there: by the job's own PATH.
std::optional<std::filesystem::path> find_program_of(const protocol::LaunchJob& order) {
  const auto path = std::ranges::find(order.surroundings, "PATH", &Variables::value_type::first);
  const std::string folders = path != order.surroundings.end() ? path->second : program_folders();
  return find_in(order.working_directory, order.command.front(), folders);
}

std::optional<std::string> why_command_cannot_start(const protocol::LaunchJob& order) {
  const std::vector<std::string>& command = order.command;
  const auto program = find_program_of(order);
  if (!program) return fmt::format("program {}: not found, or not executable", command.front());
  if (const std::string library = other_mpi_needed_by(*program); order.core_of_rank.size() > 1 && !library.empty())
    return why_no_other_mpi(program->string(), library);
  if (std::ranges::find(command, ":") != command.end())
    return "the argument ':' separates programs for mpiexec and cannot be given to one";
  if (command.size() > kMostWordsOfACommand)
    return fmt::format("program {}: {} arguments, and mpiexec takes at most {}", command.front(), command.size() - 1,
                       kMostWordsOfACommand - 1);
  return std::nullopt;
}

/// Empty: the ranks preload vmlib. Those of a rigid job, too: it only leads MPICH's file into the agent's folder there.
std::string why_not_preloaded(const JobContext& job) {
  if (is_vmlib_switched_off(job.order)) return fmt::format("{} is set", REPLAY_VM_ENV_OFF);
  if (job.site.vmlib.empty()) return "vmlib is not available";
  return why_no_vmlib_at(job.site.vmlib);
}

/// Empty: the ranks register. On several nodes those of a rigid job do: Hydra binds no rank there, and of MPICH 4.0.2 over a
/// network, MPI_Finalize hangs without vmlib's cure.
std::string why_not_registered(const JobContext& job, const std::string& not_preloaded) {
  if (!job.order.malleable && !job.site.is_emulated && !job.order.is_on_several_nodes()) return "asked to be rigid";
  if (job.ranks.size() > REPLAY_VM_MAX_RANKS)
    return fmt::format("vmlib serves at most {} ranks on a node", REPLAY_VM_MAX_RANKS);
  return not_preloaded;
}

/// The start as the daemon gave it, if it is plausible: one in the future, or by another clock, would make a program
/// end at once.
JobFacts facts(const JobContext& job) {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t given = job.order.given_ns;
  const bool is_believable = given != 0 && given <= now && now - given <= kOldestStartNs;
  return {.start_ns = is_believable ? given : now,
          .end_cost_ns = job.site.is_emulated ? job.site.end_cost->expected(job.ranks.size()) : 0,
          .is_emulated = job.site.is_emulated,
          .quantum_us = static_cast<std::uint32_t>(job.site.quantum.count())};
}

void take_cores(JobContext& job, bool with_vmlib) {
  std::unique_ptr<JobSegment> segment;
  if (with_vmlib) {
    const auto name = fmt::format("{}.segment", static_cast<std::int64_t>(job.id()));
    segment = std::make_unique<JobSegment>(name, job.key, static_cast<std::uint32_t>(job.ranks.size()), facts(job));
  }
  job.ranks.enter(std::move(segment));
}

/// What the ranks preload: vmlib first, then what they would preload by themselves.
std::string preload_text(const JobContext& job, const Variables& surroundings) {
  std::string text = job.has_vmlib ? job.site.vmlib.string() : "";
  const auto everywhere = std::ranges::find(surroundings, "LD_PRELOAD", &Variables::value_type::first);
  if (everywhere != surroundings.end() && !everywhere->second.empty()) add_item(text, ":", "{}", everywhere->second);
  return text;
}

/// For the user, beside the job's output.
void write_description(const JobContext& job, const std::filesystem::path& mpiexec,
                       const std::vector<std::string>& arguments, const std::string& note) {
  const std::string command = quoted_word(mpiexec.string()) + " " + command_line_of(arguments);
  std::string environment;
  for (const Variables& variables : {job.order.surroundings, job.order.environment})
    for (const auto& [name, value] : variables) environment += fmt::format("{}={}\n", name, quoted_word(value));
  const std::filesystem::path directory = job.order.directory;
  try {
    write_whole_file(directory / "command", command + "\n");
    write_whole_file(directory / "environment", environment);
    if (!note.empty()) write_whole_file(directory / "note", note);
  } catch (const InputError& error) {
    throw std::runtime_error(fmt::format("cannot write into {}: {}", job.order.directory, error.what()));
  }
}

/// What the user has to know of the job's variables, in lines.
std::string note_on(const Variables& missing_devices, const JobContext& job) {
  std::string lines;
  if (const auto note = note_on_missing_devices(missing_devices)) lines += *note + "\n";
  Variables variables = surroundings_of(job.order);
  variables.insert(variables.end(), job.order.environment.begin(), job.order.environment.end());
  if (const auto note = note_on_threads(variables); note && !job.site.is_emulated) lines += *note + "\n";
  return lines;
}

/// The job's mark: set for rigid jobs too, because it is how strays are recognised. With it goes where ranks make the files
/// that they share, unless the user's own variables say so; of vmlib a rigid job wants no more.
Variables mark_of(const JobContext& job, const Variables& given) {
  Variables mark{{REPLAY_VM_ENV_SOCKET, job.site.socket.string()}, {REPLAY_VM_ENV_KEY, to_hex(job.key)}};
  if (job.ranks.segment() == nullptr) mark.emplace_back(REPLAY_VM_ENV_OFF, "1");
  if (job.site.shared.empty()) return mark;
  mark.emplace_back(REPLAY_VM_ENV_SHARED, job.site.shared.string());
  if (std::ranges::find(given, kUcxSharedFolder, &Variables::value_type::first) == given.end())
    mark.emplace_back(kUcxSharedFolder, job.site.shared.string());
  return mark;
}

MpiexecPlace place_of(const JobContext& job) {
  return {job.order.directory, job.order.working_directory, job.site.network,
          descriptors_for_job(job.order.world_size())};
}

void start_spanning(JobContext& job, const std::filesystem::path& mpiexec) {
  const AgentSite& site = job.site;
  if (!job.order.is_home()) return;  // the proxy comes with the line from home
  SpanningCall call{site.replay_proxy,
                    {},
                    variables_for_job(job.order.environment, JobNetwork::kHost).kept,
                    job.order.command,
                    job.order.label};
  for (const protocol::JobHost& host : job.order.hosts)
    call.hosts.push_back({host.name, static_cast<std::size_t>(host.ranks)});
  const std::vector<std::string> arguments = spanning_arguments(call);
  write_description(job, mpiexec, arguments, note_on({}, job));
  Variables environment = spanning_environment(site.proxy_socket, to_hex(job.key));
  std::ranges::move(mark_of(job, {}), std::back_inserter(environment));
  if (site.network == JobNetwork::kHost)
    std::ranges::move(port_ranges(surroundings_of(job.order)), std::back_inserter(environment));
  job.processes.take(start_mpiexec(mpiexec, arguments, environment, place_of(job)));
}

void start_processes(JobContext& job, const std::filesystem::path& mpiexec) {
  if (job.order.is_on_several_nodes()) return start_spanning(job, mpiexec);
  const AgentSite& site = job.site;
  JobVariables ours = variables_for_job(surroundings_of(job.order), site.network);
  JobVariables ranks = variables_for_job(job.order.environment, site.network);
  const Variables& inherited = ours.kept;
  std::ranges::move(ranks.missing_devices, std::back_inserter(ours.missing_devices));
  const std::vector<std::int32_t>& core_of_rank = job.ranks.core_of_rank();
  const MpiexecCall call{job.order.command,
                         std::move(ranks.kept),
                         {core_of_rank.begin(), core_of_rank.end()},
                         preload_text(job, inherited),
                         !site.is_emulated,
                         job.order.label};
  const std::vector<std::string> arguments = mpiexec_arguments(call);
  Variables mark = mark_of(job, inherited);
  write_description(job, mpiexec, arguments, note_on(ours.missing_devices, job));
  if (site.network == JobNetwork::kHost) std::ranges::move(port_ranges(inherited), std::back_inserter(mark));
  job.processes.take(start_mpiexec(mpiexec, arguments, hydra_environment(inherited, mark), place_of(job)));
}

}  // namespace

StartedProxy start_proxy_of(const JobContext& job, const std::vector<std::string>& words, int control) {
  const AgentSite& site = job.site;
  const auto mpiexec = find_program(mpiexec_name(site), program_folders());
  if (!mpiexec) throw InputError(fmt::format("cannot start {}: not found", mpiexec_name(site)));
  const Variables inherited = variables_for_job(surroundings_of(job.order), JobNetwork::kHost).kept;
  const auto names = [](const std::string& name) { return [&name](const auto& one) { return one.first == name; }; };
  Variables environment = mark_of(job, inherited);
  if (const std::string preload = preload_text(job, inherited); !preload.empty())
    environment.emplace_back("LD_PRELOAD", preload);
  if (!site.interface.empty() && std::ranges::none_of(inherited, names("UCX_NET_DEVICES")))
    environment.emplace_back("UCX_NET_DEVICES", site.interface);
  std::ranges::move(port_ranges(inherited), std::back_inserter(environment));
  for (const auto& one : inherited)
    if (std::ranges::none_of(environment, names(one.first))) environment.push_back(one);
  const auto& cores = job.ranks.core_of_rank();
  return start_proxy({find_proxy_beside(*mpiexec), words, control, std::move(environment),
                      site.is_emulated ? std::vector<int>{} : std::vector<int>{cores.begin(), cores.end()},
                      job.order.working_directory, descriptors_for_job(job.order.world_size())});
}

LaunchResult launch(JobContext& job) {
  LaunchResult result;
  try {
    if (auto why = why_too_few_descriptors_for_job(job.order.world_size(), job.ranks.size()); !why.empty())
      return {std::move(why), true, ""};
    const auto mpiexec = find_program(mpiexec_name(job.site), program_folders());
    if (!mpiexec)
      return {fmt::format("cannot start {}: not found; install MPICH or name its mpiexec", mpiexec_name(job.site)),
              true, ""};
    if (auto no_folder = why_cannot_start_in(job.order.working_directory))
      return {std::move(no_folder->why), !no_folder->is_denied, ""};
    result.failure = why_command_cannot_start(job.order);
    if (result.failure) return result;
    if (job.order.is_on_several_nodes() && (job.site.replay_proxy.empty() || !job.site.dial))
      result.failure =
          "jobs on several nodes need replay-proxy beside libreplay-vm.so, and an agent that others can reach";
    if (result.failure) return result;
    const std::string not_preloaded = why_not_preloaded(job);
    result.no_vmlib_reason = why_not_registered(job, not_preloaded);
    const bool is_of_use = result.no_vmlib_reason.empty() || !refuses_preload(find_program_of(job.order).value_or(""));
    job.has_vmlib = not_preloaded.empty() && is_of_use;
    if (job.site.is_emulated && !result.no_vmlib_reason.empty())
      result.failure = fmt::format("{}, and on emulated cores no program runs without it", result.no_vmlib_reason);
    else
      result.failure = job.site.cores->why_not(job.id(), job.ranks.core_of_rank(), job.site.is_emulated);
    if (result.failure) return result;
    take_cores(job, result.no_vmlib_reason.empty());
    start_processes(job, *mpiexec);
  } catch (const std::system_error& error) {
    result.failure = error.what();
    result.is_site_fault = error.code() != std::errc::argument_list_too_long;  // of the job's command and environment
  } catch (const std::exception& error) {
    result.failure = error.what();
    result.is_site_fault = true;  // everything that a job brings was looked at before
  }
  return result;
}

}  // namespace replay::launcher
