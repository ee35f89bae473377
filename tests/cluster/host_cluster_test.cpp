// Tests of jobs that span hosts with networks, processes and shared memory of their own (tests/support/host-cluster): a job is
// shrunk and expanded on three of them; two are calibrated; one crashes, one is cut off. The run names that one, and nothing is left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "tests/support/background.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/service_logs.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::test {
namespace {

constexpr const char* kLong = "; MaxProcs: 6\n1 0 -1 600 6 300 -1 6 1000 -1 1 1 1 -1 -1 -1 -1 -1\n";

class HostCluster : public testing::Test {
 protected:
  void SetUp() override {
    if (const ShellResult made = shell(REPLAY_HOST_CLUSTER " 1 true"); made.status != 0)
      GTEST_SKIP() << "no hosts can be made here, which takes root or user namespaces: " << made.err;
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    write_text(folder_ / "hosts", "node1 emulated=1x2\nnode2 emulated=1x2\nnode3 emulated=1x2\n");
    write_text(folder_ / "t.swf", kLong);
  }
  /// Runs `during` beside three hosts as soon as job 1 runs, waits for the run's end, and then does `after`. Both may say
  /// `comes PATTERN`, which waits until the event log has it, and `kill_agent_of HOST`.
  void run(const std::string& during = ":", const std::string& after = ":", const std::string& lease = "2s",
           const std::string& more = "--policy fcfs-malleable") {
    write_text(
        folder_ / "script",
        fmt::format("comes() {{ until grep -Eqs \"$1\" r/events.log; do kill -0 $run || exit; sleep 0.1; done; }}\n"
                    "kill_agent_of() {{ $CLUSTER exec $1 sh -c 'kill -9 $(grep -lx replay-agent /proc/[0-9]*/comm | "
                    "cut -d/ -f3)'; "
                    "}}\n"
                    "{} --trace t.swf --machine hosts:hosts --bootstrap \"$CLUSTER exec\" --lease {} {} --out r "
                    "--plain &\n"
                    "run=$!\n"
                    "comes ' ranks job=1'\n"
                    "{}\nwait $run\nstatus=$?\n{}\nexit $status\n",
                    REPLAY_PROGRAM, lease, more, during, after));
    result_ =
        shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 60 " REPLAY_HOST_CLUSTER " 3 bash script", folder_.path());
    EXPECT_TRUE(comes_true([this] { return processes_marked(folder_.path().string()).empty(); }));
  }
  [[nodiscard]] bool has_said(const std::string& text) const {
    return (result_.out + result_.err + events()).find(text) != std::string::npos;
  }
  [[nodiscard]] std::string events() const { return text_of(folder_ / "r/events.log"); }
  [[nodiscard]] bool has_event(const std::string& pattern) const {
    return std::regex_search(events(), std::regex{pattern});
  }
  void expect_events(const std::vector<std::string>& patterns) const {
    for (const std::string& one : patterns) EXPECT_TRUE(has_event(one)) << one << "\n" << events() << result_.err;
    MemoryLog log;
    ASSERT_TRUE(log::read_text(folder_ / "r/events.log", log));
    EXPECT_EQ(what_is_wrong(log, Machine::parse("3x1x2")), "");
    EXPECT_EQ(text_of(folder_ / "left"), "") << "on a host";
  }

  TemporaryFolder folder_;
  ShellResult result_;
};

/// Processes of jobs and agents that are left 5 s later on any host, of those that still run.
constexpr const char* kListThem =
    "for i in $(seq 50); do cat /proc/[0-9]*/comm | grep -E 'replay|phases|mpiexec|hydra' >left || break; sleep 0.1; "
    "done";

TEST_F(HostCluster, AJobIsShrunkAndExpandedOnThree) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 3 6 1.5 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.5 -1 1 3 1 -1 3 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run();
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  MemoryLog log;
  ASSERT_TRUE(log::read_text(folder_ / "r/events.log", log));
  EXPECT_EQ(what_is_wrong(log, Machine::parse("3x1x2")), "");
  EXPECT_EQ(log.verified(), 2);
  EXPECT_TRUE(has_said("resized job=1 cores=3") && has_said("resized job=1 cores=6")) << events();
}

TEST_F(HostCluster, AProgramByHandIsShrunkOnThree) {
  write_text(folder_ / "script", REPLAY_PROGRAM
             " run -n 6 --machine hosts:hosts --bootstrap \"$CLUSTER exec\" --lease 2s --label "
             "--shrink-at 300ms --expand-at 600ms phases --runtime 1.5 --cpu-use 0.5 --pattern bsp\n");
  result_ =
      shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 30 " REPLAY_HOST_CLUSTER " 3 bash script", folder_.path());
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  EXPECT_TRUE(has_said("[node1 0] VERIFICATION SUCCESSFUL\n")) << result_.out;
  EXPECT_TRUE(has_said("6 ranks on cores 0,1 of node1, cores 0,1 of node2, cores 0,1 of node3, ")) << result_.err;
  EXPECT_TRUE(has_said("shrunk to 3 cores, 2 ranks on each, in ")) << result_.err;
}

// Both have the machine's two cores; repeated often enough to outlast the changes, of whose times the second waits for the first.
TEST_F(HostCluster, EveryKernelVerifiesOnRealCoresOfTwoWhileItIsShrunkAndExpanded) {
  const auto [cores, missing] = two_cores();
  if (!missing.empty()) GTEST_SKIP() << missing;
  write_text(folder_ / "hosts", fmt::format("node1 cores={0}\nnode2 cores={0}\n", cores));
  write_text(
      folder_ / "script",
      "kernel() { until " REPLAY_PROGRAM
      " run -n 4 --machine hosts:hosts --bootstrap \"$CLUSTER exec\" --lease 2s --shrink-at 10ms --expand-at 40ms "
      "$1 --class S --repeat $2 >out 2>err && grep -q 'shrink: shrunk to 2 cores, 2 ranks on each' err && "
      "grep -q 'expand: expanded on 4 cores' err\n"
      "do [ $2 -lt 100000 ] && grep -q SUCCESSFUL out || { cat out err; exit 1; }; set $1 $(($2 * 4)); done\n"
      "grep -q 'VERIFICATION SUCCESSFUL' out && echo $1; }\n"
      "kernel ep 1; kernel is 2; kernel cg 1; kernel mg 2; kernel ft 1; kernel lu 1\n");
  result_ =
      shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 200 " REPLAY_HOST_CLUSTER " 2 bash script", folder_.path());
  EXPECT_EQ(result_.status, 0);
  EXPECT_EQ(result_.out, "ep\nis\ncg\nmg\nft\nlu\n") << result_.err;
}

TEST_F(HostCluster, TwoAreCalibratedAndTheSimulatorReadsTheirProfile) {
  write_text(folder_ / "hosts", "node1 emulated=1x2\nnode2 emulated=1x2\n");
  write_text(folder_ / "script", REPLAY_PROGRAM
             " calibrate --machine hosts:hosts --bootstrap \"$CLUSTER exec\" --lease 2s --quick --spread 100 "
             "--processes 1,4 -o p.json\n");
  result_ =
      shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 60 " REPLAY_HOST_CLUSTER " 2 bash script", folder_.path());
  ASSERT_EQ(result_.status, 0) << result_.out << result_.err;
  Profile profile = read_profile((folder_ / "p.json").string());
  EXPECT_EQ(profile.machine.nodes, "2x1x2");
  EXPECT_EQ(profile.machine.hosts, (std::vector<std::string>{"node1", "node2"}));
  EXPECT_EQ(profile.launch.size(), 1U) << "of one process";
  ASSERT_EQ(profile.over_nodes.size(), 1U);
  CostsOnNodes& two = profile.over_nodes[0];
  ASSERT_EQ(two.launch.size() + two.end.size() + two.shrink.size() + two.expand.size(), 4U) << "of four";
  EXPECT_GT(two.launch[0].seconds.value, 0);
  EXPECT_GT(two.expand[0].seconds.value, 0);
  EXPECT_TRUE(has_said("processes over 2 nodes")) << result_.out;

  // A job of 10 s takes launch and end over two nodes longer.
  two.launch[0].seconds.value = 0.25, two.end[0].seconds.value = 0.125;
  write_profile(profile, (folder_ / "p.json").string());
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 10 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult simulated = shell(REPLAY_PROGRAM
                                      " simulate --trace t.swf --policy easy --machine 2x1x2 --runtime-model "
                                      "calibrated --profile p.json --out r",
                                      folder_.path());
  EXPECT_EQ(simulated.status, 0) << simulated.err;
  // The factor between the measured times may cost a microsecond.
  EXPECT_TRUE(std::regex_search(events(), std::regex("\n10\\.375(001)? finish job=1 outcome=completed"))) << events();
  EXPECT_EQ(text_of(folder_ / "r/run.json").find("another machine"), std::string::npos);
}

/// A job on each of them, and one of two hosts that comes later.
constexpr const char* kOneOnEach =
    "; MaxProcs: 6\n"
    "1 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 0 -1 600 2 300 -1 2 1000 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "3 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "4 1 -1 1 4 0.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n";

TEST_F(HostCluster, OneThatCrashesLosesItsJobsAndTheOthersGoOn) {
  write_text(folder_ / "t.swf", kOneOnEach);
  run("comes ' ranks job=2'; comes ' ranks job=3'; $CLUSTER crash node2", kListThem, "2s", "--policy easy");
  EXPECT_EQ(result_.status, 1) << "a job was lost";
  expect_events({"node node=1 state=down reason=\"the connection has ended", "finish job=2 outcome=lost .*\"node2: ",
                 "finish job=1 outcome=completed", "finish job=3 outcome=completed", "finish job=4 outcome=completed"});
  EXPECT_TRUE(has_said("node2 is down: the connection has ended")) << result_.out;
  EXPECT_NE(text_of(folder_ / "r/jobs/4/command").find("-hosts node1:2,node3:2"), std::string::npos);
}

TEST_F(HostCluster, OneThatHasCrashedIsNotWaitedForWhenTheRunIsToldToEnd) {
  run("$CLUSTER crash node2\nkill -TERM $run", kListThem, "1h");
  EXPECT_EQ(result_.status, 143) << result_.err;
  expect_events(
      {"node node=1 state=down reason=\"not heard of for", "finish job=1 outcome=killed .*\"node2: not heard of"});
}

TEST_F(HostCluster, ALostJobThatIsQueuedAgainRunsOnTheOthers) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("comes ' ranks job=2'; comes ' ranks job=3'; $CLUSTER crash node2", kListThem, "2s",
      "--policy easy --requeue-lost");
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  expect_events(
      {"requeue job=2 reason=\"node2: ", "start job=2 .* on=(0-1|4-5):1\n", "finish job=2 outcome=completed"});
}

// The daemon and a host go, and the daemon comes back.
TEST_F(HostCluster, OneThatCrashesWithTheDaemonLosesItsJobsToTheOthersInARunThatGoesOn) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("comes ' ranks job=2'; comes ' ranks job=3'; kill -9 $run; wait $run; $CLUSTER crash node2\n" REPLAY_PROGRAM
      " --resume r --plain &\nrun=$!",
      std::string{"sleep 5\n"} + kListThem, "6s", "--policy easy --requeue-lost --keep-jobs");
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  expect_events({"note text=\"the run goes on", "node node=1 state=down",
                 "requeue job=2 reason=\"node2: ", "start job=2 .* on=(0-1|4-5):1\n", "finish job=1 outcome=completed",
                 "finish job=2 outcome=completed", "finish job=3 outcome=completed"});
}

TEST_F(HostCluster, AValidationSimulatesTheOneThatHasCrashed) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 0 -1 6 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  write_text(folder_ / "script", fmt::format(R"sh(
{} validate --trace t.swf --policy easy --machine hosts:hosts --bootstrap "$CLUSTER exec" --lease 2s --requeue-lost --yes --out v &
run=$!
until [ "$(cat $(find v -path '*/real/events.log') </dev/null | grep -c ' ranks job=')" = 3 ]; do kill -0 $run || exit; sleep 0.1; done
$CLUSTER crash node2
wait $run
status=$?
mv $(find v -name sim) $(find v -name real) .
exit $status
)sh",
                                             REPLAY_PROGRAM));
  result_ =
      shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 100 " REPLAY_HOST_CLUSTER " 3 bash script", folder_.path());
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  for (const char* run : {"real", "sim"}) {
    const std::string log = text_of(folder_ / run / "events.log");
    for (const char* one : {"node node=1 state=down", "requeue job=2 ", "finish job=2 outcome=completed"})
      EXPECT_NE(log.find(one), std::string::npos) << one << " is not in " << run << "\n" << log;
  }
  EXPECT_TRUE(has_said("easy: they decide the same")) << result_.out;
}

// Job 1 is on two of them. One more comes under the new policy.
TEST_F(HostCluster, TheJobsOfAServiceOnThemAreAdoptedUnderAnotherPolicy) {
  write_text(
      folder_ / "job.sh",
      "[ $PMI_RANK = 0 ] && echo job $1 >>starts\nuntil [ -e go ]; do sleep 0.1; done\nexec phases --runtime 0.3\n");
  write_text(folder_ / "script", fmt::format(R"sh(
export PATH="$(dirname {0}):$(dirname {0})/../lib/replay:$PATH"
serve() {{
  replay serve --service s --machine hosts:hosts --bootstrap "$CLUSTER exec" --lease 30s --keep-jobs --plain --policy $1 >out-$1 2>&1 &
  service=$!
  until grep -q 'results in' out-$1; do kill -0 $service || exit 3; sleep 0.1; done
}}
run() {{ replay submit --service s -n $1 --time 10min -- sh job.sh $2 || exit 4; }}
until_jobs() {{ until [ $(replay jobs --all --service s | grep -c $2) = $1 ]; do kill -0 $service || exit 5; sleep 0.2; done; }}
serve easy
run 4 1; run 1 2; run 1 3
until [ $(wc -l <starts) = 3 ]; do kill -0 $service || exit 6; sleep 0.1; done
kill -9 $service; wait $service
serve fcfs-malleable
until_jobs 3 running
run 6 4
touch go
until_jobs 4 completed
kill -TERM $service; wait $service
)sh",
                                             REPLAY_PROGRAM));
  result_ =
      shell("CLUSTER=" REPLAY_HOST_CLUSTER " exec timeout 100 " REPLAY_HOST_CLUSTER " 3 bash script", folder_.path());
  const std::string said = text_of(folder_ / "out-easy") + text_of(folder_ / "out-fcfs-malleable");
  ASSERT_EQ(result_.status, 0) << result_.out << result_.err << said;
  EXPECT_NE(said.find("adopts 3 jobs of"), std::string::npos) << said;
  std::string starts = text_of(folder_ / "starts");
  EXPECT_EQ(std::count(starts.begin(), starts.end(), '\n'), 4) << starts;
  EXPECT_EQ(ends_in_logs(folder_ / "s/runs").ends, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}})) << said;
  EXPECT_TRUE(comes_true([this] { return processes_marked(folder_.path().string()).empty(); }));
}

TEST_F(HostCluster, TwoThatCrashLeaveOneToRunOn) {
  write_text(folder_ / "t.swf", std::string{kOneOnEach} + "5 2 -1 1 2 0.5 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("comes ' ranks job=2'; comes ' ranks job=3'; $CLUSTER crash node2; $CLUSTER crash node3; comes 'finish job=5'; "
      "kill -INT $run",
      kListThem, "2s", "--policy easy");
  EXPECT_EQ(result_.status, 130) << "job 4 waits for a host that may come back";
  expect_events({"finish job=2 outcome=lost .*\"node2: ", "finish job=3 outcome=lost .*\"node3: ",
                 "finish job=1 outcome=completed", "finish job=5 outcome=completed", "finish job=4 outcome=cancelled"});
}

TEST_F(HostCluster, WhenAllCrashTheRunEnds) {
  write_text(folder_ / "t.swf", std::string{kLong} + "2 1 -1 600 2 300 -1 2 1000 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("for n in 1 2 3; do $CLUSTER crash node$n; done", kListThem);
  EXPECT_EQ(result_.status, 1);
  EXPECT_TRUE(has_said("the run ended early: node")) << result_.err;
  expect_events({"finish job=1 outcome=(lost|failed)", "finish job=2 outcome=cancelled"});
}

TEST_F(HostCluster, OneWhoseAgentIsKilledComesBackAndJobsStartThere) {
  write_text(folder_ / "t.swf", std::string{kLong} + "2 1 -1 1 6 0.5 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("kill_agent_of node2", kListThem);
  EXPECT_EQ(result_.status, 1) << "a job was lost";
  expect_events({"state=down reason=\"the connection has ended, and the agent there has started anew",
                 "finish job=1 outcome=lost .*\"node2: the connection has ended", "node node=1 state=up",
                 "finish job=2 outcome=completed"});
  EXPECT_NE(text_of(folder_ / "r/jobs/2/command").find("-hosts node1:2,node2:2,node3:2"), std::string::npos);
}

TEST_F(HostCluster, OneWhoseDoorIsKilledIsStartedAgain) {
  write_text(folder_ / "t.swf", std::string{kLong} + "2 1 -1 1 6 0.5 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("$CLUSTER exec node2 sh -c 'kill -9 $(grep -lx replay /proc/[0-9]*/comm | cut -d/ -f3)'", kListThem);
  EXPECT_EQ(result_.status, 1) << "a job was lost";
  expect_events({"finish job=1 outcome=lost .*\"node2: ", "node node=1 state=down", "node node=1 state=up",
                 "finish job=2 outcome=completed"});
}

TEST_F(HostCluster, OneThatIsCutOffForLessThanTheLeaseLosesNothing) {
  write_text(folder_ / "t.swf", "; MaxProcs: 6\n1 0 -1 6 6 3 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  run("$CLUSTER link node2 down; comes 'node=1 state=silent'; $CLUSTER link node2 up", kListThem, "8s");
  EXPECT_EQ(result_.status, 0) << result_.out << result_.err;
  expect_events({"node node=1 state=silent reason=\"the line is cut [(]the node agent has not been heard of for 4 s",
                 "node node=1 state=up reason=\"the line is mended", "finish job=1 outcome=completed"});
  EXPECT_FALSE(has_event("state=down"));
}

// Its ranks run on until the process at its door ends it.
TEST_F(HostCluster, OneWhoseAgentIsStoppedHasEndedItsJobsWhenItIsDown) {
  write_text(folder_ / "t.swf", kOneOnEach);
  run("comes ' ranks job=2'\n"
      "$CLUSTER exec node2 sh -c 'kill -STOP $(grep -lx replay-agent /proc/[0-9]*/comm | cut -d/ -f3)'\n"
      "comes 'node=1 state=down'; $CLUSTER exec node2 sh -c 'cat /proc/[0-9]*/comm' | grep phases >left; kill -INT "
      "$run",
      ":", "4s", "--policy easy");
  expect_events({"node node=1 state=silent", "node node=1 state=down", "finish job=2 outcome=lost .*\"node2: "});
}

// With mpiexec, for whose agent the others keep what their proxies had to say.
TEST_F(HostCluster, OneThatIsCutOffForLongerIsDownAndEndsItsPartItself) {
  run("$CLUSTER link node1 down", kListThem);
  EXPECT_EQ(result_.status, 1);
  expect_events({"node node=0 state=silent",
                 "node node=0 state=down reason=\"the node agent has not been heard of for 2 s",
                 "finish job=1 outcome=lost .*\"node1: "});
  const std::string log = events();
  const auto time_of = [&log](const std::string& what) {
    std::smatch found;
    return std::regex_search(log, found, std::regex("\n([0-9.]+) " + what)) ? std::stod(found[1].str()) : -1;
  };
  EXPECT_LT(time_of("finish job=1") - time_of("node node=0 state=down"), 3.5) << "on the other hosts" << log;
}

}  // namespace
}  // namespace replay::test
