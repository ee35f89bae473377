#include "launcher/mpich/user_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::launcher {
namespace {

constexpr std::size_t kLongestNote = 400;

template <std::size_t kCount>
bool is_one_of(std::string_view text, const std::array<std::string_view, kCount>& names) {
  return std::ranges::find(names, text) != names.end();
}

/// Whether the variable belongs to a launcher of MPI programs: of this process, or of the user's by default.
bool belongs_to_a_launcher(std::string_view name, JobNetwork network) {
  if (is_port_range(name)) return network == JobNetwork::kOwn;  // there it keeps nothing out, and a flaw ends the job
  constexpr std::array<std::string_view, 4> kPrefixes{"HYDRA_", "HYDI_", "PMI_", "MPIEXEC_"};
  constexpr std::array<std::string_view, 2> kNames{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"};
  return is_one_of(name, kNames) ||
         std::ranges::any_of(kPrefixes, [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_loopback(std::string_view device) {
  return is_one_of(device, std::array<std::string_view, 5>{"", "lo", "localhost", "127.0.0.1", "::1"});
}

/// UCX finds transports in a network that has a loopback device only: TCP and those by shared memory.
bool has_transport_without_devices(std::string_view list) {
  if (list.empty() || list.starts_with('^')) return true;
  constexpr std::array<std::string_view, 10> kTransports{"all",   "tcp",  "sm",  "shm",  "mm",
                                                         "posix", "sysv", "cma", "knem", "xpmem"};
  return std::ranges::any_of(split(list, ','), [&kTransports](std::string_view item) {
    return is_one_of(item.substr(0, item.find(':')), kTransports);
  });
}

bool needs_another_device(std::string_view name, std::string_view value) {
  if (name == "UCX_TLS") return !has_transport_without_devices(value);
  if (name == "UCX_NET_DEVICES")
    return !std::ranges::all_of(split(value, ','),
                                [](std::string_view device) { return device == "all" || is_loopback(device); });
  constexpr std::array<std::string_view, 4> kNames{"MPICH_NETWORK_IFACE", "MPIR_CVAR_NETWORK_IFACE",
                                                   "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE",
                                                   "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"};
  const bool is_libfabrics = name.starts_with("FI_") && (name.ends_with("_IFACE") || name.ends_with("_DEVICE_NAME"));
  return (is_libfabrics || name.starts_with("MPICH_INTERFACE_HOSTNAME") || is_one_of(name, kNames)) &&
         !is_loopback(value);
}

}  // namespace

bool is_port_range(std::string_view name) {
  const bool is_mpichs = name.starts_with("MPIEXEC_") || name.starts_with("MPICH_") || name.starts_with("MPIR_");
  return is_mpichs && (name.ends_with("PORT_RANGE") || name.ends_with("PORTRANGE"));
}

JobVariables variables_for_job(const Variables& given, JobNetwork network) {
  JobVariables job;
  for (const auto& variable : given) {
    if (belongs_to_a_launcher(variable.first, network)) continue;
    const bool is_missing = network == JobNetwork::kOwn && needs_another_device(variable.first, variable.second);
    (is_missing ? job.missing_devices : job.kept).push_back(variable);
  }
  return job;
}

std::optional<std::string> note_on_threads(const Variables& given) {
  std::string_view threads;
  for (const auto& [name, value] : given)
    if (name == "OMP_NUM_THREADS") threads = value;
  const std::string_view outermost = threads.substr(0, threads.find(','));  // a list: one for each level
  if (parse_number<int>(outermost).value_or(1) <= 1) return std::nullopt;
  return fmt::format(
      "OMP_NUM_THREADS={}: a rank has one core, so its threads share it, and further cores stay idle; more ranks use "
      "more cores",
      outermost);
}

std::optional<std::string> note_on_missing_devices(const Variables& missing) {
  if (missing.empty()) return std::nullopt;
  const std::string list = joined(missing, ", ", [](const auto& one) { return one.first + "=" + one.second; });
  return fmt::format(
      "jobs do not get {}: a job's own network has no device but lo; jobs that need another one run with --job-network "
      "host",
      clean_line(list, kLongestNote));
}

}  // namespace replay::launcher
