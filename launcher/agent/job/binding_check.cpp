#include "launcher/agent/job/binding_check.hpp"

#include <fmt/format.h>

#include <system_error>

#include "launcher/os/binding.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kLastLookAtMasks = 1600ms;

}  // namespace

BindingCheck::BindingCheck(JobContext& job) : job_(job), timer_(job.site.loop, -1, 0, [this] { check(); }) {}

void BindingCheck::begin() { check(); }

void BindingCheck::check() {
  for (const auto& [rank, process] : job_.processes.program_by_rank(job_.ranks.size()))
    put_on_its_core(rank, process.pid());
  if (next_ > kLastLookAtMasks) return;
  timer_.arm_after(next_);
  next_ *= 2;
}

void BindingCheck::put_on_its_core(std::size_t rank, pid_t pid) const {
  const int core = job_.ranks.core_of_rank()[rank];
  const PuId pu{core};  // cores that are not emulated are named by their hardware thread
  if (is_bound(pid, pu)) return;
  job_.note(fmt::format("rank {} was not on its core {} and was moved there", rank, core));
  try {
    bind_all_threads(*job_.site.topology, pid, pu);
  } catch (const std::system_error& error) {
    job_.note(error.what());
  }
}

}  // namespace replay::launcher
