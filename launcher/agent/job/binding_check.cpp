#include "launcher/agent/job/binding_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "launcher/os/binding.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kLastLookAtStart = 400ms;

std::string name_of(std::optional<std::size_t> rank) {
  return rank ? fmt::format("rank {}", *rank) : "a process outside the ranks";
}

/// What the kernel says if it refuses.
std::string bind(const Topology& topology, pid_t pid, std::span<const PuId> cores) {
  try {
    bind_all_threads(topology, pid, cores);
    return "";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

}  // namespace

BindingCheck::BindingCheck(JobContext& job)
    : job_(job),
      timer_(job.site.loop, -1, 0, [this] { look_at_start(); }),
      soon_(job.site.loop, -1, 0, [this] { follow(); }) {}

void BindingCheck::begin() {
  is_on_ = true;
  look_at_start();
}

void BindingCheck::look_at_start() {
  look();
  if (next_ > kLastLookAtStart) return;
  timer_.arm_after(next_);
  next_ *= 2;
}

template <class Visit>
void BindingCheck::for_each_process(Visit visit) const {
  const std::vector<PuId> cores = pus_of(job_.ranks.core_of_rank());  // not emulated: named by their hardware thread
  for (const auto& [rank, process] : job_.processes.program_by_rank(cores.size()))
    if (!rank || !is_in_init(*rank))
      visit(rank, process.pid(), rank ? std::span{cores}.subspan(*rank, 1) : std::span{cores});
  for (const Process& process : job_.processes.strays()) visit(std::nullopt, process.pid(), std::span{cores});
}

void BindingCheck::look() {
  if (!is_on_) return;
  follow();
  for_each_process([this](auto rank, pid_t pid, std::span<const PuId> cores) { put_back(rank, pid, cores); });
}

void BindingCheck::follow_soon() {
  if (!is_on_) return;
  is_behind_ = true;
  soon_.arm_after(0ms);
}

void BindingCheck::follow() {
  if (!std::exchange(is_behind_, false)) return;
  for_each_process([this](auto, pid_t pid, std::span<const PuId> cores) {
    if (thread_outside(pid, cores)) bind(*job_.site.topology, pid, cores);
  });
}

void BindingCheck::stop() {
  timer_.disarm();
  soon_.disarm();
  if (!std::exchange(is_on_, false)) return;
  for (const auto& [rank, times] : times_put_back_)
    if (times > 1) job_.note(fmt::format("{} was put back {} times", name_of(rank), times));
}

bool BindingCheck::is_in_init(std::size_t rank) const {
  return job_.ranks.segment() != nullptr && job_.ranks.all()[rank].is_running() &&
         job_.ranks.segment()->state(static_cast<std::uint32_t>(rank)) == REPLAY_VM_STARTING;
}

void BindingCheck::put_back(std::optional<std::size_t> rank, pid_t pid, std::span<const PuId> cores) {
  constexpr std::size_t kMostOfAName = 20;
  const auto found = thread_outside(pid, cores);
  if (!found) return;
  const std::string refused = bind(*job_.site.topology, pid, cores);
  const auto [place, is_first] = times_put_back_.try_emplace(rank, 0);
  if (refused.empty()) ++place->second;
  if (is_first)
    job_.note(fmt::format("{} was not on {} {} and {}: thread {} ({}) had cores {}", name_of(rank),
                          rank ? "its core" : "the job's cores", fmt::join(std::set(cores.begin(), cores.end()), ","),
                          refused.empty() ? "was moved there" : "could not be moved there, " + refused, found->thread,
                          clean_line(found->name, kMostOfAName), found->cores));
}

}  // namespace replay::launcher
