// Exports of a real run: what other programs read of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "scheduler/base/file/paths.hpp"
#include "tests/unit/cli/export_command_fixture.hpp"

namespace replay::test {
namespace {

TEST_F(ExportCommand, FilesOfARealRunOnEmulatedCoresHaveItsJobsCoresAndCoreSeconds) {
  if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  // Job 2 comes when job 1 has all cores: job 1 is shrunk for it, or shares some with it.
  write_text(folder_ / "t.swf",
             "; MaxProcs: 8\n"
             "1 0 -1 1.5 8 0.75 -1 8 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.4 -1 0.6 4 0.3 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  for (const bool is_shared : {false, true}) {
    const std::string run = is_shared ? "shared" : "shrunk";
    const ShellResult result =
        replay(fmt::format("--trace t.swf --policy fcfs-malleable{} --machine emulated:2x2x2 --out {}",
                           is_shared ? ":share=first:max_slowdown=4" : "", run));
    ASSERT_EQ(result.status, 0) << result.out << result.err;
    const json truth = check_pictures(run);
    EXPECT_EQ(truth["jobs"], 2);
    EXPECT_EQ(truth["cores"], 8);
    check_tables(run, truth, is_shared);
    if (is_shared)
      EXPECT_GT(truth["held"].get<double>(), truth["busy"].get<double>() + 1) << "two jobs on a core";
    else
      EXPECT_EQ(perfetto_["instants"]["shrunk"], 1);
    exported(run, "gnuplot", "g-" + run);
  }
  skip_without_pj_dump();
}

}  // namespace
}  // namespace replay::test
