#include "scheduler/model/count.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {
namespace {

template <class A, class B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Subtracts = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept HasRemainder = requires(A a, B b) {
  a % b;
};
template <class A, class B>
concept GoesUpBy = requires(A a, B b) {
  a += b;
};
template <class A, class B>
concept GoesDownBy = requires(A a, B b) {
  a -= b;
};
template <class A, class B>
concept Equals = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept IsOrdered = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Chooses = requires(bool first, A a, B b) {
  first ? a : b;
};

template <class A, class B>
constexpr bool kMixes = std::is_convertible_v<B, A> || std::is_constructible_v<A, B> || std::is_assignable_v<A&, B> ||
                        Adds<A, B> || Subtracts<A, B> || HasRemainder<A, B> || GoesUpBy<A, B> || GoesDownBy<A, B> ||
                        Equals<A, B> || IsOrdered<A, B> || Chooses<A, B>;
template <class A, class B>
constexpr bool kGoesWith =
    std::is_convertible_v<B, A>&& std::is_constructible_v<A, B>&& std::is_assignable_v<A&, B>&& Adds<A, B>&&
        Subtracts<A, B>&& HasRemainder<A, B>&& GoesUpBy<A, B>&& GoesDownBy<A, B>&& Equals<A, B>&& IsOrdered<A, B>;

static_assert(!kMixes<CoreCount, ProcessCount> && !kMixes<ProcessCount, CoreCount>);
static_assert(kGoesWith<CoreCount, CoreCount> && kGoesWith<CoreCount, int> && kGoesWith<ProcessCount, int>);

static_assert(sizeof(CoreCount) == sizeof(std::int32_t) && std::is_trivially_copyable_v<CoreCount>);
static_assert(std::is_same_v<decltype(CoreCount{} + 1), CoreCount> &&
              std::is_same_v<decltype(1 - CoreCount{}), CoreCount>);
static_assert(std::is_same_v<decltype(-CoreCount{}), CoreCount> &&
              std::is_same_v<decltype(2 * CoreCount{}), CoreCount>);
static_assert(std::is_same_v<decltype(CoreCount{} / 2), CoreCount>);
static_assert(std::is_same_v<decltype(CoreCount{6} / CoreCount{2}), std::int32_t>);
static_assert(std::is_same_v<decltype(ProcessCount{6} / CoreCount{2}), std::int32_t>);
static_assert(std::is_same_v<decltype(CoreCount{} * std::int64_t{2}), std::int64_t>);
static_assert(std::is_same_v<decltype(CoreCount{} * 0.5), double>);

TEST(Count, CountsAsANumberDoes) {
  CoreCount cores = 7;
  EXPECT_EQ(cores++, 7);
  EXPECT_EQ(--cores, 7);
  cores += 3, cores -= CoreCount{2}, cores *= 4, cores /= 3;
  EXPECT_EQ(cores, 10);
  EXPECT_EQ(cores % 4, 2);
  EXPECT_EQ(12 - cores, 2);
  EXPECT_EQ(-cores, -10);
  EXPECT_LT(cores, CoreCount{11});
}

TEST(Count, IsWrittenAndReadAsANumber) {
  EXPECT_EQ(fmt::format("{:>3}", CoreCount{12}), " 12");
  EXPECT_EQ(parse_number<CoreCount>("12"), CoreCount{12});
  EXPECT_EQ(parse_number<CoreCount>("12 "), std::nullopt);
  EXPECT_EQ(parse_number<CoreCount>("2147483648"), std::nullopt);
  EXPECT_EQ(std::numeric_limits<CoreCount>::max(), 2147483647);
}

TEST(Count, OfProcessesAndOfCoresChangeIntoEachOtherForAJob) {
  const Job job{.processes = 6};
  EXPECT_EQ(cores_needed(job), CoreCount{6});
  EXPECT_EQ(processes_on(job, cores_needed(job, 4)), ProcessCount{4});
}

}  // namespace
}  // namespace replay
