// Tests of `replay report` as a user gives it.
#include <filesystem>

#include "tests/unit/cli/comparing_fixture.hpp"
#include "tests/unit/report/page/page_reader.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

class Report : public Comparing {
 protected:
  // In the folder.
  [[nodiscard]] std::size_t files(const std::string& name) const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / name)) ++count;
    return count;
  }
};

TEST_F(Report, PrintsThePathOfThePageBesideTheRun) {
  simulate_both();
  const ShellResult made = replay("report runs/easy");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "runs/easy/report.html\n");
  EXPECT_EQ(made.err, "");
  const PageReader page(text_of(folder_ / "runs/easy/report.html"));
  EXPECT_EQ(page.json().at("title"), "easy");
  EXPECT_EQ(page.run().at("jobs_in_all"), 5);
}

TEST_F(Report, OfAFolderOfPoliciesComparesThem) {
  simulate_both();
  ASSERT_EQ(replay("report runs").out, "runs/report.html\n");
  const PageReader page(text_of(folder_ / "runs/report.html"));
  EXPECT_EQ(page.json().at("title"), "easy, fcfs");
  ASSERT_EQ(page.json().at("differences").size(), 1u);
  const auto& first = page.json().at("differences").at(0).at("first");
  EXPECT_EQ(first.at("at"), 2) << "EASY starts job 3 at 2, FCFS does not";
}

TEST_F(Report, GoesToStandardOutputWithNothingElse) {
  simulate_both();
  const ShellResult made = replay("report runs/easy/events.log runs/fcfs --title 'A & B' -o -");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_TRUE(made.out.starts_with("<!DOCTYPE html>"));
  const PageReader page(made.out);
  EXPECT_EQ(page.json().at("title"), "A & B");
  EXPECT_NE(made.out.find("<title>A &amp; B</title>"), std::string::npos);
}

TEST_F(Report, IsTheSameForTheSameRun) {
  simulate_both();
  EXPECT_EQ(replay("report runs/easy -o -").out, replay("report runs/easy -o -").out);
}

TEST_F(Report, BesideARunGoesWithItWhenTheRunIsReplaced) {
  simulate_both();
  ASSERT_EQ(replay("report runs/easy").status, 0);
  ASSERT_EQ(replay("report runs").status, 0);
  expect_says("simulate --trace t.swf --policy easy,fcfs --out runs --force", 0, {});
  EXPECT_FALSE(fs::exists(folder_ / "runs/report.html"));
  EXPECT_FALSE(fs::exists(folder_ / "runs/easy/report.html"));
}

TEST_F(Report, WithoutARunIsNotReplaced) {
  fs::create_directory(folder_ / "pages");
  write_text(folder_ / "pages/report.html", "mine");
  expect_says("simulate --trace t.swf --policy easy --out pages --force", 1, {"pages/report.html"});
  EXPECT_EQ(text_of(folder_ / "pages/report.html"), "mine");
}

TEST_F(Report, WrongInputIsNamed) {
  simulate_both();
  write_text(folder_ / "bad.log", "#replay-events 1\n#machine flat:4\n0 finish job=1 outcome=completed\n");
  expect_says("report", 2, {"RUN"});
  expect_says("report nothing", 1, {"nothing", "expected a run's folder or its events.log"});
  expect_says("report t.swf", 1, {"t.swf", "no job that ran has a wait"});
  write_text(folder_ / "notes.txt", "what was done\n");
  expect_says("report notes.txt", 1, {"notes.txt:1", "an event log"});
  expect_says("report bad.log", 1, {"bad.log:3", "job 1"});
  expect_says("report runs/easy -o nowhere/page.html", 1, {"nowhere/page.html", "No such file"});
  expect_says("report runs/easy -o runs", 1, {"runs", "directory"});
  expect_says("report runs/easy -o /dev/full", 1, {"/dev/full", "No space left"});
}

TEST_F(Report, ThatFailsLeavesNoFile) {
  simulate_both();
  const std::size_t before = files("runs/easy");
  fs::resize_file(folder_ / "runs/easy/events.log", 5);
  EXPECT_EQ(replay("report runs/easy").status, 1);
  EXPECT_EQ(files("runs/easy"), before);
}

TEST_F(Report, OfARunThatWasCutOffIsMadeAndSaysSo) {
  simulate_both();
  const std::string log = text_of(folder_ / "runs/easy/events.log");
  write_text(folder_ / "runs/easy/events.log", log.substr(0, log.rfind(" outcome=")));
  EXPECT_EQ(replay("report runs/easy").status, 0);
  const PageReader page(text_of(folder_ / "runs/easy/report.html"));
  EXPECT_EQ(page.run().at("complete"), false);
  EXPECT_EQ(page.run().at("warnings").at(0).at("text"), "the event log was cut off; the page shows what there is");
}

}  // namespace
}  // namespace replay::test
