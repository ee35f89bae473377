#include "launcher/os/binding.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/linux.h>

#include <cerrno>
#include <memory>
#include <set>
#include <system_error>

#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype([](hwloc_bitmap_s* b) { hwloc_bitmap_free(b); })>;

constexpr int kMostWalks = 100;  // in case a process makes threads faster than we bind them

Bitmap only(PuId pu) {
  Bitmap set{hwloc_bitmap_alloc()};
  hwloc_bitmap_only(set.get(), static_cast<unsigned>(pu));
  return set;
}

}  // namespace

bool bind_all_threads(const Topology& topology, pid_t pid, PuId pu) {
  const Bitmap target = only(pu);
  std::set<pid_t> bound;
  for (int walk = 0; walk < kMostWalks; ++walk) {
    bool is_anybody_new = false;
    for (const pid_t thread : threads_of(pid)) {
      if (!bound.insert(thread).second) continue;
      is_anybody_new = true;
      if (hwloc_linux_set_tid_cpubind(topology.get(), thread, target.get()) != 0 && errno != ESRCH)
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot bind thread {} to core {}", thread, pu));
    }
    if (bound.empty()) return false;
    if (!is_anybody_new) return true;
  }
  return true;
}

bool is_bound(pid_t pid, PuId pu) {
  cpu_set_t* set = nullptr;
  constexpr std::size_t kCpus = 8192;
  const std::size_t size = CPU_ALLOC_SIZE(kCpus);
  const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* s) { CPU_FREE(s); })> owner{set = CPU_ALLOC(kCpus)};
  const auto threads = threads_of(pid);
  for (const pid_t thread : threads) {
    if (::sched_getaffinity(thread, size, set) != 0) {
      if (errno == ESRCH) continue;
      return false;
    }
    if (CPU_COUNT_S(size, set) != 1 || !CPU_ISSET_S(index_of(pu), size, set)) return false;
  }
  return !threads.empty();
}

}  // namespace replay::launcher
