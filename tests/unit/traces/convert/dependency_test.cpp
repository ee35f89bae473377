// Tests of conditions on another job's end, as Slurm, PBS and LSF write them.
#include "traces/convert/dependency.hpp"

#include <gtest/gtest.h>

namespace replay::accounting {
namespace {

TEST(Dependency, SlurmsOptionHasSeveralForms) {
  for (const char* const line :
       {"sbatch --dependency=afterok:1234 job.sh", "sbatch --dependency afterany:1234 job.sh",
        "sbatch -d afterok:1234 x", "sbatch -dafternotok:1234 x", "sbatch -n 4 --depend=AfterAny:1234 -t 5 x",
        "srun --dep=afterok:1234 x", "sbatch -d afterok:1234+1 x"})
    EXPECT_EQ(slurm_dependency(line, "7"), "1234") << line;
  EXPECT_EQ(slurm_dependency("sbatch -d afterok:1234_5 x", "7"), "1234_5");
  EXPECT_EQ(slurm_dependency("sbatch -d aftercorr:1234 x", "7_5"), "1234_5");
}

TEST(Dependency, OfSlurmOnSeveralJobsOrOnAStartNamesNone) {
  for (const char* const line :
       {"", "sbatch job.sh", "sbatch -d afterok:1:2 x", "sbatch -d afterok:1,afterany:2 x",
        "sbatch -d afterok:1?afterok:2 x", "sbatch -d after:1234 x", "sbatch -d after:1234+5 x",
        "sbatch -d singleton x", "sbatch -d expand:1234 x", "sbatch --deadline=afterok:1 x", "sbatch -d",
        "sbatch -d afterok: x", "sbatch -d afterok:md x"})
    EXPECT_EQ(slurm_dependency(line, "7"), "") << line;
}

TEST(Dependency, PbsNamesTheServerThatHasTheJob) {
  EXPECT_EQ(pbs_dependency("afterok:1234.srv@srv"), "1234.srv");
  EXPECT_EQ(pbs_dependency("afterany:1234.srv"), "1234.srv");
  for (const char* const text :
       {"", "after:1234.srv", "beforeok:1234.srv", "on:2", "afterok:1.srv:2.srv", "afterok:1.srv,afterany:2.srv"})
    EXPECT_EQ(pbs_dependency(text), "") << text;
}

TEST(Dependency, LsfNamesAJobOrAnElement) {
  for (const char* const text : {"done(1234)", " ended(1234) ", "exit(1234)", "exit(1234,>0)", "1234"})
    EXPECT_EQ(lsf_dependency(text), "1234") << text;
  EXPECT_EQ(lsf_dependency("done(1234[7])"), "1234[7]");
  for (const char* const text :
       {"", "started(1234)", "done(\"md\")", "done(1) && done(2)", "done(1)||done(2)", "!done(1)"})
    EXPECT_EQ(lsf_dependency(text), "") << text;
}

}  // namespace
}  // namespace replay::accounting
