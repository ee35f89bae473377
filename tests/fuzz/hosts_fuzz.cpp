// Fuzz target of the hosts file: arbitrary bytes give hosts or an InputError; hosts are within the format's limits, their names
// are what no program takes for an option and no shell changes, and the same hosts, written with words, are read again.
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/bootstrap/agent_starter.hpp"
#include "launcher/bootstrap/hosts_file.hpp"
#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"

namespace replay::fuzz {
namespace {

using launcher::Host;

std::string line_of(const Host& host) {
  std::string line = host.host;
  if (host.slots) line += fmt::format(" slots={}", *host.slots);
  if (!host.cores.empty()) line += fmt::format(" cores={}", fmt::join(launcher::numbers(host.cores), ","));
  if (host.emulated) line += fmt::format(" emulated={}x{}", host.emulated->packages, host.emulated->cores);
  if (!host.interface.empty()) line += " iface=" + host.interface;
  if (host.agent_port != 0) line += fmt::format(" agent={}", host.agent_port);
  return line + "\n";
}

}  // namespace

void hosts(std::string_view bytes) {
  std::vector<Host> read;
  try {
    read = launcher::read_hosts(test::memory_source(bytes));
  } catch (const InputError&) {  // a valid result, not a failure
    return;
  }
  check(!read.empty() && read.size() <= launcher::kMostHosts);
  std::set<std::string> names;
  std::string text;
  for (const Host& host : read) {
    check(!host.host.empty() && host.host.front() != '-' && names.insert(host.host).second);
    check(host.slots.has_value() + !host.cores.empty() + host.emulated.has_value() + (host.agent_port != 0) <= 1);
    check(!launcher::words_to_start_agent({}, host).empty());
    if (host.cores.size() > 200) return;  // written one by one, the list is longer than one may be
    text += line_of(host);
  }
  check(launcher::read_hosts(test::memory_source(text)) == read);
}

}  // namespace replay::fuzz
