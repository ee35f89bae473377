// Tests of `replay reproduce`: where it looks for logs, what it reports about missing ones, where it writes results.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::cli {
namespace {

namespace fs = std::filesystem;

class Reproduce : public testing::Test {
 protected:
  void SetUp() override {
    // 1,127 jobs of KTH stand in for a log of SDSC, which has more processors.
    fs::create_directory(folder_ / "logs");
    fs::copy_file(fs::path{REPLAY_SOURCE_DIR} / "traces/samples/kth-easy-1127.swf",
                  folder_ / "logs/SDSC-SP2-1998-4.2-cln.swf");
  }
  test::ShellResult reproduce(const std::string& arguments) const {
    return test::shell("env -u REPLAY_TRACES " REPLAY_PROGRAM " reproduce " + arguments, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(Reproduce, WithoutLogsNamesThemWithTheirPagesAndFails) {
  const auto result = reproduce("fcfs-malleable --traces nowhere");
  EXPECT_EQ(result.status, 1);
  for (const char* text : {"SDSC-SP2-1998-4.2-cln.swf", "CTC-SP2-1996-3.1-cln.swf", "SDSC-BLUE-2000-4.2-cln.swf",
                           "workload/l_ctc_sp2/index.html", "nowhere"})
    EXPECT_NE(result.err.find(text), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(folder_ / "reproduce-fcfs-malleable"));
}

TEST_F(Reproduce, LeavesOutAloudWhatIsMissingAndDoesTheRest) {
  const auto result = reproduce("fcfs-malleable --traces logs --jobs 1 --out one");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("left out: CTC"), std::string::npos);
  EXPECT_NE(result.out.find("Table 3"), std::string::npos);
  const std::string page = test::text_of(folder_ / "one/fcfs-malleable.html");
  EXPECT_NE(page.find("CTC-SP2-1996-3.1-cln.swf"), std::string::npos);

  ASSERT_EQ(reproduce("fcfs-malleable --traces logs --jobs 2 --out two").status, 0);
  EXPECT_EQ(page, test::text_of(folder_ / "two/fcfs-malleable.html"));
  EXPECT_EQ(test::text_of(folder_ / "one/numbers.csv"), test::text_of(folder_ / "two/numbers.csv"));
}

TEST_F(Reproduce, PrintsJsonThatHoldsTheNumbers) {
  const auto result = reproduce("fcfs-malleable --traces logs --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_FALSE(json.at("checks").empty());
  bool has_mpl = false;
  for (const auto& number : json.at("numbers"))
    if (number.at("table") == "table 3" && number.at("column") == "MPL easy")
      has_mpl = number.at("ours").get<double>() > 0;
  EXPECT_TRUE(has_mpl);
}

TEST_F(Reproduce, DoesNotWriteIntoWhatIsThereUnlessTold) {
  fs::create_directory(folder_ / "full");
  test::write_text(folder_ / "full/kept.txt", "kept");
  const auto refused = reproduce("fcfs-malleable --traces logs --out full");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("--force"), std::string::npos);
  EXPECT_EQ(reproduce("fcfs-malleable --traces logs --out full --force").status, 0);
  EXPECT_EQ(test::text_of(folder_ / "full/kept.txt"), "kept");
  EXPECT_TRUE(fs::exists(folder_ / "full/numbers.csv"));
}

TEST_F(Reproduce, ScojoPNeedsNoLogs) {
  const auto result = reproduce("scojo-p --quick");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("left out"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("not the whole study: --quick: one seed, 2000 jobs"), std::string::npos);
  EXPECT_NE(test::text_of(folder_ / "reproduce-scojo-p/scojo-p.html").find("<svg"), std::string::npos);
}

TEST_F(Reproduce, GLomarcTsNeedsNoLogs) {
  const auto result = reproduce("g-lomarc-ts --quick");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err.find("left out"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("not the whole study: --quick: one seed, 2000 jobs"), std::string::npos);
  EXPECT_NE(test::text_of(folder_ / "reproduce-g-lomarc-ts/g-lomarc-ts.html").find("<svg"), std::string::npos);
}

TEST_F(Reproduce, SaysWhichPapersThereAre) {
  EXPECT_NE(reproduce("slak").err.find("replay reproduce: expected a command, found 'slak'; did you mean 'slack'?"),
            std::string::npos);
  const std::string nothing = reproduce("").err;
  EXPECT_NE(nothing.find("slack, dynp, fcfs-malleable, scojo-p, g-lomarc-ts"), std::string::npos) << nothing;
}

TEST_F(Reproduce, RefusesWhatMakesNoSense) {
  for (const char* arguments :
       {"", "easy", "dynp --logs NASA", "dynp --factors 0", "dynp --factors 1,1", "dynp --sets 0", "slack --jobs 0",
        "slack --sets 3", "dynp --logs KTH,KTH", "scojo-p --seeds 0", "scojo-p --traces logs", "g-lomarc-ts --seeds 0",
        "g-lomarc-ts --traces logs"}) {
    const auto result = reproduce(arguments);
    EXPECT_EQ(result.status, 2) << arguments << ": " << result.err;
    EXPECT_FALSE(result.err.empty()) << arguments;
  }
}

}  // namespace
}  // namespace replay::cli
