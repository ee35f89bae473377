// Tests of `replay sbatch`: the script, read again by a shell, and wrong words. No Slurm here.
#include <fmt/core.h>

#include <string>

#include "tests/unit/cli/command_line_fixture.hpp"

namespace replay::test {
namespace {

TEST_F(CommandLine, AJobScriptNamesItsNodesAndBecomesTheRun) {
  const ShellResult result = replay("sbatch --nodes 3 --time 90s -- --trace t.swf --policy easy");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "#!/bin/sh\n#SBATCH --nodes=3\n#SBATCH --exclusive\n#SBATCH --time=2\n"
            "exec " REPLAY_PROGRAM " --machine slurm --yes --trace t.swf --policy easy\n");
  const ShellResult counted = replay(
      "sbatch --cpus-per-node 8 --sbatch --partition=short --sbatch='--comment=a b' -- --yes --machine "
      "slurm:iface=ib0 --trace t.swf");
  EXPECT_EQ(counted.out,
            "#!/bin/sh\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n#SBATCH --cpus-per-task=8\n"
            "#SBATCH --partition=short\n#SBATCH '--comment=a b'\n"
            "exec " REPLAY_PROGRAM " --yes --machine slurm:iface=ib0 --trace t.swf\n");
  EXPECT_NE(replay("sbatch -- simulate --trace t.swf").out.find("replay simulate --trace t.swf\n"), std::string::npos);
}

TEST_F(CommandLine, AShellReadsTheWordsOfAJobScriptAsTheyWere) {
  write_text(folder_ / "words", "printf '<%s>' \"$@\"\n");
  const std::string odd = R"(it's "a" $HOME `x` \ * ; & {n})";
  write_text(folder_ / "odd", odd);
  ASSERT_EQ(shell(fmt::format("{} sbatch -o job.sh -- --program \"$(cat odd)\" --trace 'a  b'", REPLAY_PROGRAM),
                  folder_.path())
                .status,
            0);
  const ShellResult read = shell("sed 's,^exec [^ ]*,sh words,' job.sh | sh", folder_.path());
  EXPECT_EQ(read.out, "<--machine><slurm><--yes><--program><" + odd + "><--trace><a  b>") << read.err;
}

TEST_F(CommandLine, WordsOfWhichNoJobScriptCanBeMadeAreNamed) {
  expect_complaint("sbatch", 2, {"expected -- and the words of a run", "found nothing"});
  expect_complaint("sbatch --", 2, {"expected -- and the words of a run", "found nothing"});
  expect_complaint("sbatch --partition=short -- --trace t", 2, {"found '--partition=short'", "stand behind --sbatch"});
  expect_complaint("sbatch --trace t", 2, {"found '--trace'"});
  expect_complaint("sbatch -- --trac t.swf", 2, {"behind --", "expected options of `replay`, found '--trac"});
  expect_complaint("sbatch -- --time-scale 0 --trace t.swf", 2, {"--time-scale", "'0'"});
  expect_complaint("sbatch -- --trace t.swf --policy easy,esy", 2, {"unknown policy 'esy'", "easy"});
  expect_complaint("sbatch --time 30 -- --trace t", 2, {"--time", "found '30' without a unit: 30min"});
  for (const char* machine : {"--machine local", "--machine=local:0-1", "--machine emulated:1x1x2"})
    expect_complaint(std::string("sbatch --nodes 2 -- --trace t ") + machine, 2,
                     {"sbatch --nodes 2: behind --: expected --machine slurm", "which uses one node"});
  EXPECT_EQ(replay("sbatch -- --trace t --machine local").status, 0) << "one node";
  expect_complaint("sbatch --nodes 0 -- --trace t", 2, {"--nodes", "'0'"});
  expect_complaint("sbatch --sbatch short -- --trace t", 2, {"--sbatch", "found 'short'"});
  expect_complaint("sbatch -o no/such/job.sh -- --trace t", 1, {"no/such/job.sh"});
}

}  // namespace
}  // namespace replay::test
