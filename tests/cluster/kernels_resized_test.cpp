// Tests that every kernel of the NAS-like suite gets its published numbers while it is resized: shrunk to one core and
// expanded to two again, three times, under vmlib; with two ranks, and with three, of which two share a core even when
// expanded. The speed of a kernel depends on the machine, so it is repeated often enough to outlast the six changes.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {
namespace {

constexpr const char* kKernels[] = {"ep", "is", "cg", "mg", "ft", "lu"};
constexpr const char* kChanges =
    "--shrink-at 50ms --expand-at 100ms --shrink-at 150ms --expand-at 200ms --shrink-at 250ms --expand-at 300ms";
constexpr std::size_t kChangeCount = 6;
constexpr int kMostRepeats = 1'000'000;  // the limit of the programs

/// The number after `name` in a kernel's output.
double value_of(const std::string& name, const std::string& output) {
  const std::size_t row = output.find("\n" + name + " ");
  return row == std::string::npos ? 0 : std::atof(output.c_str() + row + 1 + name.size());
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    const auto [cores, missing] = two_cores();
    if (!missing.empty()) GTEST_SKIP() << missing;
    cores_ = cores;
  }

  /// Runs `replay run` with `words` after its options; the report is in report().
  ShellResult run(const std::string& words) const {
    return shell(fmt::format("{} run --cores {} --report report.json --json {}", REPLAY_PROGRAM, cores_, words),
                 folder_.path());
  }
  /// Roughly the number of repeats that takes half a second, which outlasts the changes.
  [[nodiscard]] int repeats_for(const std::string& kernel, int ranks) const {
    const ShellResult once = run(fmt::format("-n {} {} --class S", ranks, kernel));
    const double seconds = value_of("time_per_repeat_s", once.out);
    return std::max(1, static_cast<int>(0.5 / std::max(seconds, 1e-6)));
  }
  [[nodiscard]] nlohmann::json report() const { return nlohmann::json::parse(text_of(folder_ / "report.json")); }

  TemporaryFolder folder_;
  std::string cores_;
};

class KernelsResized : public Kernels, public testing::WithParamInterface<std::tuple<const char*, int>> {};

TEST_P(KernelsResized, VerifiesWhileItIsShrunkAndExpandedThreeTimes) {
  const auto [kernel, ranks] = GetParam();
  nlohmann::json report;
  for (int repeats = repeats_for(kernel, ranks); repeats <= kMostRepeats; repeats *= 2) {
    const ShellResult result = run(fmt::format("-n {} {} {} --class S --repeat {}", ranks, kChanges, kernel, repeats));
    ASSERT_EQ(result.status, 0) << result.out << result.err;
    ASSERT_TRUE(result.out.ends_with("\nVERIFICATION SUCCESSFUL\n")) << result.out;
    report = this->report();
    if (report["changes"].size() == kChangeCount) break;
  }
  EXPECT_EQ(report["verification"], "passed");
  EXPECT_EQ(report["malleable"], true);
  ASSERT_EQ(report["changes"].size(), kChangeCount) << report;
  for (const auto& change : report["changes"]) EXPECT_EQ(change["refused"], "") << change;
  const nlohmann::json& phases = report["phases"];
  ASSERT_EQ(phases.size(), kChangeCount + 1) << phases;
  EXPECT_EQ(phases[0]["phase"], ranks == 2 ? "expanded on 2 cores" : "on 2 cores, up to 2 ranks on each") << phases;
  EXPECT_EQ(phases[1]["phase"], fmt::format("shrunk to 1 core, {} ranks on it", ranks));
  if (kernel == std::string{"ep"}) return;  // it computes longer than a phase and then never waits
  std::uint64_t handoffs = 0;
  for (const std::size_t shrunk : {1U, 3U, 5U}) handoffs += phases[shrunk]["handoffs"].get<std::uint64_t>();
  EXPECT_GT(handoffs, 0) << "ranks on one core never gave it to each other: " << phases;
}

INSTANTIATE_TEST_SUITE_P(Nas, KernelsResized, testing::Combine(testing::ValuesIn(kKernels), testing::Values(2, 3)),
                         [](const auto& one) {
                           return fmt::format("{}_on_{}_ranks", std::get<0>(one.param), std::get<1>(one.param));
                         });

/// 10 inner points along j for 7 ranks: some have one row only, so the stencil reaches beyond the direct neighbour.
TEST_F(Kernels, LuGivesRanksOfOneRowWhatLiesBehindTheirNeighbours) {
  const ShellResult result = run("-n 7 lu --class S");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("\ngrid_of_processes  1 x 7\n"), std::string::npos) << result.out;
  EXPECT_EQ(report()["verification"], "passed");
}

}  // namespace
}  // namespace replay::test
