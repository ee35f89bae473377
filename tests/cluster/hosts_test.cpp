// Tests of traces that run on the hosts of a file: jobs span them, and what they have to have alike, and may have of their own.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "scheduler/live/engine.hpp"
#include "tests/support/hosts_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

TEST_F(Hosts, AJobSpansThemAndIsShrunkAndExpandedOnBoth) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 4\n"
             "1 0 -1 3 4 1.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.5 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(on_hosts("t.swf")), 0) << output();
  expect_all_verified(2);
  EXPECT_NE(text_of(folder_ / "r/run.json").find("\"disturbed\": null"), std::string::npos)
      << "nothing watches the hosts";
  EXPECT_NE(output().find("note: what other programs used of the cores is not known"), std::string::npos) << output();
  EXPECT_NE(events().find("#machine emulated:2x1x2\n"), std::string::npos) << events();
  EXPECT_NE(events().find("resized job=1 cores=2"), std::string::npos) << events();
  EXPECT_NE(events().find("resized job=1 cores=4"), std::string::npos) << events();
  expect_nothing_left();
}

TEST_F(Hosts, AreThoseOfAJobOfSlurmAndTheirAgentsAreItsSteps) {
  be_in_a_job_of_slurm(std::chrono::minutes{10});
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 0.3 4 0.3 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(on_slurm("t.swf", "slurm:emulated=1x2")), 0) << output();
  EXPECT_NE(output().find("4 emulated cores of 2 hosts of Slurm job 17"), std::string::npos) << output();
  expect_all_verified(1);
  const std::string words = text_of(folder_ / "words");
  EXPECT_NE(words.find("--overlap --whole --nodes=1 --ntasks=1"), std::string::npos) << words;
  EXPECT_NE(words.find("--nodelist 127.0.0.2 " REPLAY_PROGRAM " agent --key - "), std::string::npos) << words;
  expect_nothing_left();
}

TEST_F(Hosts, ANetworkDeviceThatOneDoesNotHaveIsNamed) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x2 iface=lo\n127.0.0.2 emulated=1x2 iface=eth9x\n");
  EXPECT_EQ(run(on_hosts("long.swf")), 1);
  const std::string one = "host 127.0.0.2: replay: --iface: expected a network device of this host, ";
  EXPECT_NE(output().find(one), std::string::npos) << output();
  EXPECT_NE(output().find("found 'eth9x'"), std::string::npos) << output();
  EXPECT_EQ(output().find("host 127.0.0.1:"), std::string::npos) << output();
  expect_nothing_left();
}

TEST_F(Hosts, OfAJobOfPbsAreThoseOfItsFileWithACoreForEachLine) {
  write_text(folder_ / "17.server", "127.0.0.2\n127.0.0.1\n127.0.0.2\n");
  set("PBS_NODEFILE", (folder_ / "17.server").string());
  write_text(folder_ / "t.swf", "; MaxProcs: 3\n1 0 -1 0.3 3 0.3 -1 3 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto words = on_hosts("t.swf", "easy");
  *(std::ranges::find(words, "--machine") + 1) = "pbs";
  EXPECT_EQ(run(words), 0) << output();
  EXPECT_NE(output().find("3 cores of 2 hosts of 17.server"), std::string::npos) << output();
  EXPECT_NE(events().find("#machine 1x1x2+1x1x1\n#hosts 127.0.0.2 127.0.0.1\n"), std::string::npos) << events();
  expect_all_verified(1);
  expect_nothing_left();
}

TEST_F(Hosts, OutsideOfAJobOfPbsThereAreNone) {
  set("PBS_NODEFILE", "");
  EXPECT_EQ(run(on_slurm("long.swf", "pbs")), 2);
  EXPECT_NE(output().find("--machine pbs: expected to run inside a job of PBS or Torque (qsub), found no PBS_NODEFILE"),
            std::string::npos)
      << output();
}

TEST_F(Hosts, OfAJobOfSlurmAreLeftBeforeItsTimeLimit) {
  be_in_a_job_of_slurm(live::kBeforeMachineEnd + std::chrono::seconds{4});
  EXPECT_EQ(run(on_slurm("long.swf", "slurm:emulated=1x2")), 1);
  EXPECT_NE(output().find("no further job was started: the time limit of Slurm job 17 is 30 s away"), std::string::npos)
      << output();
  EXPECT_NE(events().find("finish job=1 outcome=killed"), std::string::npos) << events();
  expect_nothing_left();
}

TEST_F(Hosts, OfAJobOfSlurmThatIsNearlyOverAreNotUsed) {
  be_in_a_job_of_slurm(std::chrono::seconds{20});
  EXPECT_EQ(run(on_slurm("long.swf", "slurm")), 1);
  EXPECT_NE(output().find("s left: expected more than 30 s"), std::string::npos) << output();
  EXPECT_EQ(text_of(folder_ / "words"), "") << "an agent was started";
}

TEST_F(Hosts, OutsideOfAJobOfSlurmThereAreNone) {
  EXPECT_EQ(run(on_slurm("long.swf", "slurm")), 2);
  EXPECT_NE(output().find("--machine slurm: expected to run inside a job of Slurm"), std::string::npos) << output();
}

TEST_F(Hosts, AKernelVerifiesOnRealCoresOfBoth) {
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto all = on_hosts("t.swf");
  all.insert(all.end(), {"--program", "cg --class S"});
  EXPECT_EQ(run(all), 0) << output();
  expect_all_verified(1);
}

TEST_F(Hosts, JobsThatShareCoresAreOnTurnOnAllOfThemAtOnce) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 2\n"
             "1 0 -1 2 2 2 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.1 -1 2 2 2 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const std::string cores = two_cores().list;
  const auto comma = cores.find(',');
  write_text(folder_ / "two.hosts",
             fmt::format("127.0.0.1 cores={}\n127.0.0.2 cores={}\n", cores.substr(0, comma), cores.substr(comma + 1)));
  shape_ = "2x1x1";
  const auto running = daemon(on_hosts("t.swf", "fcfs-malleable:share=first:max_slowdown=3"));
  // Seen to be stopped with all ranks while none of the other job's is.
  std::set<std::string> jobs;
  EXPECT_TRUE(comes_true([&] {
    std::map<std::string, std::string> ranks;
    (void)those([&ranks](pid_t pid, const ProcessStat& stat) {
      if (stat.name == "phases") ranks[environment_value(pid, "REPLAY_VM_KEY").value_or("")] += stat.state;
      return false;
    });
    const auto is_stopped = [](const auto& job) { return job.second == "TT"; };
    const auto runs = [](const auto& job) { return job.second.size() == 2 && job.second.find('T') == job.second.npos; };
    if (std::ranges::any_of(ranks, runs))
      for (const auto& job : ranks | std::views::filter(is_stopped)) jobs.insert(job.first);
    return jobs.size() == 2;
  })) << events();
  EXPECT_EQ(running->wait(), 0) << output();
  expect_all_verified(2);
  expect_nothing_left();
}

TEST_F(Hosts, TheRanksUseTheDeviceOfTheirHostAndPortsThatCanBeClosed) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x2 iface=lo\n127.0.0.2 emulated=1x2\n");
  const auto running = with_a_spanning_job();
  EXPECT_TRUE(environment_has(rank(0), "UCX_NET_DEVICES=lo"));
  EXPECT_FALSE(environment_has(rank(3), "UCX_NET_DEVICES=lo"));
  for (const int number : {0, 3})
    EXPECT_TRUE(environment_has(rank(number), "UCX_TCP_PORT_RANGE=26000-29999")) << number;
  running->send(SIGINT);
  EXPECT_EQ(running->wait(), 130);
}

TEST_F(Hosts, WhatIsNotAlikeOnThemIsNamedBeforeTheFirstJob) {
  const std::string hidden = "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none " +
                             (folder_ / "hidden").string() + " && exec \"$@\"' sh ";
  fs::create_directory(folder_ / "hidden");
  if (shell(hidden + "true").status != 0) GTEST_SKIP() << "needs user namespaces";
  fs::create_directory(folder_ / "bin");
  write_text(folder_ / "bin/mpiexec", "#!/bin/sh\necho ' Version: 9.9'\n");
  fs::permissions(folder_ / "bin/mpiexec", fs::perms::owner_all);
  write_text(folder_ / "hidden/program", "#!/bin/sh\n");
  fs::permissions(folder_ / "hidden/program", fs::perms::owner_all);
  write_text(folder_ / "start.sh", "#!/bin/sh\nhost=$1\nshift\n[ $host = 127.0.0.1 ] && exec \"$@\"\nPATH=" +
                                       (folder_ / "bin").string() + ":$PATH\nexec " + hidden + "\"$@\"\n");
  auto words = on_hosts("long.swf");
  std::ranges::replace(words, (folder_ / "r").string(), (folder_ / "hidden/r").string());
  words.insert(words.end(), {"--program", (folder_ / "hidden/program").string()});
  EXPECT_EQ(run(words), 1);
  const std::string host = "\n  host 127.0.0.2: ";
  const std::string program = (folder_ / "hidden/program").string();
  for (const std::string& line :
       {host + (folder_ / "hidden/r").string() + ": is not the folder of this run there (.word-",
        host + "program " + program + ": not found there, or not executable",
        host + "MPI: expected that of 127.0.0.1, MPICH 4.0.2, found MPICH 9.9"})
    EXPECT_NE(output().find(line), std::string::npos) << output();
  EXPECT_EQ(output().find("host 127.0.0.1: "), std::string::npos) << output();
  EXPECT_FALSE(fs::exists(folder_ / "hidden/r")) << "the next try finds no folder of a run";
  expect_nothing_left();
}

TEST_F(Hosts, OneWithAnotherVmlibIsNamed) {
  const fs::path ours = fs::path{REPLAY_PROGRAM}.parent_path().parent_path(), other = folder_ / "other";
  fs::create_directories(other / "bin");
  fs::copy(REPLAY_PROGRAM, other / "bin/replay");
  fs::copy(ours / "lib", other / "lib", fs::copy_options::recursive);
  write_text(other / "lib/replay/libreplay-vm.so", text_of(ours / "lib/replay/libreplay-vm.so") + "later");
  write_text(folder_ / "start.sh", "#!/bin/sh\nhost=$1\nshift\n[ $host = 127.0.0.1 ] && exec \"$@\"\nshift\nexec " +
                                       (other / "bin/replay").string() + " \"$@\"\n");
  EXPECT_EQ(run(on_hosts("long.swf")), 1);
  EXPECT_NE(output().find("\n  host 127.0.0.2: vmlib: expected that of 127.0.0.1, SHA-256 "), std::string::npos)
      << output();
  expect_nothing_left();
}

TEST_F(Hosts, AProgramIsLookedUpWhereItRuns) {
  fs::create_directory(folder_ / "bin");
  fs::create_symlink(fs::path{REPLAY_PROGRAM}.parent_path().parent_path() / "lib/replay/ep",
                     folder_ / "bin/only-there");
  write_text(folder_ / "start.sh", "#!/bin/sh\nshift\nPATH=" + (folder_ / "bin").string() + ":$PATH exec \"$@\"\n");
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto words = on_hosts("t.swf");
  words.insert(words.end(), {"--program", "only-there --class S"});
  EXPECT_EQ(run(words), 0) << output();
  expect_all_verified(1);
}

TEST_F(Hosts, LabelsNameThem) {
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const auto ep = fs::path{REPLAY_PROGRAM}.parent_path().parent_path() / "lib/replay/ep";
  auto words = on_hosts("t.swf");
  words.insert(words.end(), {"--label", "--program", "sh -c 'echo here; exec " + ep.string() + " --class S'"});
  EXPECT_EQ(run(words), 0) << output();
  expect_all_verified(1);
  const std::string said = text_of(folder_ / "r/jobs/1/stdout");
  EXPECT_NE(said.find("[127.0.0.1 0] here\n"), std::string::npos) << said;
  EXPECT_NE(said.find("[127.0.0.2 1] here\n"), std::string::npos) << said;
}

TEST_F(Hosts, ADryRunPrintsThemAndHowTheirAgentsAreStarted) {
  auto words = on_hosts("long.swf");
  words.emplace_back("--dry-run");
  EXPECT_EQ(run(words), 0) << output();
  EXPECT_NE(output().find("4 emulated cores of 2 hosts of two.hosts, as emulated:2x1x2\n"), std::string::npos)
      << output();
  EXPECT_NE(output().find("\nhost 127.0.0.2: 2 emulated cores"), std::string::npos) << output();
  EXPECT_NE(
      output().find(" in 1 package (0,1), agent started by " + (folder_ / "start.sh").string() +
                    " 127.0.0.2 " REPLAY_PROGRAM " agent --key - --listen 0.0.0.0:0 --stay --machine emulated:1x1x2\n"),
      std::string::npos)
      << output();
  EXPECT_NE(output().find("\njob 1: at 0 s, starts at 0 s on 127.0.0.1 0,1; 127.0.0.2 0,1, mpiexec -n 4 "),
            std::string::npos)
      << output();
  expect_nothing_left();
}

TEST_F(Hosts, ThatDifferAreUsedWithAllTheirCoresAndSimulatedAlike) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x4\n127.0.0.2 emulated=1x2\n");
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 0.6 6 0.6 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.1 -1 0.3 3 0.3 -1 3 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  shape_ = "1x1x4+1x1x2";
  EXPECT_EQ(run(on_hosts("t.swf", "easy")), 0) << output();
  EXPECT_EQ(output().find("left out"), std::string::npos) << output();
  EXPECT_NE(events().find("#machine emulated:1x1x4+1x1x2\n"), std::string::npos) << events();
  EXPECT_NE(events().find("#hosts 127.0.0.1 127.0.0.2\n"), std::string::npos) << events();
  EXPECT_NE(text_of(folder_ / "r/run.json").find("\"hosts\": [\n    \"127.0.0.1\",\n    \"127.0.0.2\"\n  ]"),
            std::string::npos)
      << text_of(folder_ / "r/run.json");
  EXPECT_NE(text_of(folder_ / "r/jobs.csv").find(",127.0.0.1 127.0.0.2\n"), std::string::npos)
      << text_of(folder_ / "r/jobs.csv");
  expect_all_verified(2);
  const std::string simulated = (folder_ / "s").string();
  EXPECT_EQ(run({"simulate", "--trace", (folder_ / "t.swf").string(), "--policy", "easy", "--machine", shape_, "--out",
                 simulated}),
            0)
      << output();
  EXPECT_EQ(run({"diff", (folder_ / "r").string(), simulated, "--tolerance", "5"}), 0) << output();
  EXPECT_NE(output().find("sim, machine 1x1x4+1x1x2, 2 jobs"), std::string::npos) << output();
}

TEST_F(Hosts, ThatDifferAreCutForAPolicyThatNeedsEqualOnesAndItIsSaid) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x5\n127.0.0.2 emulated=1x4\n");
  write_text(folder_ / "t.swf", "; MaxProcs: 5\n1 0 -1 0.3 5 0.3 -1 5 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  shape_ = "2x1x4";
  std::vector<std::string> arguments = on_hosts("t.swf", "g-lomarc-ts");
  arguments.insert(arguments.end(), {"--runtime-model", "pairs"});
  EXPECT_EQ(run(arguments), 0) << output();
  EXPECT_NE(
      output().find("note: g-lomarc-ts needs equal nodes: of 1x1x5+1x1x4 it has 2x1x4, and 1 of 9 cores are left out"),
      std::string::npos)
      << output();
  EXPECT_NE(events().find("#machine emulated:2x1x4\n"), std::string::npos) << events();
  EXPECT_NE(events().find(" on=0-4:1\n"), std::string::npos) << events();
  const std::string command = text_of(folder_ / "r/jobs/1/command");
  EXPECT_NE(command.find("-hosts 127.0.0.1:4,127.0.0.2:1"), std::string::npos)
      << "core 4 of the run is the first of the second host: " << command;
  expect_all_verified(1);
}

}  // namespace
}  // namespace replay::test
