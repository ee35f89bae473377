// Tests of slowdowns against Table 4 of the G-LOMARC-TS paper, and of formula 7 on its three cases.
#include "traces/declare/contention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "scheduler/base/error.hpp"
#include "scheduler/model/contention.hpp"
#include "tests/unit/traces/models/reference_csv.hpp"

namespace replay {
namespace {

std::array<int, 9> published(const std::string& quantity) {
  std::array<int, 9> percent{};
  std::size_t bins = 0;
  for (const auto& row : test::reference_rows("glomarc_tables.csv")) {
    if (row.at(0) != "table4" || row.at(1) != quantity + " percent") continue;
    const auto bin = static_cast<std::size_t>(std::lround((std::stod(row.at(2)) - 0.9) * 10));
    percent.at(bin) = std::stoi(row.at(4));
    ++bins;
  }
  EXPECT_EQ(bins, 9U) << quantity;
  return percent;
}

double published_parameter(const std::string& name) {
  for (const auto& row : test::reference_rows("glomarc_tables.csv"))
    if (row.at(0) == "table6" && row.at(1) == name) return std::stod(row.at(4));
  ADD_FAILURE() << name;
  return 0;
}

TEST(Table4, IsTheOneInThePaper) {
  EXPECT_EQ(kSameCpuSlowdowns.percent, published("SL_scr"));
  EXPECT_EQ(kSameNodeSlowdowns.percent, published("SL_sno"));
  EXPECT_EQ(kCoSchedulingSlowdowns.percent, published("SL_cos"));
  EXPECT_EQ(kMaxSlowdown, published_parameter("MAX_SL"));
  EXPECT_EQ(kSelfSlowdownOfTwo, published_parameter("SELF_SL_2"));
}

TEST(Contention, JobsDrawTheirSlowdownsFromTable4) {
  constexpr int kJobs = 100'000;
  std::array<std::array<double, 9>, 3> percent{};
  const auto count = [](std::array<double, 9>& in, double slowdown) {
    in.at(static_cast<std::size_t>((slowdown - 0.9) * 10 + 1e-9)) += 100.0 / kJobs;
  };
  std::uint64_t before = 0;
  for (std::int64_t job = 1; job <= kJobs; ++job) {
    JobTraits traits;
    declare_contention(traits, job, Seed{1});
    count(percent[0], traits.same_cpu_slowdown.value());
    count(percent[1], traits.same_node_slowdown.value());
    count(percent[2], co_scheduling_slowdown(before, traits.pair_key.value()));
    before = *traits.pair_key;
  }
  for (std::size_t bin = 0; bin < 9; ++bin) {
    EXPECT_NEAR(percent[0][bin], kSameCpuSlowdowns.percent[bin], 0.5) << bin;
    EXPECT_NEAR(percent[1][bin], kSameNodeSlowdowns.percent[bin], 0.5) << bin;
    EXPECT_NEAR(percent[2][bin], kCoSchedulingSlowdowns.percent[bin], 0.5) << bin;
  }
}

constexpr SizeRule kPaper{.cores = 4};
constexpr SizeRule kLetter{.cores = 4, .rounding = SizeRule::Rounding::kInteger};

TEST(SizeRule, HasTheThreeCasesOfFormula7) {
  EXPECT_EQ(size_on_nodes(1, 1.0, 1.0, kLetter, 128), 1) << "serial";
  EXPECT_EQ(size_on_nodes(10, 1.2, 1.2, kLetter, 128), 10) << "sno > 1.12 and scr * sno > 1.25";
  EXPECT_EQ(size_on_nodes(10, 1.2, 1.1, kLetter, 128), 18) << "2 * 10 / 1.1 = 18.18";
  EXPECT_EQ(size_on_nodes(10, 1.0, 1.1, kLetter, 128), 36) << "4 * 10 / 1.1 = 36.36";
  EXPECT_EQ(size_on_nodes(10, 1.05, 0.95, kLetter, 128), 40) << "4 * 10 / 0.9975 = 40.1";
  EXPECT_EQ(size_on_nodes(10, 1.25, 1.0, kLetter, 128), 32) << "a product of 1.25 is not more than 1.25";
  EXPECT_EQ(size_on_nodes(10, 1.0, 1.25, kLetter, 128), 32) << "whatever sno is";
  EXPECT_EQ(size_on_nodes(10, 1.2, 1.12, kLetter, 128), 18) << "sno of 1.12 is not more than 1.12";
}

TEST(SizeRule, PowersOfTwoStayPowersOfTwoUnlessTheLetterIsWanted) {
  EXPECT_EQ(size_on_nodes(16, 1.2, 1.1, kPaper, 128), 32) << "29.1";
  EXPECT_EQ(size_on_nodes(16, 1.2, 1.1, kLetter, 128), 29);
  EXPECT_EQ(size_on_nodes(16, 1.25, 1.0, kPaper, 128), 64) << "51.2 is nearer to 64, by ratio";
  EXPECT_EQ(size_on_nodes(10, 1.2, 1.1, kPaper, 128), 18) << "10 is no power of two";
  for (const double sno : {0.9, 0.95, 1.0, 1.1})
    for (const double scr : {1.0, 1.1, 1.2, 1.5})
      for (ProcessCount old = 2; old <= 128; old *= 2) {
        const ProcessCount size = size_on_nodes(old, scr, sno, kPaper, 128);
        EXPECT_EQ(size & (size - 1), 0) << old << " " << scr << " " << sno;
      }
}

TEST(SizeRule, NoJobGetsMoreThanItsProcessesPerNodeOnAllNodes) {
  EXPECT_EQ(size_on_nodes(128, 1.0, 0.9, kLetter, 128), 512) << "4 * 128 / 0.9 = 569";
  EXPECT_EQ(size_on_nodes(128, 1.5, 0.95, kLetter, 128), 256) << "2 * 128 / 0.95 = 269";
  EXPECT_EQ(size_on_nodes(700, 1.0, 1.0, kLetter, 128), 700) << "wider than the machine before";
}

TEST(SizeRule, ProcessesPerNodeAreThoseOfFormula8) {
  EXPECT_EQ(processes_per_node(1, 1.0, 1.0, kPaper), 1);
  EXPECT_EQ(processes_per_node(2, 1.0, 1.0, kPaper), 4);
  EXPECT_EQ(processes_per_node(2, 1.5, 1.0, kPaper), 2);
  EXPECT_EQ(processes_per_node(2, 1.5, 1.2, kPaper), 1);
  EXPECT_EQ(processes_per_node(2, 1.0, 1.0, {.cores = 16}), 16);
}

TEST(SizeRule, IsReadBackFromItsText) {
  EXPECT_EQ(to_text(parse_size_rule("glomarc:cores=4")), "glomarc:cores=4:round=power-of-two");
  EXPECT_EQ(to_text(parse_size_rule("glomarc:cores=8:round=integer")), "glomarc:cores=8:round=integer");
  for (const char* text : {"", "glomarc", "glomarc:", "glomarc:cores=", "glomarc:cores=3", "glomarc:cores=2",
                           "glomarc:cores=0", "glomarc:cores=4.5", "glomarc:cores=5000", "glomarc:cores=4:round=up",
                           "glomarc:cores=4:round=integer:x", "lomarc:cores=4", "glomarc:nodes=4"})
    EXPECT_THROW((void)parse_size_rule(text), UsageError) << text;
}

}  // namespace
}  // namespace replay
