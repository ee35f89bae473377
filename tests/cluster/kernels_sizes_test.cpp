// Tests that every kernel of the NAS-like suite gets its published numbers on any number of processes, odd counts and
// uneven blocks included: class S on 1 to 6, W too (lu, which takes longest, on 2 and 5), class A on 2.
// REPLAY_ORACLE_RUNS (`./dev test --all`): W of lu on 1 to 6 too, A on 1, 2 and 4 but of ep and lu.
// They run under vmlib, because with stock MPICH a rank that shares its core waits a scheduler tick for each message.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

std::vector<int> numbers_of(std::string_view kernel, std::string_view size) {
  const bool is_long = std::getenv("REPLAY_ORACLE_RUNS") != nullptr;
  if (size == "W" && kernel == "lu" && !is_long) return {2, 5};
  if (size != "A") return {1, 2, 3, 4, 5, 6};
  if (kernel == "ep" || kernel == "lu" || !is_long) return {2};
  return {1, 2, 4};
}

class KernelsSizes : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  }
};

TEST_P(KernelsSizes, VerifiesOnEachNumberOfProcesses) {
  const auto [kernel, size] = GetParam();
  const std::vector<int> numbers = numbers_of(kernel, size);
  const TemporaryFolder folder;
  for (const int ranks : numbers) {
    const ShellResult result =
        shell(fmt::format("{} run -n {} {} --class {}", REPLAY_PROGRAM, ranks, kernel, size), folder.path());
    EXPECT_EQ(result.status, 0) << ranks << " processes\n" << result.out << result.err;
    EXPECT_NE(result.out.find(fmt::format("\nprocesses          {}\n", ranks)), std::string::npos) << result.out;
    EXPECT_TRUE(result.out.ends_with("\nVERIFICATION SUCCESSFUL\n")) << ranks << " processes\n" << result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Nas, KernelsSizes,
                         testing::Combine(testing::Values("ep", "is", "cg", "mg", "ft", "lu"),
                                          testing::Values("S", "W", "A")),
                         [](const auto& one) {
                           return fmt::format("{}_{}", std::get<0>(one.param), std::get<1>(one.param));
                         });

}  // namespace
}  // namespace replay::test
