#include "vmlib/segment.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/support/vm_host.hpp"

namespace replay::vm {
namespace {

using replay::test::VmHost;

std::optional<Segment> open_as_rank(const VmHost& host) {
  return Segment::open(host.segment_path().c_str(), *parse_key(host.key_text().c_str()));
}

/// Whether a rank believes a segment of two slots after `spoil` has been at it.
bool is_believed(const std::function<void(VmHost&)>& spoil) {
  VmHost host{2};
  spoil(host);
  return open_as_rank(host).has_value();
}

TEST(VmSegment, AGoodOneIsMappedAndSharedBothWays) {
  VmHost host{2, 7};
  const auto segment = open_as_rank(host);
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->slots(), 2U);
  EXPECT_EQ(segment->facts().polls_before_yield, 7U);
  host.share(1, true, 5);
  EXPECT_EQ(segment->slot(1)->orders.shared, 1U);
  EXPECT_EQ(replay_vm_core_of(segment->slot(1)->orders.place), 5U);
  segment->slot(1)->report.handoffs = 9;
  EXPECT_EQ(host.report(1).handoffs, 9U);
  EXPECT_EQ(host.report(0).handoffs, 0U);
}

TEST(VmSegment, EveryClaimOfTheHeaderIsChecked) {
  EXPECT_TRUE(is_believed([](VmHost&) {}));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().magic ^= 1; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().version = REPLAY_VM_VERSION + 1; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().key[15] ^= 1; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().slots = 0; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().slots = 3; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().slots = 0xffffffff; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().bytes -= 1; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().polls_before_yield = 0; }));
}

TEST(VmSegment, TheFileMustBeAsLongAsTheHeaderClaims) {
  EXPECT_FALSE(is_believed([](VmHost& host) { std::filesystem::resize_file(host.segment_path(), 0); }));
  EXPECT_FALSE(is_believed([](VmHost& host) { std::filesystem::resize_file(host.segment_path(), 4096); }));
}

TEST(VmSegment, OnlyARegularFileIsOpened) {
  EXPECT_FALSE(is_believed([](VmHost& host) {
    std::filesystem::rename(host.segment_path(), host.segment_path() + "2");
    std::filesystem::create_symlink(host.segment_path() + "2", host.segment_path());
  })) << "a symbolic link";
  EXPECT_FALSE(is_believed([](VmHost& host) {
    std::filesystem::remove(host.segment_path());
    ASSERT_EQ(::mkfifo(host.segment_path().c_str(), 0600), 0);
  })) << "a pipe";
  EXPECT_FALSE(is_believed([](VmHost& host) { std::filesystem::remove(host.segment_path()); })) << "nothing";
}

TEST(VmSegment, AnotherUsersFileIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_FALSE(is_believed([](VmHost& host) { ASSERT_EQ(::chown(host.segment_path().c_str(), 12345, 0), 0); }));
}

TEST(VmSegment, AbsurdPatienceIsCapped) {
  VmHost host{1, 0xffffffff};
  EXPECT_EQ(open_as_rank(host)->facts().polls_before_yield, Segment::kMostPolls);
}

TEST(VmSegment, SaysWhetherTheCoresAreEmulated) {
  VmHost host{1};
  EXPECT_FALSE(open_as_rank(host)->facts().is_emulated);
  host.emulate(5000);
  host.segment().end_cost_ns = 77;
  const JobFacts facts = open_as_rank(host)->facts();
  EXPECT_TRUE(facts.is_emulated);
  EXPECT_EQ(facts.quantum_ns, 5'000'000U);
  EXPECT_EQ(facts.start_ns, host.segment().start_ns);
  EXPECT_EQ(facts.end_cost_ns, 77U);
}

TEST(VmSegment, AnEmulationThatMakesNoSenseIsNotBelieved) {
  EXPECT_FALSE(is_believed([](VmHost& host) { host.segment().emulated = 2; }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.emulate(0); }));
  EXPECT_FALSE(is_believed([](VmHost& host) { host.emulate(99); }));
  EXPECT_TRUE(is_believed([](VmHost& host) { host.emulate(100); }));
  VmHost host{1};
  host.emulate(0xffffffff);
  EXPECT_EQ(open_as_rank(host)->facts().quantum_ns, Segment::kLongestQuantumNs);
}

TEST(VmSegment, ManyOpeningsLeakNothing) {
  const VmHost host{4};
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(open_as_rank(host));
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace replay::vm
