// Binding a process to a processor, read back from the kernel.
#include "launcher/os/binding.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace replay::launcher {
namespace {

/// A child that waits to be killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      while (true) ::pause();
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Binding, ReachesTheProcessAndIsReadBack) {
  const Child child;
  const Topology topology = load_topology();
  const PuId pu{affinity_mask().back()};
  EXPECT_TRUE(bind_all_threads(topology, child.pid(), pu));
  EXPECT_TRUE(is_bound(child.pid(), pu));
  EXPECT_FALSE(is_bound(child.pid(), PuId{affinity_mask().back() + 1}));
  EXPECT_FALSE(bind_all_threads(topology, 999999999, pu));
  EXPECT_FALSE(is_bound(999999999, pu));
}

}  // namespace
}  // namespace replay::launcher
