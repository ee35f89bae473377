#include "vmlib/cores.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>

#include "tests/support/vm_host.hpp"
#include "vmlib/unique_fd.hpp"

namespace replay::vm {
namespace {

using replay::test::VmHost;

/// Whether a rank accepts a segment of four cores that `spoil` has changed.
bool are_believed(const std::function<void(VmHost&)>& spoil) {
  VmHost host{1, 20, 4};
  spoil(host);
  return Cores::map(host.cores_fd()).has_value();
}

TEST(VmCores, AGoodSegmentIsMappedAndSharedBothWays) {
  VmHost host{1, 20, 4};
  const auto cores = Cores::map(host.cores_fd());
  ASSERT_TRUE(cores);
  const CoreTokens tokens = cores->tokens();
  EXPECT_EQ(tokens.count, 4U);
  tokens.find(3)->holder = 77;
  EXPECT_EQ(replay_vm_core_at(&host.cores(), 3)->holder, 77U);
  EXPECT_EQ(tokens.find(4), nullptr);
  EXPECT_EQ(tokens.find(0xffffffff), nullptr);
}

TEST(VmCores, EveryClaimOfTheHeaderIsChecked) {
  EXPECT_TRUE(are_believed([](VmHost&) {}));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().magic = REPLAY_VM_MAGIC; }));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().version = 1; }));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().cores = 0; }));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().cores = 5; }));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().cores = REPLAY_VM_MAX_CORES + 1; }));
  EXPECT_FALSE(are_believed([](VmHost& host) { host.cores().bytes += 256; }));
}

TEST(VmCores, OnlyASealedFileOfOurOwnIsMapped) {
  const UniqueFd unsealed{::memfd_create("cores", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  VmHost host{1, 20, 4};
  const replay_vm_cores header = host.cores();
  ASSERT_EQ(::pwrite(unsealed.get(), &header, sizeof header, 0), ssize_t{sizeof header});
  ASSERT_EQ(::ftruncate(unsealed.get(), core_segment_bytes(4)), 0);
  EXPECT_FALSE(Cores::map(unsealed.get()));
  ASSERT_EQ(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  EXPECT_TRUE(Cores::map(unsealed.get()));
  EXPECT_FALSE(Cores::map(-1)) << "nothing";
  if (::geteuid() == 0) {
    EXPECT_FALSE(are_believed([](VmHost& other) { ASSERT_EQ(::fchown(other.cores_fd(), 12345, 0), 0); }));
  }
}

}  // namespace
}  // namespace replay::vm
