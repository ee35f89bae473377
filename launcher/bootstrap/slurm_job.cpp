#include "launcher/bootstrap/slurm_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

#include "launcher/bootstrap/host_program.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNodes = "SLURM_JOB_NODELIST";
constexpr const char* kCpus = "SLURM_JOB_CPUS_PER_NODE";
constexpr std::size_t kMostDigits = 9;
constexpr std::size_t kLongestShown = 80;
constexpr auto kSqueueAnswersWithin = 10s;

[[noreturn]] void fail(std::string_view name, std::string_view expected, std::string_view found) {
  throw InputError(fmt::format("{}: expected {}, found '{}'", name, expected, visible_text(found, kLongestShown)));
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

// ---- "n[1-3,07-09],x5" ----

void expect_few(std::size_t count) {
  if (count > kMostHosts) fail(kNodes, fmt::format("at most {} hosts", kMostHosts), "more");
}

/// The numbers of "1-3,07-09": as many digits as the first number of a range has, at least.
std::vector<std::string> numbers_in(std::string_view ranges) {
  std::vector<std::string> numbers;
  for_each_part(ranges, ',', [&](std::size_t, std::string_view range) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto from = parse_number<std::uint32_t>(first), to = parse_number<std::uint32_t>(last);
    if (!from || !to || *from > *to || first.size() > kMostDigits || last.size() > kMostDigits)
      fail(kNodes, "numbers such as 1-3,07-09 between [ and ]", ranges);
    expect_few(numbers.size() + (*to - *from));
    for (std::uint32_t number = *from; number <= *to; ++number)
      numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  });
  return numbers;
}

/// The names of one item, "rack[0-1]n[01-16]-ib".
std::vector<std::string> names_in(std::string_view item) {
  std::vector<std::string> names{""};
  while (!item.empty()) {
    const std::size_t open = item.find('[');
    for (std::string& name : names) name += item.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) fail(kNodes, "a ']' behind each '['", item);
    const auto numbers = numbers_in(item.substr(open + 1, close - open - 1));
    expect_few(names.size() * numbers.size());
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& number : numbers) longer.push_back(name + number);
    names = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return names;
}

/// The items of a list, which are parted by commas outside of brackets.
std::vector<std::string_view> items_of(std::string_view nodes) {
  std::vector<std::string_view> items;
  bool is_inside = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (nodes[at] == '[' || nodes[at] == ']') is_inside = nodes[at] == '[';
    if (nodes[at] != ',' || is_inside) continue;
    items.push_back(nodes.substr(begin, at - begin));
    begin = at + 1;
  }
  items.push_back(nodes.substr(begin));
  return items;
}

// ---- "4(x2),2" ----

std::vector<int> counts_in(std::string_view cpus_per_node) {
  const std::string expected = fmt::format("counts from 1 to {} such as 4(x2),2", REPLAY_VM_MAX_CORES);
  std::vector<int> counts;
  for_each_part(cpus_per_node, ',', [&](std::size_t, std::string_view part) {
    const std::size_t open = part.find("(x");
    const auto count = parse_number(part.substr(0, open), 1, static_cast<int>(REPLAY_VM_MAX_CORES));
    std::optional<std::size_t> nodes = 1;
    if (open != std::string_view::npos) {
      const std::string_view times = part.substr(open + 2);
      nodes = times.ends_with(')') ? parse_number<std::size_t>(times.substr(0, times.size() - 1), 1, kMostHosts)
                                   : std::nullopt;
    }
    if (!count || !nodes) fail(kCpus, expected, cpus_per_node);
    expect_few(counts.size() + *nodes);
    counts.insert(counts.end(), *nodes, *count);
  });
  return counts;
}

/// A text of ours that is read as a hosts file.
class Lines final : public ByteSource {
 public:
  Lines(std::string name, std::string text) : ByteSource(std::move(name)), text_(std::move(text)) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t count = std::min(most, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

/// What squeue prints about the job; empty if it fails or takes too long.
std::string squeue_says(const std::string& id) {
  const EventBase loop{event_base_new()};
  std::string said;
  bool is_over = false;
  HostProgram squeue{loop.get(),
                     {"squeue", "--noheader", "--jobs=" + id, "--format=%L"},
                     "",
                     false,
                     {[&](std::string_view line) { said = line; }, [&] { is_over = true; }}};
  squeue.close_input();
  LoopEvent late{loop.get(), -1, 0, [&] { is_over = true; }};
  late.arm_after(kSqueueAnswersWithin);
  while (!is_over) event_base_loop(loop.get(), EVLOOP_ONCE);
  return said;
}

}  // namespace

std::vector<Host> slurm_hosts(std::string_view nodes, std::string_view cpus_per_node) {
  std::vector<Host> hosts;
  for (const std::string_view item : items_of(nodes))
    for (std::string& name : names_in(item)) {
      if (!is_host_name(name)) fail(kNodes, "names of hosts such as n[1-3,07-09],x5", nodes);
      if (std::ranges::find(hosts, name, &Host::host) != hosts.end()) fail(kNodes, "each host once", name);
      expect_few(hosts.size() + 1);
      hosts.push_back({.host = std::move(name)});
    }
  const std::vector<int> counts = counts_in(cpus_per_node);
  if (counts.size() != hosts.size())
    fail(kCpus, fmt::format("as many counts as {} has hosts, {}", kNodes, hosts.size()), cpus_per_node);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].at_most = counts[i];
  return hosts;
}

SlurmJob slurm_job(std::string_view words) {
  const std::string_view id = variable("SLURM_JOB_ID");
  if (id.empty() || variable(kNodes).empty())
    throw UsageError(
        "--machine slurm: expected to run inside a job of Slurm (salloc, sbatch; `replay sbatch` writes a script), "
        "found no "
        "SLURM_JOB_ID with SLURM_JOB_NODELIST");
  if (!parse_number<std::uint64_t>(id)) fail("SLURM_JOB_ID", "a number", id);
  if (const auto parts = variable("SLURM_HET_SIZE"); !parts.empty())
    fail("SLURM_HET_SIZE", "no heterogeneous job, whose parts have lists of their own", parts);
  SlurmJob job{std::string{id}, slurm_hosts(variable(kNodes), variable(kCpus))};
  if (words.empty()) return job;
  std::string line{words}, text;
  std::ranges::replace(line, ',', ' ');
  for (const Host& host : job.hosts) text += fmt::format("{} {}\n", host.host, line);
  std::vector<Host> hosts = read_hosts_of_job(
      std::make_unique<Lines>(fmt::format("--machine slurm:{}", visible_text(words)), std::move(text)));
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (!hosts[i].slots && hosts[i].cores.empty() && !hosts[i].emulated) hosts[i].at_most = job.hosts[i].at_most;
  job.hosts = std::move(hosts);
  return job;
}

std::optional<std::chrono::seconds> parse_time_left(std::string_view text) {
  constexpr std::int64_t kMost = 10'000'000;
  std::int64_t days = 0, seconds = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto count = parse_number<std::int64_t>(text.substr(0, dash), 0, kMost);
    if (!count) return std::nullopt;
    days = *count;
    text.remove_prefix(dash + 1);
  }
  const auto parts = split(text, ':');
  if (parts.size() > 3) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto count = parse_number<std::int64_t>(part, 0, kMost);
    if (!count) return std::nullopt;
    seconds = seconds * 60 + *count;
  }
  return std::chrono::days{days} + std::chrono::seconds{seconds};
}

std::optional<std::chrono::seconds> slurm_time_left(const std::string& id) {
  if (const auto end = parse_number<std::int64_t>(variable("SLURM_JOB_END_TIME"), 0, INT64_MAX / 2))
    return std::chrono::seconds{std::max<std::int64_t>(*end - std::time(nullptr), 0)};
  try {
    return parse_time_left(squeue_says(id));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace replay::launcher
