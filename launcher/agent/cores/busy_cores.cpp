#include "launcher/agent/cores/busy_cores.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::launcher {
namespace {

constexpr std::uint64_t kShareOfOthers = 10;  // a tenth
constexpr std::uint64_t kFewestOfAll = 10;    // in ticks: two looks may follow each other after a stall
constexpr std::uint64_t kFewestTicks = 2;     // fewer are what counting in ticks is wrong by

/// user, nice, system, idle, iowait, irq, softirq: the columns after a core's name. Those after them are the time that
/// a host took away, and that of guests, which is part of user.
constexpr std::size_t kColumns = 7;
constexpr std::size_t kIdle = 3;
constexpr std::size_t kWaiting = 4;

std::optional<CoreTime> parse_times(const std::vector<std::string_view>& words) {
  CoreTime time;
  if (words.size() <= kColumns) return std::nullopt;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto ticks = parse_number<std::uint64_t>(words[column + 1]);
    if (!ticks) return std::nullopt;
    (column == kIdle || column == kWaiting ? time.idle : time.busy) += *ticks;
  }
  return time;
}

std::uint64_t since(std::uint64_t before, std::uint64_t now) { return now - std::min(before, now); }

}  // namespace

std::map<std::uint32_t, CoreTime> parse_core_times(std::string_view proc_stat) {
  std::map<std::uint32_t, CoreTime> times;
  for (const std::string_view line : split(proc_stat, '\n')) {
    if (!line.starts_with("cpu")) continue;
    const std::vector<std::string_view> words = split(line, ' ');
    const auto core = parse_number<std::uint32_t>(words.front().substr(3));
    if (!core) continue;  // "cpu", of all of them
    if (const auto time = parse_times(words)) times[*core] = *time;
  }
  return times;
}

CoreSample sample_cores(const std::map<std::uint32_t, std::vector<pid_t>>& ranks_on) {
  CoreSample sample;
  std::ifstream file{"/proc/stat"};
  sample.times = parse_core_times(std::string{std::istreambuf_iterator<char>{file}, {}});
  for (const auto& [core, ranks] : ranks_on)
    for (const pid_t pid : ranks)
      if (const auto used = cpu_ns(pid)) sample.ranks[core][pid] = *used;
  return sample;
}

const std::set<std::uint32_t>& BusyCores::judge(CoreSample now) {
  std::set<std::uint32_t> busy;
  for (const auto& [core, time] : now.times)
    if (is_busy(core, time, now)) busy.insert(core);
  before_ = std::move(now);
  return busy_ = std::move(busy);
}

bool BusyCores::is_busy(std::uint32_t core, const CoreTime& time, const CoreSample& now) const {
  const auto old_time = before_.times.find(core);
  if (old_time == before_.times.end()) return false;
  static const std::map<pid_t, std::uint64_t> kNone;
  const auto ranks_of = [core](const CoreSample& sample) -> const std::map<pid_t, std::uint64_t>& {
    const auto found = sample.ranks.find(core);
    return found == sample.ranks.end() ? kNone : found->second;
  };
  const auto &were_here = ranks_of(before_), &are_here = ranks_of(now);
  if (!std::ranges::equal(were_here, are_here, {}, &std::pair<const pid_t, std::uint64_t>::first,
                          &std::pair<const pid_t, std::uint64_t>::first))
    return busy_.contains(core);
  std::uint64_t of_ranks = 0;
  for (const auto& [pid, used] : are_here) of_ranks += since(were_here.at(pid), used);
  const std::uint64_t busy = since(old_time->second.busy, time.busy);
  const std::uint64_t all = busy + since(old_time->second.idle, time.idle);
  if (all < kFewestOfAll) return busy_.contains(core);
  const std::uint64_t of_others = since(of_ranks / tick_ns_, busy);
  return of_others >= kFewestTicks && of_others * kShareOfOthers >= all;
}

}  // namespace replay::launcher
