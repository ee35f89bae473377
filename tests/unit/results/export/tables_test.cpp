// Tests of the exports with a line per job: Evalys, Batsim, SWF.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/error.hpp"
#include "tests/unit/results/export/export_fixture.hpp"

namespace replay::results {
namespace {

metrics::Records unfinished_run() {
  metrics::Records run("1x4");
  run.header("trace", "dir/a,b.swf");
  return run.submit(0, 1, 2, 10)
      .launch_on(1, 1, {{0, 1}, {2, 1}})
      .submit(2, 2, 9, 5)
      .finish(2, 2, metrics::ended(Outcome::kRejected))
      .submit(3, 3, 1, 5)
      .launch_on(3, 3, {{1, 1}})
      .finish(5, 1);
}

TEST_F(Export, EvalysGetsTheJobsThatRanToAnEnd) {
  EXPECT_EQ(made("evalys", unfinished_run()),
            "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
            "execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources\n"
            "1,\"a,b.swf\",0.000000,2,10.000000,1,1.000000,4.000000,5.000000,1.000000,5.000000,1.250000,0 2\n");
  EXPECT_EQ(remarks_, Remarks{"2 jobs that never ran or had not ended are left out"});
}

TEST_F(Export, EvalysCannotHaveARunInWhichNoJobRan) {
  EXPECT_THROW((void)made("evalys", metrics::Records{"flat:4"}.submit(0, 1, 2, 5)), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x_evalys.csv"));
}

TEST_F(Export, BatsimGetsItsSeventeenColumnsAndItsSummary) {
  const std::string text = made("batsim", unfinished_run());
  EXPECT_EQ(
      line_of(text, "job_id"),
      "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
      "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
      "consumed_energy,metadata");
  EXPECT_EQ(line_of(text, "1,"),
            "1,\"a,b.swf\",default,0.000000,2,10.000000,1,COMPLETED_SUCCESSFULLY,1.000000,4.000000,5.000000,1.000000,5."
            "000000,"
            "1.250000,0 2,-1,");
  EXPECT_NE(line_of(text, "2,").find(",0,REJECTED,,,,,,,,-1,"), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "3,"), "") << "it had not ended";
  EXPECT_EQ(remarks_, Remarks{"1 job that had not ended is left out"});
  const auto summary = nlohmann::json::parse(test::text_of(files_[1]));
  EXPECT_EQ(summary["nb_jobs"], 2);
  EXPECT_EQ(summary["nb_jobs_rejected"], 1);
  EXPECT_EQ(summary["mean_waiting_time"], 1);
}

TEST_F(Export, SwfHasTheNumberOfJobsInItsHeader) {
  const std::string text = made("swf", unfinished_run());
  EXPECT_NE(text.find("; MaxJobs: 3\n"), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "1 "), "1 0 1 4 2 -1 -1 2 10 -1 1 -1 -1 -1 -1 -1 -1 -1");
}

}  // namespace
}  // namespace replay::results
