// Tests of the fuzz targets without a fuzzer: each target gets its stored seeds, also cut off and with bytes changed. A
// target that finds a broken rule aborts the test.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/made_seeds.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/shell.hpp"

namespace replay::fuzz {
namespace {

namespace fs = std::filesystem;
const fs::path kSeeds = fs::path{REPLAY_SOURCE_DIR} / "tests/fuzz/seeds";

using Target = void (*)(std::string_view);
const std::map<std::string, Target> kTargets{{"swf", swf},
                                             {"job_table", job_table},
                                             {"node_table", node_table},
                                             {"sacct", sacct},
                                             {"pbs", pbs},
                                             {"lsf", lsf},
                                             {"trace_csv", trace_csv},
                                             {"event_log", event_log},
                                             {"wire", wire},
                                             {"segment", segment},
                                             {"handshake", handshake},
                                             {"hosts", hosts},
                                             {"proxies", proxies},
                                             {"http_request", http_request},
                                             {"json", json},
                                             {"text", text},
                                             {"sealed", sealed},
                                             {"executor_input", executor_input}};

std::vector<std::string> seeds_of(const std::string& target) {
  std::vector<std::string> seeds;
  for (const auto& entry : fs::directory_iterator{kSeeds / target}) seeds.push_back(test::text_of(entry.path()));
  return seeds;
}

class FuzzTarget : public testing::TestWithParam<std::string> {
 protected:
  const Target target_ = kTargets.at(GetParam());
  const std::vector<std::string> seeds_ = seeds_of(GetParam());
};

TEST_P(FuzzTarget, TakesItsSeeds) {
  ASSERT_GE(seeds_.size(), 3U);
  for (const std::string& seed : seeds_) target_(seed);
}

TEST_P(FuzzTarget, TakesItsSeedsCutOffAnywhere) {
  for (const std::string& seed : seeds_)
    for (std::size_t length = 0; length < seed.size(); length += 1 + seed.size() / 100)
      target_(std::string_view{seed}.substr(0, length));
}

TEST_P(FuzzTarget, TakesItsSeedsWithBytesChanged) {
  std::mt19937_64 chance{42};
  for (const std::string& seed : seeds_)
    for (int i = 0; i < 100 && !seed.empty(); ++i) {
      std::string bad = seed;
      for (int hits = 0; hits < 3; ++hits) bad[chance() % bad.size()] = static_cast<char>(chance());
      target_(bad);
    }
}

std::vector<std::string> all_targets() {
  std::vector<std::string> names;
  for (const auto& [name, target] : kTargets) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTarget, testing::ValuesIn(all_targets()),
                         [](const auto& parameter) { return parameter.param; });

TEST(FuzzSeeds, AreWhatTheEncodersMakeToday) {
  for (const Seed& seed : made_seeds())
    EXPECT_TRUE(test::text_of(kSeeds / seed.file) == seed.bytes)
        << seed.file << " is of another version: run tests/fuzz/make_seeds " << kSeeds
        << " (in the build tree), and look at the difference";
}

}  // namespace
}  // namespace replay::fuzz
