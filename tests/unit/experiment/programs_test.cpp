#include "scheduler/experiment/programs.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "scheduler/base/error.hpp"
#include "scheduler/results/run_folder.hpp"
#include "tests/support/schedule.hpp"

namespace replay::experiment {
namespace {

using namespace std::chrono_literals;

TEST(Commands, AreSplitAsAShellDoesWithoutExpansion) {
  EXPECT_EQ(split_command("a 'b c' \"d \\\" e\" f\\ g  $HOME"),
            (std::vector<std::string>{"a", "b c", "d \" e", "f g", "$HOME"}));
  EXPECT_THROW((void)split_command("a 'b"), InputError);
  EXPECT_THROW((void)split_command("   "), InputError);
}

TEST(Programs, FillInWhatIsKnownOfTheJob) {
  TracedJob traced = test::job('A').cores(2).runs(10s).cpu_use(0.5);
  traced.job.id = JobId{7};
  const Programs programs{"sh -c 'echo {n} {id} {runtime} {cpu_use}'", {}, 0.5, 1};
  const auto command = programs.command(traced);
  EXPECT_TRUE(command[0].ends_with("/sh"));
  EXPECT_EQ(command[2], "echo 2 7 5.000000 0.5") << "run times are real seconds";
}

TEST(Programs, ComeFromTheTracesTableByField14) {
  TracedJob traced = test::job('A');
  traced.truth.executable = 3;
  EXPECT_EQ(Programs("", {{3, "sh -c true"}}, 1, 1).command(traced)[2], "true");
}

TEST(Programs, ThatAreNotThereAreNamedWithTheirJob) {
  TracedJob traced = test::job('A');
  traced.job.id = JobId{12};
  try {
    (void)Programs("no-such-program-anywhere", {}, 1, 1).command(traced);
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("job 12"), std::string::npos) << message;
    EXPECT_NE(message.find("no-such-program-anywhere"), std::string::npos) << message;
  }
}

TEST(Programs, OfOtherNodesAreLookedUpThere) {
  const auto command_of = [](const std::string& text) {
    return Programs(text, {}, 1, 1, Programs::Place::kElsewhere).command(test::job('A')).front();
  };
  EXPECT_EQ(command_of("only-there"), "only-there");
  EXPECT_EQ(command_of("./only-there"), std::filesystem::absolute("./only-there").string());
}

TEST(Programs, OfAWorkloadAreListedOnce) {
  Workload workload;
  for (const int executable : {0, 3, 0}) {
    TracedJob traced = test::job('A');
    traced.truth.executable = executable;
    workload.jobs.push_back(traced);
  }
  const Programs programs{"", {{3, "/bin/true"}}, 1, 1, Programs::Place::kElsewhere};
  const auto found = programs.needed_by(workload);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "/bin/true");
  EXPECT_TRUE(found[1].ends_with("/phases")) << found[1];
}

TEST(Folders, AreNamedAfterThePolicyWithoutWhatAFileSystemMinds) {
  EXPECT_EQ(results::folder_name("easy:pass=instant"), "easy,pass=instant");
  EXPECT_EQ(results::folder_name("./mine.so"), "._mine.so");
  const std::string longer = "exec:{" + std::string(100, 'x');
  EXPECT_NE(results::folder_name(longer + " 1}"), results::folder_name(longer + " 2}"));
  EXPECT_LT(results::folder_name(longer).size(), 100U);
}

}  // namespace
}  // namespace replay::experiment
