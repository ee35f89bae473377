// Tests of the cells' result files: what is read back, and which files are refused.
#include "scheduler/validate/result.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/validate/cell.hpp"
#include "scheduler/validate/table.hpp"
#include "tests/support/shell.hpp"

namespace replay::validate {
namespace {

using nlohmann::ordered_json;

ordered_json inputs(double time_scale = 0.05) {
  return {{"policy", "easy:reservations=1"}, {"time_scale", time_scale}, {"trace_sha256", "ab"}};
}

CellResult a_result(std::string cell = "30/poisson/easy", double response = 110) {
  CellResult result;
  result.cell = std::move(cell);
  result.policy = result.cell.substr(result.cell.rfind('/') + 1);
  result.arrivals = "poisson";
  result.load_percent = 30;
  result.inputs = inputs();
  result.simulated = {{55, response, 2.1}, 150, 0, 7300.5, 3, 2};
  result.real = {{60, 100, 2}, 149, 1, 7310, 4, 2};
  result.measured = ValidatedRun{{58, 101, std::numeric_limits<double>::quiet_NaN()}, 149, 0, 7301, 3, 3};
  result.simulated_errors = {149, 1, {1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {-1, 0, 0, 0, 2}, {0.001, 0, 0, 0, 0.02}};
  result.measured_errors = compare::JobErrors{};
  result.divergence = "They decide the same until 3 s";
  result.tolerance_s = 10;
  result.load_before = 0.03;
  result.started = "2026-11-21T16:00:00Z";
  result.ended = "2026-11-21T16:06:00Z";
  result.version = "1";
  return result;
}

class Cells : public testing::Test {
 protected:
  [[nodiscard]] std::string complaint(const std::string& cell, const ordered_json& with) const {
    try {
      (void)finished_cell(folder_.path(), cell, with);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  void expect_says(const std::string& text, std::initializer_list<const char*> words) const {
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
  }
  void change(const std::string& from, const std::string& to) {
    std::string text = test::text_of(folder_ / "result.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    test::write_text(folder_ / "result.json", text.replace(at, from.size(), to));
  }
  TemporaryFolder folder_;
};

TEST_F(Cells, ThatHaveNotRunHaveNoResult) {
  EXPECT_FALSE(finished_cell(folder_.path(), "30/poisson/easy", inputs()));
  EXPECT_FALSE(finished_cell(folder_ / "nowhere", "30/poisson/easy", inputs()));
}

TEST_F(Cells, ComeBackFromTheirFileAsTheyWere) {
  const CellResult before = a_result();
  write_cell_result(folder_.path(), before);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "result.json.part"));
  const auto after = finished_cell(folder_.path(), before.cell, inputs());
  ASSERT_TRUE(after);
  EXPECT_EQ(to_json(*after), to_json(before));
  EXPECT_EQ(after->simulated.figures, before.simulated.figures);
  EXPECT_TRUE(std::isnan(after->measured->figures[2]));
  EXPECT_FALSE(after->load_after);
}

TEST_F(Cells, OfOtherInputsAreRefusedAndTheDifferenceIsNamed) {
  write_cell_result(folder_.path(), a_result());
  expect_says(complaint("30/poisson/easy", inputs(0.1)),
              {"result.json", "cell 30/poisson/easy", "time_scale: 0.05 then, 0.1 now", "--out", "--force"});
  ordered_json more = inputs();
  more["side_file_sha256"] = "cd";
  expect_says(complaint("30/poisson/easy", more), {"side_file_sha256: not stated then, \"cd\" now"});
  ordered_json less = inputs();
  less.erase("trace_sha256");
  expect_says(complaint("30/poisson/easy", less), {"trace_sha256: \"ab\" then, not stated now"});
}

TEST_F(Cells, OfAnotherNameAreRefused) {
  write_cell_result(folder_.path(), a_result());
  expect_says(complaint("50/poisson/easy", inputs()),
              {"expected the result of cell 50/poisson/easy", "30/poisson/easy"});
}

TEST_F(Cells, WithABrokenFileAreRefusedWithThePlace) {
  test::write_text(folder_ / "result.json", "{\"format\": ");
  expect_says(complaint("30/poisson/easy", inputs()), {"result.json", "expected JSON", "--force"});
  write_cell_result(folder_.path(), a_result());
  change("\"makespan_s\": 7300.5", "\"makespan_s\": \"long\"");
  expect_says(complaint("30/poisson/easy", inputs()),
              {"result.json: simulated.makespan_s: expected a number or null, found \"long\""});
  write_cell_result(folder_.path(), a_result());
  change("\"disturbed\"", "\"quiet\"");
  expect_says(complaint("30/poisson/easy", inputs()), {"expected a member 'disturbed'"});
  write_cell_result(folder_.path(), a_result());
  change("replay-validation 1", "replay-validation 2");
  expect_says(complaint("30/poisson/easy", inputs()), {"\"replay-validation 1\"", "\"replay-validation 2\""});
}

TEST(ValidationTable, GainsAreToTheFirstPolicyOfTheSamePlace) {
  const std::vector<CellResult> results = {a_result("30/poisson/easy", 110), a_result("50/poisson/easy", 200),
                                           a_result("30/poisson/fcfs-malleable", 55),
                                           a_result("50/poisson/fcfs-malleable", 250)};
  const auto gains = gains_of(results);
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_EQ(gains[0].place, "30/poisson");
  EXPECT_EQ(gains[0].policy, "fcfs-malleable");
  EXPECT_DOUBLE_EQ(gains[0].simulated[1], -50);
  EXPECT_DOUBLE_EQ(gains[0].real[1], 0);
  EXPECT_FALSE(gains[0].signs_agree(1));
  EXPECT_DOUBLE_EQ(gains[1].simulated[1], 25);
  EXPECT_TRUE(gains[1].signs_agree(1));
}

TEST(ValidationTable, MarksWhatIsToBeDoubted) {
  CellResult result = a_result();
  result.disturbed = true;
  const std::string text = validation_text({result});
  for (const char* words : {"30/poisson/easy *", "disturbed: others used the machine", "1 job did not complete", "-8.3",
                            "+10.0", "+5.0", "7.78 % (3 figures)", "They decide the same until 3 s"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST(ValidatedCell, IsSimulatedWithTheNodeEventsOfTheRealRunAndNoOthers) {
  ValidationSetting setting;
  setting.run.requeues_lost = true;
  EXPECT_EQ(simulated(setting, "t.swf", "easy").nodes_from, "none") << "t.nodes.csv may lie beside it";
  setting.run.nodes_from = "real/nodes.csv";
  const experiment::RunSpec run = simulated(setting, "t.swf", "easy");
  EXPECT_EQ(experiment::nodes_file_of(run), "real/nodes.csv");
  EXPECT_TRUE(run.requeues_lost);
}

}  // namespace
}  // namespace replay::validate
