#include "launcher/os/binding.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <system_error>

#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype([](hwloc_bitmap_s* b) { hwloc_bitmap_free(b); })>;

constexpr std::size_t kMostCpus = 8192;  // that Linux can be built for
constexpr int kMostWalks = 100;          // in case a process makes threads faster than we bind them

Bitmap set_of(std::span<const PuId> pus) {
  Bitmap set{hwloc_bitmap_alloc()};
  for (const PuId pu : pus) hwloc_bitmap_set(set.get(), static_cast<unsigned>(pu));
  return set;
}

/// "0-3,8".
std::string list_of(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set) < 0) return "";
  std::string list{text};
  std::free(text);
  return list;
}

}  // namespace

bool bind_all_threads(const Topology& topology, pid_t pid, std::span<const PuId> pus) {
  const Bitmap target = set_of(pus);
  std::set<pid_t> bound;
  for (int walk = 0; walk < kMostWalks; ++walk) {
    bool is_anybody_new = false;
    for (const pid_t thread : threads_of(pid)) {
      if (!bound.insert(thread).second) continue;
      is_anybody_new = true;
      if (hwloc_linux_set_tid_cpubind(topology.get(), thread, target.get()) != 0 && errno != ESRCH)
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot bind thread {} to core {}", thread, list_of(target.get())));
    }
    if (bound.empty()) return false;
    if (!is_anybody_new) return true;
  }
  return true;
}

std::optional<ThreadOutside> thread_outside(pid_t pid, std::span<const PuId> pus) {
  const Bitmap allowed = set_of(pus);
  const Bitmap mask{hwloc_bitmap_alloc()};
  std::array<unsigned long, kMostCpus / std::numeric_limits<unsigned long>::digits> words{};  // as the kernel has it
  for (const pid_t thread : threads_of(pid)) {
    if (::sched_getaffinity(thread, sizeof words, reinterpret_cast<cpu_set_t*>(words.data())) != 0) continue;  // gone
    hwloc_bitmap_from_ulongs(mask.get(), words.size(), words.data());
    if (hwloc_bitmap_isincluded(mask.get(), allowed.get()) != 0) continue;
    const auto stat = read_stat(thread);
    return ThreadOutside{thread, stat ? stat->name : "", list_of(mask.get())};
  }
  return std::nullopt;
}

bool is_bound(pid_t pid, PuId pu) { return !threads_of(pid).empty() && !thread_outside(pid, std::span{&pu, 1}); }

}  // namespace replay::launcher
