// What jobs declare goes through the trace commands, a simulation and its repetition, and comes out the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

constexpr const char* kTrace =
    "; MaxProcs: 16\n"
    "1 0 -1 100 4 50 -1 4 120 -1 1 1 1 1 1 -1 -1 -1\n"
    "2 10 -1 50 8 25 -1 8 60 -1 1 1 1 1 1 -1 -1 -1\n"
    "3 20 -1 80 2 40 -1 2 80 -1 1 1 1 1 1 -1 -1 -1\n"
    "4 30 -1 30 6 20 -1 6 40 -1 1 1 1 1 1 -1 -1 -1\n";
// Every column, every curve.
constexpr const char* kDeclared =
    "job,flexibility,least_processes,most_processes,sizes,speedup,cpu_util,ov,user_priority,political_priority,"
    "sl_scr,sl_sno,pair_key,eligible\n"
    "1,moldable,2,8,,three-point:n=4:e=0.9/0.7/0.5,0.75,0.25,0.5,-inf,1.5,1.25,18446744073709551615,\n"
    "2,malleable,2,16,2|4|8|16,downey:a=10.5:sigma=1.2,,,,0.25,,,,\n"
    "3,rigid,,,,,,,,,,,7,\n"
    "4,moldable,,,3|6|12,linear,0.6,,,,,,,\n";

class Declarations : public testing::Test {
 protected:
  void SetUp() override {
    write_text(folder_ / "t.swf", kTrace);
    write_text(folder_ / "t.jobs.csv", kDeclared);
  }
  void replay(const std::string& arguments) {
    const ShellResult result = shell(std::string{REPLAY_PROGRAM} + " " + arguments, folder_.path());
    ASSERT_EQ(result.status, 0) << arguments << "\n" << result.err;
  }
  [[nodiscard]] ShellResult says(const std::string& arguments) {
    return shell(std::string{REPLAY_PROGRAM} + " " + arguments, folder_.path());
  }
  // The submit records of a log, without their times.
  std::string submitted(const std::string& log) {
    std::istringstream lines{text_of(folder_ / log)};
    std::string all;
    for (std::string line; std::getline(lines, line);)
      if (const std::size_t at = line.find(" submit "); at != std::string::npos) all += line.substr(at) + "\n";
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(Declarations, GoThroughEveryTraceCommand) {
  write_text(folder_ / "later.swf", "; MaxProcs: 16\n5 900 -1 1 1 1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n");
  for (const char* command :
       {"trace declare t.swf --estimates perfect -o out.swf --force", "trace cut t.swf --jobs 1-4 -o out.swf --force",
        "trace scale t.swf --arrivals 2 -o out.swf --force", "trace merge t.swf later.swf -o out.swf --force",
        "trace clean t.swf -o out.swf --force", "trace sort t.swf -o out.swf --force"}) {
    replay(command);
    EXPECT_EQ(text_of(folder_ / "out.jobs.csv"), kDeclared) << command;
  }
  replay("trace convert t.swf -o out.csv");
  replay("trace convert out.csv -o out.swf --force");
  EXPECT_EQ(text_of(folder_ / "out.jobs.csv"), kDeclared);
}

TEST_F(Declarations, AreInTheLogOfASimulationAndOfItsRepetition) {
  replay("simulate --trace t.swf --policy greedy-moldable --runtime-model isolated --out run --curve-error 0.5");
  const std::string all = submitted("run/events.log");
  for (const char* part :
       {" job=1 ", " least=2 most=8 speedup=three-point:n=4:e=0.9/0.7/0.5 same_cpu=1.5 same_node=1.25 ",
        " pair_key=18446744073709551615", " user_priority=0.5 political_priority=-inf ", " cpu_use=0.75 overhead=0.25 ",
        " political_priority=0.25 least=2 most=16 sizes=2|4|8|16 speedup=downey:a=10.5:sigma=1.2", " pair_key=7",
        " sizes=3|6|12 speedup=linear", " speedup_power="})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  const ShellResult why = shell(std::string{REPLAY_PROGRAM} + " why run 2", folder_.path());
  EXPECT_NE(why.out.find("job 2: 8 cores (it offers 2|4|8|16)"), std::string::npos) << why.out;
  replay("rerun run --out again");
  EXPECT_EQ(text_of(folder_ / "again/events.log"), text_of(folder_ / "run/events.log"));
  replay("results run --outputs jobs --out remade");
}

TEST_F(Declarations, ThePairsFileIsAnInputOfTheRun) {
  write_text(folder_ / "t.pairs.csv", "job,beside,slowdown\n1,2,1.5\n");
  replay("simulate --trace t.swf --policy easy --runtime-model pairs --machine 1x2x8 --out run");
  EXPECT_NE(text_of(folder_ / "run/run.json").find("t.pairs.csv"), std::string::npos);
  replay("rerun run --out again");
  write_text(folder_ / "t.pairs.csv", "job,beside,slowdown\n1,2,3\n");
  const ShellResult changed = shell(std::string{REPLAY_PROGRAM} + " rerun run --out third", folder_.path());
  EXPECT_EQ(changed.status, 1);
  EXPECT_NE(changed.err.find("t.pairs.csv: has changed since the run"), std::string::npos) << changed.err;
}

TEST_F(Declarations, SizesThatFitNoMachineAreRefused) {
  const ShellResult wide =
      shell(std::string{REPLAY_PROGRAM} +
                " simulate --trace t.swf --policy easy --machine flat:8 --scale-sizes auto --out run",
            folder_.path());
  EXPECT_EQ(wide.status, 0) << wide.err << "the sizes are scaled, too";
  write_text(folder_ / "t.jobs.csv", "job,flexibility,least_processes,speedup\n4,moldable,32,linear\n");
  const ShellResult none =
      shell(std::string{REPLAY_PROGRAM} + " simulate --trace t.swf --policy easy --out other", folder_.path());
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("job 4 runs with 32 or more processes by its side file"), std::string::npos) << none.err;
}

// In one line.
std::string words_of(const std::string& text) {
  std::istringstream words{text};
  std::string all;
  for (std::string word; words >> word;) all += word + " ";
  return all;
}

TEST_F(Declarations, InfoSaysWhatStandsInWhereNoJobDeclaresACurve) {
  write_text(folder_ / "plain.swf", kTrace);
  const std::string info = words_of(says("trace info plain.swf").out);
  EXPECT_NE(
      info.find("no job declares a curve, and none stands in: policies that choose sizes start every job with its "
                "submitted one, as a rigid job;"),
      std::string::npos)
      << info;
  EXPECT_NE(info.find("under `speedup` a linear speedup; `replay trace declare --speedup three-point` adds curves"),
            std::string::npos)
      << info;
  EXPECT_EQ(words_of(says("trace info t.swf").out).find("none stands in"), std::string::npos);
}

TEST_F(Declarations, PoliciesThatChooseSizesSayOnceThatNoModelStandsInForCurves) {
  const std::string note = "no job declares a speedup curve, and no other model stands in";
  const auto notes = [&](const std::string& arguments) {
    const ShellResult result = says("simulate --outputs none " + arguments);
    EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
    EXPECT_EQ(result.out.find(note), std::string::npos) << arguments;
    std::size_t count = 0;
    for (std::size_t at = result.err.find(note); at != std::string::npos; at = result.err.find(note, at + 1)) ++count;
    return count;
  };
  for (const char* seed : {"1", "2"}) write_text(folder_ / ("plain-" + std::string{seed} + ".swf"), kTrace);
  for (const char* policy : {"scojo-p", "scojo", "cirne-berman", "cirne-berman:base=conservative", "greedy-moldable",
                             "easy,scojo,scojo-p:predict=off", "scojo-pect:inner={greedy-moldable}"}) {
    EXPECT_EQ(notes("--trace plain-1.swf --policy " + std::string{policy}), 1u) << policy;
    EXPECT_EQ(notes("--trace plain-1.swf --json --policy " + std::string{policy}), 1u) << policy;
    EXPECT_EQ(notes("--trace t.swf --policy " + std::string{policy}), 0u) << policy;
  }
  EXPECT_EQ(notes("--trace plain-1.swf --policy easy,fcfs-malleable"), 0u);
  EXPECT_EQ(notes("--trace 'plain-{seed}.swf' --seeds 1,2 --policy easy,scojo"), 1u);
  const std::string said = says("simulate --trace plain-1.swf --outputs none --policy easy,scojo,scojo-p").err;
  EXPECT_NE(said.find("note: " + note +
                      " for its run times at other sizes: scojo or scojo-p starts every job with its submitted size, "
                      "as a rigid one; `replay trace declare --speedup three-point` declares curves\n"),
            std::string::npos)
      << said;
}

TEST_F(Declarations, MalleabilityThatIsAssumedIsSaidAboveTheTableOfAPolicyThatMakesUseOfIt) {
  const std::string note = "note: malleability is assumed: ";
  const auto said = [this](const std::string& arguments) {
    return says("simulate --machine flat:8 --outputs none --trace " + arguments).out;
  };
  write_text(folder_ / "plain.swf", kTrace);
  EXPECT_EQ(said("plain.swf --policy easy").find(note), std::string::npos);
  EXPECT_EQ(said("plain.swf --policy fcfs-malleable --runtime-model rigid").find(note), std::string::npos);
  const std::string all = said("plain.swf --policy easy,fcfs-malleable");
  EXPECT_NE(all.find(note + "4 of 4 jobs do not say whether they are rigid, moldable or malleable"), std::string::npos)
      << all;
  EXPECT_LT(all.find(note), all.find("machine flat:8"));
  write_text(folder_ / "plain.jobs.csv", "job,flexibility,cpu_util\n1,malleable,0.5\n2,,0.5\n");
  EXPECT_NE(said("plain.swf --policy fcfs-malleable").find(note + "3 of 4 jobs"), std::string::npos);
  write_text(folder_ / "plain.jobs.csv", "job,flexibility\n1,malleable\n2,malleable\n3,rigid\n4,malleable\n");
  EXPECT_EQ(said("plain.swf --policy fcfs-malleable").find(note), std::string::npos);
  for (const char* seed : {"1", "2"}) write_text(folder_ / ("plain-" + std::string{seed} + ".swf"), kTrace);
  EXPECT_NE(said("'plain-{seed}.swf' --seeds 1,2 --policy fcfs-malleable").find("malleability is assumed: 4 of 4"),
            std::string::npos);
}

TEST_F(Declarations, ThatNoJobDeclaresSlowdownsIsSaidAboveTheTable) {
  const std::string note = "note: no job declares slowdowns, and there is no file of pairs: in runtime model ";
  const auto said = [this](const std::string& arguments) {
    return says("simulate --machine 1x2x8 --outputs none --policy easy --trace " + arguments).out;
  };
  write_text(folder_ / "plain.swf", kTrace);
  const std::string none = said("plain.swf --runtime-model pairs");
  EXPECT_NE(none.find(note + "pairs no job slows another one"), std::string::npos) << none;
  EXPECT_LT(none.find(note), none.find("machine 1x2x8"));
  EXPECT_NE(said("plain.swf --runtime-model isolated+pairs").find(note + "isolated+pairs"), std::string::npos);
  EXPECT_EQ(said("plain.swf").find(note), std::string::npos) << "the model asks for none";
  EXPECT_EQ(said("t.swf --runtime-model pairs").find(note), std::string::npos);
  write_text(folder_ / "plain.pairs.csv", "job,beside,slowdown\n1,2,1.5\n");
  EXPECT_EQ(said("plain.swf --runtime-model pairs").find(note), std::string::npos);
}

TEST_F(Declarations, HowManyJobsAnErrorOfDeclarationsHasKilledIsSaidWithIt) {
  const auto overruns = [this](const std::string& run) {
    std::istringstream lines{text_of(folder_ / run / "events.log")};
    int count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.find(" outcome=overrun") != std::string::npos ? 1 : 0;
    return count;
  };
  write_text(folder_ / "exact.swf",
             "; MaxProcs: 16\n"
             "1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 -1 -1 -1\n"
             "2 200 -1 50 4 -1 -1 4 50 -1 1 1 1 1 1 -1 -1 -1\n"
             "3 400 -1 80 2 -1 -1 2 80 -1 1 1 1 1 1 -1 -1 -1\n"
             "4 600 -1 30 6 -1 -1 6 30 -1 1 1 1 1 1 -1 -1 -1\n");
  write_text(folder_ / "exact.jobs.csv",
             "job,flexibility,speedup\n1,moldable,three-point:n=4\n2,moldable,three-point:n=4\n"
             "3,moldable,three-point:n=2\n4,moldable,three-point:n=6\n");
  int most = 0;
  for (const std::string seed : {"1", "2", "3"}) {
    const std::string run = "simulate --trace exact.swf --policy greedy-moldable --seed " + seed;
    const std::string said = says(run + " --curve-error 1 --out kill-" + seed).out;
    const int killed = overruns("kill-" + seed);
    EXPECT_NE(said.find("note: --curve-error 1 with --overrun kill: "), std::string::npos) << said;
    EXPECT_NE(said.find("Jobs killed for this: greedy-moldable " + std::to_string(killed) + " of 4;"),
              std::string::npos)
        << said;
    most = std::max(most, killed);
    EXPECT_EQ(says(run + " --curve-error 1 --overrun extend --outputs none").out.find("--curve-error"),
              std::string::npos);
    EXPECT_EQ(says(run + " --outputs none").out.find("Jobs killed"), std::string::npos);
  }
  EXPECT_GT(most, 0);
}

// What the note says is so: the jobs, malleable ones, are started and run as under a policy that chooses no sizes.
TEST_F(Declarations, WithoutCurvesPoliciesThatChooseSizesTakeJobsAsRigidOnes) {
  write_text(folder_ / "plain.swf", kTrace);
  const std::string run = "simulate --trace plain.swf --runtime-model speedup --machine flat:8 ";
  replay(run + "--policy priority-easy --out rigid");
  for (const std::string policy : {"scojo", "scojo-p", "cirne-berman"}) {
    replay(run + "--policy " + policy + " --out " + policy);
    EXPECT_EQ(text_of(folder_ / policy / "jobs.csv"), text_of(folder_ / "rigid/jobs.csv")) << policy;
  }
}

// Job 1 ran on past its request in the log, where it ends now; the other is not known to be wrong.
TEST_F(Declarations, AJobThatTheLogCutsIsNoneThatAnErrorKills) {
  write_text(folder_ / "over.swf",
             "; MaxProcs: 4\n"
             "1 0 -1 100 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n"
             "2 200 -1 50 4 -1 -1 4 50 -1 1 1 1 1 1 -1 -1 -1\n");
  const std::string run = "simulate --trace over.swf --policy easy --outputs none --curve-error 1";
  EXPECT_NE(says(run).out.find("Jobs killed for this: easy 0 of 2;"), std::string::npos) << says(run).out;
  EXPECT_NE(says(run + " --until 100").out.find("Jobs killed for this: easy at most 1 of 1;"), std::string::npos)
      << says(run + " --until 100").out;
}

}  // namespace
}  // namespace replay::test
