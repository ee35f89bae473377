#include "vmlib/cores.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/support/vm_host.hpp"

namespace replay::vm {
namespace {

using replay::test::VmHost;

/// Whether a rank believes a segment of four cores after `spoil` has been at it.
bool are_believed(const std::function<void(VmHost&)>& spoil) {
  VmHost host{1, 20, 4};
  spoil(host);
  return Cores::open(host.cores_path().c_str()).has_value();
}

TEST(VmCores, AGoodSegmentIsMappedAndSharedBothWays) {
  VmHost host{1, 20, 4};
  const auto cores = Cores::open(host.cores_path().c_str());
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
  EXPECT_FALSE(are_believed([](VmHost& host) { std::filesystem::resize_file(host.cores_path(), 64); }));
  EXPECT_FALSE(are_believed([](VmHost& host) { std::filesystem::resize_file(host.cores_path(), 0); }));
}

TEST(VmCores, OnlyARegularFileOfOurOwnIsOpened) {
  EXPECT_FALSE(are_believed([](VmHost& host) {
    std::filesystem::rename(host.cores_path(), host.cores_path() + "2");
    std::filesystem::create_symlink(host.cores_path() + "2", host.cores_path());
  })) << "a symbolic link";
  EXPECT_FALSE(are_believed([](VmHost& host) {
    std::filesystem::remove(host.cores_path());
    ASSERT_EQ(::mkfifo(host.cores_path().c_str(), 0600), 0);
  })) << "a pipe";
  EXPECT_FALSE(are_believed([](VmHost& host) { std::filesystem::remove(host.cores_path()); })) << "nothing";
  if (::geteuid() == 0) {
    EXPECT_FALSE(are_believed([](VmHost& host) { ASSERT_EQ(::chown(host.cores_path().c_str(), 12345, 0), 0); }));
  }
}

}  // namespace
}  // namespace replay::vm
