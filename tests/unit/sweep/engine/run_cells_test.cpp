// Batches of cells: what comes back, which failure is told, and what a stop leaves.
#include "scheduler/sweep/engine/run_cells.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/sweep/engine/cells.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

using namespace replay::sweep;
namespace fs = std::filesystem;

class Batches : public testing::Test {
 protected:
  [[nodiscard]] Batch batch(std::size_t count, const std::function<std::string(std::size_t)>& work, int jobs = 2) {
    return {.count = count,
            .compute =
                [this, work](std::size_t cell, const fs::path& /*scratch*/) {
                  std::ofstream{folder_ / "begun", std::ios::app} << cell;
                  return work(cell);
                },
            .name = [](std::size_t cell) { return fmt::format("cell {}", cell); },
            .jobs = jobs};
  }
  template <class Error>
  [[nodiscard]] std::string complaint(const Batch& batch) {
    try {
      (void)run_batch(batch, [](std::string_view) {});
    } catch (const Error& error) {
      return error.what();
    }
    return "no such error";
  }
  [[nodiscard]] std::string begun() const { return text_of(folder_ / "begun"); }
  TemporaryFolder folder_;
};

TEST_F(Batches, ResultsStandInTheOrderOfTheCells) {
  const auto late_first = [](std::size_t cell) {
    if (cell == 0) ::usleep(200'000);
    return fmt::format("result\n{}", cell * 7);
  };
  const std::vector<std::string> results = run_batch(batch(3, late_first), [](std::string_view) {});
  EXPECT_EQ(results, (std::vector<std::string>{"result\n0", "result\n7", "result\n14"}));
}

TEST_F(Batches, OfCellsThatFailTheFirstIsToldAndNoneIsBegunAfterwards) {
  const auto fail = [](std::size_t cell) -> std::string {
    if (cell == 1) ::usleep(300'000);
    if (cell > 0) throw std::runtime_error(fmt::format("of {}\nin two lines", cell));
    return "fine";
  };
  EXPECT_EQ(complaint<InputError>(batch(100, fail)), "of 1\nin two lines");
  EXPECT_EQ(begun().size(), 3u) << begun();
}

TEST_F(Batches, AWrongUseStaysOne) {
  EXPECT_EQ(complaint<UsageError>(batch(2, [](std::size_t) -> std::string { throw UsageError("--option: no"); })),
            "--option: no");
}

TEST_F(Batches, ACellThatCrashesIsNamed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(complaint<InputError>(batch(1,
                                        [](std::size_t) -> std::string {
                                          fmt::print(stderr, "first line\nlast words\n");
                                          std::abort();
                                        })),
            "cell 0: was ended by signal 6 (SIGABRT): last words");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "first line\nlast words\n");
}

TEST_F(Batches, WhatIsDoneIsLeftOut) {
  Batch some = batch(4, [](std::size_t cell) { return fmt::format("{}", cell); });
  some.is_done = [](std::size_t cell) { return cell % 2 == 0; };
  EXPECT_EQ(run_batch(some, [](std::string_view) {}), (std::vector<std::string>{"", "1", "", "3"}));
  EXPECT_EQ(run_here(some), (std::vector<std::string>{"", "1", "", "3"}));
}

TEST_F(Batches, AStopKillsWhatIsBeingComputed) {
  const StopSignals signals;
  const HeedStops heeding;
  const pid_t parent = ::getpid();
  const auto stops = [parent](std::size_t) -> std::string {
    ::kill(parent, SIGINT);
    for (;;) ::pause();
  };
  EXPECT_THROW((void)run_batch(batch(5, stops, 1), [](std::string_view) {}), Interrupted);
  EXPECT_EQ(begun(), "0");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST_F(Batches, ACellThatBeginsWhenAStopHasComeIsNotComputed) {
  const StopSignals signals;
  const HeedStops heeding;
  Children children{batch(1, [](std::size_t) { return std::string{"a part"}; }).compute};
  ::raise(SIGINT);
  children.start(0);
  std::vector<CellEnd> ends;
  while (ends.empty()) ends = children.wait(std::chrono::seconds{1});
  EXPECT_EQ(ends.front().kind, CellEnd::Kind::kTryAgain) << ends.front().text;
  EXPECT_FALSE(fs::exists(folder_ / "begun"));
}

TEST_F(Batches, InThisProcessACellIsComputedToItsEndAndNoFurtherOne) {
  const StopSignals signals;
  const HeedStops heeding;
  const auto stop = [](std::size_t cell) {
    if (cell == 1) ::raise(SIGINT);
    return fmt::format("{}", ::getpid());
  };
  EXPECT_THROW((void)run_here(batch(5, stop)), Interrupted);
  EXPECT_EQ(begun(), "01");
}

TEST_F(Batches, InThisProcessAnErrorIsTheCellsOwn) {
  EXPECT_THROW((void)run_here(batch(2, [](std::size_t) -> std::string { throw std::out_of_range("no"); })),
               std::out_of_range);
  EXPECT_EQ(begun(), "0");
}

TEST(Progress, SaysRateAndTimeLeftOnceThereIsARate) {
  Progress progress{.cells = 10, .done = 2};
  EXPECT_EQ(progress.text(), "2 of 10 cells");
  progress.started -= std::chrono::seconds{8};
  progress.done = 5, progress.failed = 1, progress.computed = 4;
  const std::string text = progress.text(", 1 failed");
  EXPECT_TRUE(text.starts_with("5 of 10 cells, 1 failed; 0.") && text.ends_with(" cells/s, 8 s left")) << text;
}

}  // namespace
}  // namespace replay::test
