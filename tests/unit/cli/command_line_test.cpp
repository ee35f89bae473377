// Tests of the command line, mainly with wrong input: messages and exit status. No MPI here.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/first_core.hpp"
#include "tests/unit/cli/command_line_fixture.hpp"

namespace replay::test {
namespace {

TEST_F(CommandLine, ATimeLimitWithoutAUnitIsRefused) {
  for (const char* time : {"30", "0090", "1.5"})
    expect_complaint(std::string("submit --time ") + time + " sh", 2, {"--time", "without a unit", "min"});
  for (const char* time : {"30:00", "1-0", "01:30:00"})
    expect_complaint(std::string("submit --time ") + time + " sh", 2, {"--time", "10min or 2h", time});
  expect_complaint("serve --service s --policy none-such --default-time 30", 2, {"--default-time", "30s or 30min"});
}

TEST_F(CommandLine, AMessageThatQuotesAFileDoesNotReachTheTerminalAsItIs) {
  const std::string bad = "\x1b]0;title\x07\x1b[2J\xff\x9b";
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n; Acknowledge: " + bad + "\n; UnixStartTime: " + bad +
                                    "\n; StartTime: " + bad + "\n" + std::string(kTwoJobs).substr(14) + bad + "\n");
  write_text(folder_ / "p.swf", "; Program: " + bad + "\n" + kTwoJobs);
  write_text(folder_ / "t.jobs.csv", "job,flexibility\n1," + bad + "\n");
  write_text(folder_ / "events.log", "#replay-events 1\n#machine " + bad + "\n1 " + bad + "\n");
  write_text(folder_ / "run.json", "{\"a\": " + bad);
  write_text(folder_ / "jobs.csv", "job_id," + bad + "\n");
  const std::string name = "'" + bad + ".swf'";
  write_text(folder_ / (bad + ".swf"), std::string(kTwoJobs) + "3 6 -1 ten\n");
  write_text(folder_ / "two.swf", kTwoJobs);
  (void)replay("simulate --policy easy --trace two.swf --out cut");
  write_text(folder_ / "cut/events.log", text_of(folder_ / "cut/events.log") + "#cut " + bad + "\n");
  ASSERT_EQ(shell("cp -r cut " + name + ".run", folder_.path()).status, 0);
  const std::string run = name + ".run";
  write_text(folder_ / "study.toml", "[axes]\npolicy = [\"easy\"]\n[fixed]\ntrace = \"two.swf\"\n");
  std::filesystem::create_directories(folder_ / "out/running");
  std::filesystem::create_directories(folder_ / "out/cells");
  write_text(folder_ / ("out/running/1-of-1." + bad + ".5.5"), "");
  const std::vector<std::string> tried = {"trace info t.swf",
                                          "trace validate t.swf",
                                          "simulate --trace t.swf --policy easy --jobs-from /dev/null",
                                          "simulate --trace t.swf --policy easy",
                                          "simulate --trace t.swf --policy easy --strict",
                                          "trace info p.swf",
                                          "why . 1",
                                          "diff . .",
                                          "rerun .",
                                          "audit . --rule easy",
                                          "trace sort t.swf -o /dev/null",
                                          "trace match t.swf --profile run.json -o /dev/null",
                                          "trace forecast t.swf",
                                          "simulate --trace t.swf --policy scojo-p:predict=run.json",
                                          "trace validate " + name,
                                          "trace info " + name,
                                          "trace clean " + name + " -o /dev/null",
                                          "simulate --policy easy --outputs none --trace " + name,
                                          name,
                                          "help " + name,
                                          "simulate --" + name,
                                          "run " + name,
                                          "generate " + name,
                                          "policies " + name,
                                          "results cut",
                                          "why cut 1",
                                          "diff cut cut",
                                          "plot cut --figure ecdf -o x.svg",
                                          "export cut --to csv",
                                          "simulate --policy easy --trace two.swf --out " + name + ".new",
                                          "results " + run,
                                          "results --json " + run,
                                          "report " + run,
                                          "plot --figure ecdf " + run + " -o " + run + "/x.svg",
                                          "rerun " + run,
                                          "sweep study.toml -o out --status"};
  for (const std::string& arguments : tried) {
    const ShellResult result = replay(arguments);
    const std::string said = result.out + result.err;
    EXPECT_NE(said, "") << arguments;
    for (const char* byte : {"\x1b", "\xff", "\x9b", "\x07"})
      EXPECT_EQ(said.find(byte), std::string::npos) << arguments << "\n" << said;
  }
}

TEST_F(CommandLine, TheSideFileOfATraceCountsAndIsAnInputOfTheRun) {
  write_text(folder_ / "t.swf", kTwoJobs);
  const std::string run = "simulate --policy fcfs-malleable --runtime-model isolated --machine flat:4 --trace ";
  const auto start_of_second = [this] {
    const std::string jobs = text_of(folder_ / "r" / "schedule.swf");
    return jobs.substr(jobs.find("\n2 ") + 1, 7);
  };
  ASSERT_EQ(replay(run + "t.swf --out r").status, 0);
  EXPECT_EQ(start_of_second(), "2 5 0 1") << "the first job is shrunk for it";
  write_text(folder_ / "t.jobs.csv", "job,flexibility\n1,rigid\n");
  ASSERT_EQ(replay(run + "t.swf --out r --force").status, 0);
  EXPECT_EQ(start_of_second(), "2 5 5 1") << "a rigid job is not";
  EXPECT_NE(text_of(folder_ / "r" / "run.json").find("t.jobs.csv"), std::string::npos);
  const ShellResult piped = replay(run + "- --jobs-from t.jobs.csv --out r --force <t.swf");
  ASSERT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(start_of_second(), "2 5 5 1");
  write_text(folder_ / "t.jobs.csv", "job,flexibility\n1,stiff\n");
  expect_complaint(run + "t.swf", 1, {"t.jobs.csv:2", "flexibility", "rigid, moldable or malleable", "stiff"});
}

TEST_F(CommandLine, PairingIsBlockOrCyclic) {
  write_text(folder_ / "t.swf", kTwoJobs);
  expect_complaint("--trace t.swf --policy fcfs --pairing sideways", 2, {"--pairing", "sideways", "block", "cyclic"});
}

TEST_F(CommandLine, WrongPoliciesAreNamedWithTheNearest) {
  write_text(folder_ / "t.swf", kTwoJobs);
  expect_complaint("simulate --trace t.swf --policy easy --seed soon", 2,
                   {"--seed: expected a number from 0 to 18446744073709551615, found 'soon'"});
  expect_complaint("simulate --trace t.swf --policy easy --jobs -3", 2,
                   {"--jobs: expected a number from 1 to 2147483647, found '-3'"});
  expect_complaint("simulate --trace t.swf --policy easy --overrun stop", 2,
                   {"--overrun: expected one of kill,extend,policy, found 'stop'"});
  expect_complaint("why r x", 2, {"JOB: expected a number from", "found 'x'"});
  expect_complaint("simulate --trace t.swf --policy easi", 2, {"unknown policy 'easi'", "did you mean 'easy'"});
  expect_complaint("simulate --trace t.swf --policy easy:pas=event", 2, {"no parameter 'pas'", "'pass'"});
  expect_complaint("simulate --trace t.swf --policy fcfs-malleable:max_mpl=99", 2, {"max_mpl", "1..64", "'99'"});
  expect_complaint("simulate --trace t.swf", 2, {"--policy"});
  expect_complaint("simulate --policy easy", 2, {"--trace"});
  expect_complaint("simulate --trace t.swf --policy easy --runtime-model utrea", 2, {"utrera"});
  expect_complaint("simulate --trace t.swf --policy easy --no-such-option", 2, {"--no-such-option"});
  expect_complaint("simulate --trace t.swf --policy easy --outputs job", 2, {"job"});
  expect_complaint("simulate --trace t.swf --policy easy --until soon", 2, {"--until", "soon"});
  expect_complaint("--trace t.swf --policy easy --time-scale 0", 2, {"--time-scale"});
  expect_complaint("--trace t.swf --policy easy --machine flat:4", 2, {"flat:4", "local", "emulated:8x2x2"});
  expect_complaint("--trace t.swf --policy easy --back-end futex", 2, {"--back-end", "futex", "yield"});
}

TEST_F(CommandLine, OptionsThatACommandDoesNotHaveAreNamedWithTheNearest) {
  expect_complaint("--polcy easy", 2, {"replay: there is no option '--polcy'; did you mean '--policy'?"});
  expect_complaint("generate lublin --machine=2", 2, {"replay generate lublin:", "'--machine'", "'--machine-size'"});
  expect_complaint("simulate --wordless-nonsense", 2, {"'--wordless-nonsense'", "`replay simulate --help`"});
  expect_complaint("simulate --time-scale 2", 2,
                   {"'--time-scale'; it belongs to `replay`, `replay validate`, `replay trace match`\n"});
  expect_complaint("export --format csv", 2, {"'--format'; see `replay export --help`\n"});
  expect_complaint("simulate --polciy easy", 2, {"did you mean '--policy'?"});
  expect_complaint("generate --load 90 lublin", 2,
                   {"replay: --load stands before the command: expected `replay generate lublin --load ...`\n"});
  expect_complaint("generate --load 90", 2,
                   {"replay generate: there is no option '--load'; it belongs to `replay trace scale`, "
                    "`replay generate lublin`\n"});
  expect_complaint("trace info a b c", 2, {"replay trace info: expected no further word, found 'b'"});
}

TEST_F(CommandLine, WhatIsMissingIsSaidInOurWords) {
  for (const auto& [arguments, words] :
       {std::pair{"diff a", "replay diff: expected B, the second run\n"},
        {"plot a -o b.svg", "replay plot: expected --figure, one of "},
        {"simulate --policy", "replay simulate: --policy: expected a value (LIST)\n"},
        {"simulate --trace", "replay simulate: --trace: expected a value (FILE)\n"},
        {"trace", "replay trace: expected a command; known: "},
        {"generate lublin --load 0.9 --load 0.8", "replay generate lublin: --load: expected once, found 2 times\n"},
        {"simulate --seed 1 --seeds 1-3", "replay simulate: --seed: expected without --seeds\n"}})
    expect_complaint(arguments, 2, {words});
}

TEST_F(CommandLine, NumbersThatDoNotFitAreRefusedByEveryOption) {
  constexpr const char* kOptions[] = {"simulate --seed",
                                      "simulate --jobs",
                                      "--seed",
                                      "validate --seed",
                                      "generate lublin --seed",
                                      "generate lublin --jobs",
                                      "generate lublin --machine-size",
                                      "generate lublin --start-hour",
                                      "generate from-log t.swf --seed",
                                      "generate from-log t.swf --sets",
                                      "generate from-log t.swf --jobs",
                                      "trace declare t.swf --seed",
                                      "trace cut t.swf --first",
                                      "trace cut t.swf --skip",
                                      "trace scale t.swf --sizes",
                                      "trace scale t.swf --machine-size",
                                      "trace clean t.swf --flurry-jobs",
                                      "trace convert t.swf --machine-size",
                                      "reproduce slack --jobs",
                                      "reproduce dynp --sets",
                                      "reproduce scojo-p --seeds",
                                      "audit --machine-size",
                                      "audit --max",
                                      "diff a b --max",
                                      "why a 1 --max",
                                      "why a 1 --lines",
                                      "run -n",
                                      "run --to",
                                      "submit -n",
                                      "submit --queue",
                                      "cancel"};
  for (const char* option : kOptions)
    for (const char* number : {"-1", "18446744073709551616", "-18446744073709551615", "0x10", "1e3", "1.5"})
      expect_complaint(fmt::format("{} {}", option, number), 2, {"expected a number from "});
  EXPECT_EQ(replay("generate lublin --jobs 0010 --seed 9223372036854775807 -o t.swf").status, 0) << "decimal digits";
  EXPECT_EQ(text_of(folder_ / "t.swf").find("\n11 "), std::string::npos);
}

TEST_F(CommandLine, TwoDashesEndTheOptionsOfEveryCommand) {
  write_text(folder_ / "t.swf", kTwoJobs);
  write_text(folder_ / "-t.swf", kTwoJobs);
  for (const char* run : {"a", "b"})
    ASSERT_EQ(replay(std::string("simulate --trace t.swf --policy easy --out ") + run).status, 0);
  for (const char* good : {"trace info -- t.swf", "trace info -- -t.swf", "trace cut --jobs 1-2 -- -t.swf",
                           "audit --rule easy -- a", "diff -- a b", "diff a -- b", "why -- a 2", "why a -- 2",
                           "results -- a", "report -o p.html -- a b", "report a -o q.html -- b"})
    EXPECT_EQ(replay(good).status, 0) << good << ": " << replay(good).err;
  // So does a word that looks like an option, where the command has one already.
  ASSERT_EQ(replay("simulate --trace t.swf --policy easy --out ./-b").status, 0);
  for (const char* good : {"diff a -- -b", "diff -- -b a", "diff -- -b -b", "report a -o q.html -- -b",
                           "report -o q.html -- a -b", "results -- -b"})
    EXPECT_EQ(replay(good).status, 0) << good << ": " << replay(good).err;
  expect_complaint("results a -- -b", 2, {"replay results: expected no further word, found '-b'"});
  expect_complaint("why a -- -2", 1, {"there is no job -2"});
  expect_complaint("why a 1 -- --json", 2, {"replay why: expected no further word, found '--json'"});
  expect_complaint("diff a -- --no-such", 2, {"--no-such"});
  // The words behind it are those of the program, however they look; there is no service here.
  for (const char* words : {"-- sh -c 'exit 3'", "-n 2 --time 1min --rigid -- sh -c 'exit 3'",
                            "-n2 --time=1min -- ls --help", "sh -- -c", "-- sh -n 2"})
    expect_complaint(std::string("submit --service none ") + words, 1, {"no service at"});
  expect_complaint("submit --service none -- --wait", 1, {"--wait: expected a program"});
  expect_complaint("submit --service none --", 2, {"submit: expected a program"});
  expect_complaint("submit --service none --wiat -- ls", 2,
                   {"replay submit: there is no option '--wiat'; did you mean '--wait'?"});
  expect_complaint("submit --tim 5min -- ls", 2, {"did you mean '--time'?"});
  expect_complaint("run --turn=20ms ls", 2, {"replay run: there is no option '--turn'; it belongs to `replay"});
  expect_complaint("simulate --trace t.swf --policy easy --machine hosts:lab.hosts", 2,
                   {"--machine hosts:lab.hosts: is one of real runs; a simulation takes its shape"});
  expect_complaint("simulate --trace t.swf --policy easy --machine ''", 2, {"--machine: expected a machine"});
  expect_complaint("run -- no-such-program --help", 127, {"no-such-program"});
  expect_complaint("-- x", 2, {"replay: expected a command, found 'x'"});
  expect_complaint("--policy easy -- --x", 2, {"replay: expected a command, found '--x'"});
}

TEST_F(CommandLine, TheFolderOfAServiceIsGivenAndMayBeUsed) {
  for (const char* command : {"jobs", "serve", "submit", "cancel 1"})
    expect_complaint(std::string(command) + " --service ''", 2, {"--service: expected a folder, found ''"});
  std::filesystem::create_directory(folder_ / "s");
  std::filesystem::permissions(folder_ / "s", std::filesystem::perms{0500});
  expect_complaint("serve --machine emulated:1x1x2 --service s", 1,
                   {"/s: expected a folder that you may read, write and enter (mode 0700), found mode 0500"});
}

TEST_F(CommandLine, HelpOnACommandThatIsNotThereNamesTheNearest) {
  for (const char* words : {"help simulate2", "simulate2 --help"})
    expect_complaint(words, 2, {"replay: expected a command, found 'simulate2'; did you mean 'simulate'?"});
  expect_complaint("help trace cutt", 2, {"replay trace: expected a command, found 'cutt'; did you mean 'cut'?"});
  for (const char* good : {"help", "help simulate", "help trace", "help trace cut", "trace --help", "help run ls"})
    EXPECT_EQ(replay(good).status, 0) << good;
}

TEST_F(CommandLine, EmulatedMachinesThatCannotBeAreRefused) {
  write_text(folder_ / "t.swf", kTwoJobs);
  const std::string run = "--trace t.swf --policy easy --machine emulated:";
  for (const char* machine : {"", "0x2x2", "flat:8", "2x2x2x2"})
    expect_complaint(run + machine, 2, {"emulated:", "NODESxPACKAGESxCORES"});
  expect_complaint(run + "4097x1x1", 2, {"4097", "4096"});
  expect_complaint(run + "2x2x2 --smt", 2, {"--smt", "emulated"});
  expect_complaint(run + "2x2x2 --back-end yield", 2, {"--back-end", "token"});
  for (const char* quantum : {"0", "10us", "2s", "soon", "-5ms"})
    expect_complaint(run + "2x2x2 --quantum=" + quantum, 2, {"--quantum", "1ms", quantum});
  expect_complaint(run + "2x2x2 --turn 20ms", 2, {"--turn 20ms", "take no turns", "--quantum"});
  expect_complaint("--trace t.swf --policy easy --machine local --quantum 5ms", 2,
                   {"--quantum 5ms", "expected --turn"});
  for (const char* turn : {"10us", "2s", "soon", "-5ms"})
    expect_complaint(run + "2x2x2 --turn=" + turn, 2, {"--turn", "expected 0 or", "1ms", turn});
  expect_complaint(run + "1x1x3", 1, {"job 1", "needs 4", "has 3"});
}

TEST_F(CommandLine, AMachineWithoutHalvesOfNodesIsRefusedWithOneOfItsSize) {
  write_text(folder_ / "t.swf", kTwoJobs);
  for (const auto& [machine, hint] : {std::pair{"flat:100", "try --machine 25x2x2"}, {"flat:8", "try --machine 2x2x2"}})
    expect_complaint(fmt::format("simulate --trace t.swf --policy g-lomarc-ts --machine {}", machine), 1,
                     {"g-lomarc-ts", machine, hint});
}

TEST_F(CommandLine, AnEmulatedMachineCanBeSimulatedAndTriedOut) {
  write_text(folder_ / "t.swf", kTwoJobs);
  const ShellResult dry = replay("--trace t.swf --policy easy --machine emulated:2x1x2 --dry-run");
  EXPECT_EQ(dry.status, 0) << dry.err;
  EXPECT_NE(dry.out.find(" s on node 0: 0,1; node 1: 2,3, mpiexec -n 4"), std::string::npos) << dry.out;
  const ShellResult simulated = replay("simulate --trace t.swf --policy easy --machine emulated:2x1x2 --outputs none");
  EXPECT_EQ(simulated.status, 0) << simulated.err;
  EXPECT_NE(simulated.out.find("machine 2x1x2"), std::string::npos) << simulated.out;
}

TEST_F(CommandLine, AJobWiderThanTheMachineNamesTheWaysOut) {
  write_text(folder_ / "t.swf", kTwoJobs);
  expect_complaint("simulate --trace t.swf --policy easy --machine flat:3", 1,
                   {"job 1", "needs 4", "has 3", "--scale-sizes"});
  const ShellResult scaled =
      replay("simulate --trace t.swf --policy easy --machine flat:2 --scale-sizes auto --outputs none");
  EXPECT_EQ(scaled.status, 0) << scaled.err;
  EXPECT_NE(scaled.out.find("sizes scaled from 4 to 2"), std::string::npos) << scaled.out;
  expect_complaint("--trace t.swf --policy easy --machine local:" + first_core(), 1, {"job 1", "--scale-sizes"});
}

TEST_F(CommandLine, ATraceAndItsSideFileAreTwoFiles) {
  write_text(folder_ / "t.swf", kTwoJobs);
  expect_complaint("trace declare --malleable 1 t.swf -o d.swf --jobs-to d.swf", 2, {"expected two files"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "d.swf"));
}

TEST_F(CommandLine, NumbersThatAreNoneAreRefused) {
  expect_complaint("generate lublin --jobs 10 --load inf", 2,
                   {"--load: expected a share of the machine above 0, at most 10, found inf"});
  expect_complaint("generate lublin --jobs 10 --load 90", 2, {"found 90; was 0.9 meant?"});
  write_text(folder_ / "t.swf",
             "; MaxProcs: 1,024\n" + std::string{kTwoJobs}.substr(std::string{kTwoJobs}.find('\n') + 1));
  expect_complaint("trace scale t.swf --sizes 4 -o s.swf", 1, {"no MaxProcs"});
}

TEST_F(CommandLine, APolicyIsThereOnce) {
  write_text(folder_ / "t.swf", kTwoJobs);
  expect_complaint("simulate --trace t.swf --policy easy,fcfs,easy", 2, {"easy stands there twice"});
}

TEST_F(CommandLine, WithoutMpichARealRunSaysWhatIsMissing) {
  write_text(folder_ / "t.swf", "; MaxProcs: 1\n1 0 -1 1 1 -1 -1 1 5 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const ShellResult result = shell("PATH=/nowhere " + kReplay + " --trace t.swf --policy easy", folder_.path());
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("mpiexec is not on the PATH"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs")) << "nothing was begun";
}

TEST_F(CommandLine, OneTraceOneSeedOneLogByteForByte) {
  const std::string run = "simulate --trace " + kSynth + " --policy fcfs-malleable --machine 1x2 --outputs all --out ";
  EXPECT_EQ(replay(run + "a").status, 0);
  EXPECT_EQ(replay(run + "b").status, 0);
  for (const char* file : {"events.log", "jobs.csv", "schedule.swf", "metrics.json", "series.csv"}) {
    EXPECT_FALSE(text_of(folder_ / (std::string("a/") + file)).empty()) << file;
    EXPECT_EQ(text_of(folder_ / (std::string("a/") + file)), text_of(folder_ / (std::string("b/") + file))) << file;
  }
}

TEST_F(CommandLine, ListsAndHelpWork) {
  for (const char* arguments : {"", "--help", "help", "--version", "policies", "policies --json", "models",
                                "benchmarks", "simulate --help", "trace info --help"}) {
    const ShellResult result = replay(arguments);
    EXPECT_EQ(result.status, 0) << arguments << result.err;
    EXPECT_FALSE(result.out.empty()) << arguments;
  }
  EXPECT_EQ(replay("help").out, replay("--help").out);
  EXPECT_EQ(replay("help simulate").out, replay("simulate --help").out);
  EXPECT_EQ(replay("help trace cut").out, replay("trace cut --help").out);
  EXPECT_EQ(replay("help run true").out, replay("run --help").out);
  expect_complaint("help simulat", 2, {"expected a command, found 'simulat'; did you mean 'simulate'"});
  EXPECT_NE(replay("policies").out.find("max_mpl"), std::string::npos);
  const ShellResult info = replay("trace info " + kSynth);
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_NE(info.out.find("18"), std::string::npos) << info.out;
}

TEST_F(CommandLine, OptionsBeforeTheCommandAreNotLost) {
  const ShellResult result = replay("--trace " + kSynth + " simulate --policy easy");
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "replay: --trace stands before the command: expected `replay simulate --trace ...`\n");
}

TEST_F(CommandLine, DryRunPrintsEachJobsCommand) {
  const ShellResult result = replay("--trace " + kSynth + " --policy easy --dry-run");
  if (result.err.find("needs 2 processors") != std::string::npos) GTEST_SKIP() << "this machine has one core";
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("phases --runtime 8.000000 --cpu-use 0.55"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("cg --class W"), std::string::npos) << result.out;
}

// Root reads every folder, so the program runs as another user.
TEST_F(CommandLine, AFolderThatCannotBeReadIsNamedWithTheReason) {
  write_text(folder_ / "t.swf", kTwoJobs);
  for (const char* run : {"r", "runs/a", "runs/b"})
    ASSERT_EQ(replay(std::string("simulate --trace t.swf --policy easy --out ") + run).status, 0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0711});
  const std::string as_user =
      (::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "") + kReplay + " ";
  if (shell(as_user + "--version").status != 0) GTEST_SKIP() << "needs setpriv, and a build that all users may run";
  for (const char* unreadable : {"r", "runs/b"})
    std::filesystem::permissions(folder_ / unreadable, std::filesystem::perms{0});
  for (const auto& [arguments, folder] : {std::pair{"results r", "r"},
                                          {"report r -o -", "r"},
                                          {"why r 1", "r"},
                                          {"diff runs/a r", "r"},
                                          {"rerun r", "r"},
                                          {"audit --rule easy r", "r"},
                                          {"results runs", "runs/b"},
                                          {"report runs -o -", "runs/b"},
                                          {"rerun runs", "runs/b"}}) {
    const ShellResult result = shell(as_user + arguments, folder_.path());
    EXPECT_EQ(result.err, fmt::format("replay: {}: cannot be read: Permission denied\n", folder)) << arguments;
    EXPECT_NE(result.status, 0) << arguments;
  }
  for (const char* unreadable : {"r", "runs/b"})
    std::filesystem::permissions(folder_ / unreadable, std::filesystem::perms{0700});
}

}  // namespace
}  // namespace replay::test
