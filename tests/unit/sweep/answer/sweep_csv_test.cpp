// Tests of sweep.csv: what it holds, that it can be read back, and what is refused.
#include "scheduler/sweep/answer/sweep_csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/sweep/answer/made_study.hpp"

namespace replay::sweep {
namespace {

class SweepCsv : public testing::Test {
 protected:
  [[nodiscard]] std::string written(const StudyResults& results) const {
    write_sweep_csv(file_, results);
    return test::text_of(file_);
  }
  void expect_refused(const std::string& text, const std::string& message) const {
    test::write_text(file_, text);
    try {
      static_cast<void>(read_sweep_csv(file_));
      FAIL() << "not refused: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string{error.what()}, file_.string() + message);
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "sweep.csv";
};

StudyResults small_study() {
  StudyResults study = test::empty_study({"easy", "easy-malleable:max_mpl=4,min=2"}, {"0.6", "0.65"}, 1);
  study.metrics = {"mean_wait", "utilisation"};
  for (const std::size_t policy : {0u, 1u})
    for (const std::size_t load : {0u, 1u})
      test::add_cell(study, {policy, load, 0}, 12.5 + static_cast<double>(policy)).metrics["utilisation"] = 2.0 / 3;
  study.cells[1].failure = "out of memory";
  study.cells[2].metrics["utilisation"] = std::nan("");
  return study;
}

TEST_F(SweepCsv, IsARowForEachCellAndMetric) {
  EXPECT_EQ(written(small_study()),
            "cell,policy,load,seed,metric,value\n"
            "0000,easy,0.6,1,mean_wait,12.500000\n"
            "0000,easy,0.6,1,utilisation,0.666667\n"
            "0001,easy,0.65,1,mean_wait,\n"
            "0001,easy,0.65,1,utilisation,\n"
            "0002,\"easy-malleable:max_mpl=4,min=2\",0.6,1,mean_wait,13.500000\n"
            "0002,\"easy-malleable:max_mpl=4,min=2\",0.6,1,utilisation,\n"
            "0003,\"easy-malleable:max_mpl=4,min=2\",0.65,1,mean_wait,13.500000\n"
            "0003,\"easy-malleable:max_mpl=4,min=2\",0.65,1,utilisation,0.666667\n");
}

TEST_F(SweepCsv, IsTheSameBytesInWhateverOrderTheCellsCome) {
  StudyResults study = small_study();
  const std::string before = written(study);
  std::ranges::reverse(study.cells);
  EXPECT_EQ(written(study), before);
}

TEST_F(SweepCsv, CanBeReadBack) {
  const StudyResults study = small_study();
  const std::string text = written(study);
  const StudyResults read = read_sweep_csv(file_);
  EXPECT_EQ(read.axes, study.axes);
  EXPECT_EQ(read.metrics, study.metrics);
  EXPECT_EQ(read.name, folder_.path().filename().string());
  ASSERT_EQ(read.cells.size(), 4u);
  EXPECT_EQ(read.planned, 4u);
  EXPECT_EQ(read.cells[3].id, "0003");
  EXPECT_EQ(read.cells[3].values, study.cells[3].values);
  EXPECT_EQ(read.cells[3].metrics.at("mean_wait"), 13.5);
  EXPECT_TRUE(std::isnan(read.cells[2].metrics.at("utilisation")));
  EXPECT_FALSE(read.cells[1].failure.empty());
  EXPECT_TRUE(read.cells[2].failure.empty());
  EXPECT_EQ(written(read), text);
}

TEST_F(SweepCsv, ReadsNumbersOfAnAxisAscending) {
  test::write_text(
      file_, "cell,policy,load,metric,value\na,easy,10,mean_wait,1\nb,fcfs,9,mean_wait,2\nc,easy,9,mean_wait,3\n");
  const StudyResults read = read_sweep_csv(file_);
  EXPECT_EQ(read.axes[0].values, (std::vector<std::string>{"easy", "fcfs"}));
  EXPECT_EQ(read.axes[1].values, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(read.cells[0].values, (std::vector<std::size_t>{0, 1}));
}

TEST_F(SweepCsv, RefusesWhatIsNone) {
  expect_refused("", ":0: expected a first line with the columns' names, found an empty file");
  expect_refused(
      "job,wait\n",
      ":1: expected the columns 'cell,<axis>,...,metric,value' of a study's sweep.csv, found 2 that begin with 'job'");
  expect_refused("cell,load,metric,value\na,1,mean_wait\n", ":2: expected 4 cells, found 3");
  expect_refused("cell,load,metric,value\na,1,mean_wait,much\n",
                 ":2: value: expected a number or nothing, found 'much'");
  expect_refused("cell,load,metric,value\na,1,mean_wait,1\na,1,mean_wait,1\n",
                 ":3: cell a has a second value of mean_wait");
  expect_refused("cell,load,metric,value\na,1,mean_wait,1\na,2,makespan,1\n",
                 ":3: cell a has other values of the axes than above");
  expect_refused("cell,load,metric,value\na,1,mean_wait,1\nb,1,mean_wait,1\n",
                 ":3: cell b has the same values of the axes as a cell above");
  expect_refused("cell,load,metric,value\na,\"1,mean_wait,1\n", ":2: a cell in quotation marks does not end");
}

}  // namespace
}  // namespace replay::sweep
