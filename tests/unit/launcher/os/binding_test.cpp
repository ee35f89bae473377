// Binding a process to a processor, read back from the kernel.
#include "launcher/os/binding.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <type_traits>

#include "tests/support/waiting_child.hpp"

namespace replay::launcher {
namespace {

TEST(Binding, ReachesTheProcessAndIsReadBack) {
  const test::WaitingChild child;
  const Topology topology = load_topology();
  const PuId pu = affinity_mask().back();
  EXPECT_TRUE(bind_all_threads(topology, child.pid(), pu));
  EXPECT_TRUE(is_bound(child.pid(), pu));
  EXPECT_FALSE(is_bound(child.pid(), PuId{number(pu) + 1}));
  EXPECT_FALSE(bind_all_threads(topology, 999999999, pu));
  EXPECT_FALSE(is_bound(999999999, pu));
}

TEST(PuIds, AreNotTakenForCores) {
  EXPECT_FALSE((std::is_convertible_v<PuId, CoreId>));
  EXPECT_FALSE((std::is_convertible_v<CoreId, PuId>));
  EXPECT_FALSE((std::is_convertible_v<int, PuId>));
  EXPECT_FALSE((std::is_convertible_v<PuId, int>));
}

}  // namespace
}  // namespace replay::launcher
