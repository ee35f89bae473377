#include "launcher/mpich/spanning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string_view>
#include <system_error>

#include "launcher/mpich/hydra_process.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/mpich/proxy_message.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShown = 100;

bool is_number(std::string_view text) { return parse_number<std::int64_t>(text).has_value(); }
bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && parse_number<std::uint16_t>(text.substr(colon + 1)).has_value();
}
bool is_word(std::string_view text) { return !text.empty() && !text.starts_with('-'); }

struct Option {
  std::string_view name;
  bool (*fits)(std::string_view value);
};
/// Of mpiexec 4.0.2; each is followed by a value. The proxy knows more: those that start programs are not for us.
constexpr std::array<Option, 11> kOptions{{{"--control-port", is_address},
                                           {"--rmk", is_word},
                                           {"--launcher", is_word},
                                           {"--launcher-exec", is_word},
                                           {"--demux", is_word},
                                           {"--pgid", is_number},
                                           {"--retries", is_number},
                                           {"--usize", is_number},
                                           {"--pmi-port", is_number},
                                           {"--gpus-per-proc", is_number},
                                           {"--proxy-id", is_number}}};

UniqueFd nameless_file() {
  UniqueFd file{::memfd_create("proxy-stderr", MFD_CLOEXEC)};
  if (!file.is_open())
    throw std::system_error(errno, std::generic_category(), "no file for the stderr of Hydra's proxy");
  return file;
}

}  // namespace

std::vector<std::string> spanning_arguments(const SpanningCall& call) {
  std::vector<std::string> hosts;
  std::size_t ranks = 0;
  for (const SpanningCall::Host& host : call.hosts) {
    INVARIANT(host.name.find_first_of(":, \t\n") == std::string::npos, "host {}", host.name);
    hosts.push_back(fmt::format("{}:{}", host.name, host.ranks));
    ranks += host.ranks;
  }
  std::vector<std::string> arguments{"-launcher", "rsh",  "-launcher-exec", call.replay_proxy.string(),
                                     "-rmk",      "user", "-hosts",         fmt::format("{}", fmt::join(hosts, ",")),
                                     "-bind-to",  "none", "-genvnone"};
  if (call.label) arguments.insert(arguments.end(), kLabelWords.begin(), kLabelWords.end());
  for (const auto& [name, value] : call.environment)
    if (name != "LD_PRELOAD") arguments.insert(arguments.end(), {"-genv", name, value});
  arguments.insert(arguments.end(), {"-n", fmt::format("{}", ranks)});
  arguments.insert(arguments.end(), call.command.begin(), call.command.end());
  return arguments;
}

Variables spanning_environment(const fs::path& desk, const std::string& token) {
  return {{"HYDRA_LAUNCHER_AUTOFORK", "0"},  // else mpiexec forks the proxy of its own host itself
          {"HYDRA_CONFIG_FILE", "/dev/null"},
          {kProxySocketVariable, desk.string()},
          {kProxyTokenVariable, token}};
}

fs::path find_proxy_beside(const fs::path& mpiexec) {
  std::error_code error;
  const fs::path real = fs::canonical(mpiexec, error);
  fs::path proxy = real.parent_path() / "hydra_pmi_proxy";
  if (error || !find_program(proxy.string(), ""))
    throw InputError(
        fmt::format("{}: expected hydra_pmi_proxy beside it, found none; a job on several nodes needs MPICH's "
                    "own mpiexec",
                    mpiexec.string()));
  return proxy;
}

std::string why_no_proxy(const std::vector<std::string>& arguments) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto option = std::ranges::find(kOptions, arguments[i], &Option::name);
    const bool fits = option != kOptions.end() && i + 1 < arguments.size() && option->fits(arguments[i + 1]) &&
                      seen.insert(option->name).second;
    if (fits) continue;
    const std::string value = i + 1 < arguments.size() ? " " + arguments[i + 1] : "";
    return fmt::format("this MPICH is not known: mpiexec calls its proxy with {}",
                       clean_line(arguments[i] + value, kMostShown));
  }
  for (const std::string_view needed : {"--control-port", "--proxy-id"})
    if (!seen.contains(needed))
      return fmt::format("this MPICH is not known: mpiexec calls its proxy without {}", needed);
  return "";
}

ControlLine make_control_line() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "no line for Hydra's proxy");
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

StartedProxy start_proxy(const ProxyStart& start) {
  if (const std::string why = why_no_proxy(start.arguments); !why.empty()) throw InputError(why);
  UniqueFd err = nameless_file();
  Variables environment = start.environment;
  environment.emplace_back("HYDI_CONTROL_FD", fmt::format("{}", start.control));
  Process process = start_hydra({.program = start.program,
                                 .arguments = start.arguments,
                                 .environment = environment,
                                 .out = err.get(),
                                 .err = err.get(),
                                 .directory = start.directory,
                                 .at_our_death = SIGPIPE,
                                 .kept = start.control,
                                 .cores = start.cores,
                                 .descriptors = start.descriptors});
  return {std::move(process), std::move(err)};
}

void end_control_line(const UniqueFd& line) { ::shutdown(line.get(), SHUT_RDWR); }

}  // namespace replay::launcher
