#include "vmlib/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "tests/support/vm_host.hpp"
#include "vmlib/unique_fd.hpp"

namespace replay::vm {
namespace {

using replay::test::VmHost;

std::optional<Segment> map_as_rank(const VmHost& host) {
  return Segment::map(host.segment_fd(), *parse_key(host.key_text().c_str()));
}

/// Whether a rank accepts a segment of two slots that `spoil` has changed.
bool is_believed(const std::function<void(VmHost&)>& spoil) {
  VmHost host{2};
  spoil(host);
  return map_as_rank(host).has_value();
}

TEST(VmSegment, AGoodOneIsMappedAndSharedBothWays) {
  VmHost host{2, 7};
  const auto segment = map_as_rank(host);
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

/// Whether a rank accepts a file of `size` bytes that begins like a correct segment of two slots, with these seals.
bool is_copy_believed(off_t size, int seals) {
  const VmHost host{2};
  std::vector<char> bytes(segment_bytes(2));
  const UniqueFd copy{::memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  EXPECT_EQ(::pread(host.segment_fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(::pwrite(copy.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(::ftruncate(copy.get(), size), 0);
  EXPECT_EQ(::fcntl(copy.get(), F_ADD_SEALS, seals), 0);
  return Segment::map(copy.get(), *parse_key(host.key_text().c_str())).has_value();
}

constexpr int kFixedSize = F_SEAL_SHRINK | F_SEAL_GROW;

TEST(VmSegment, TheFileMustBeAsLongAsTheHeaderClaims) {
  EXPECT_TRUE(is_copy_believed(segment_bytes(2), kFixedSize));
  EXPECT_FALSE(is_copy_believed(0, kFixedSize));
  EXPECT_FALSE(is_copy_believed(64, kFixedSize));
  EXPECT_FALSE(is_copy_believed(4096, kFixedSize));
}

TEST(VmSegment, AFileWhoseSizeCanStillChangeIsNotBelieved) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW}) EXPECT_FALSE(is_copy_believed(segment_bytes(2), seals));
}

TEST(VmSegment, OnlyARegularFileIsMapped) {
  const VmHost host{2};
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out{ends[0]}, in{ends[1]};
  for (const int descriptor : {out.get(), in.get(), -1})
    EXPECT_FALSE(Segment::map(descriptor, *parse_key(host.key_text().c_str())));
}

TEST(VmSegment, AnotherUsersFileIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_FALSE(is_believed([](VmHost& host) { ASSERT_EQ(::fchown(host.segment_fd(), 12345, 0), 0); }));
}

TEST(VmSegment, AbsurdPatienceIsCapped) {
  VmHost host{1, 0xffffffff};
  EXPECT_EQ(map_as_rank(host)->facts().polls_before_yield, Segment::kMostPolls);
}

TEST(VmSegment, SaysWhetherTheCoresAreEmulated) {
  VmHost host{1};
  EXPECT_FALSE(map_as_rank(host)->facts().is_emulated);
  host.emulate(5000);
  host.segment().end_cost_ns = 77;
  const JobFacts facts = map_as_rank(host)->facts();
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
  EXPECT_EQ(map_as_rank(host)->facts().quantum_ns, Segment::kLongestQuantumNs);
}

TEST(VmSegment, ManyMappingsLeakNothing) {
  const VmHost host{4};
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(map_as_rank(host));
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace replay::vm
