// Tests of a policy that is a program: how it is started, its input, and every fault that it can have. After each fault
// the program and its children are gone.

#include "scheduler/plugin/exec_policy.hpp"

#include <signal.h>

#include <cerrno>
#include <fstream>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/plugin/fault.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/background.hpp"
#include "tests/unit/plugin/own_policy.hpp"

namespace replay::test {
namespace {

class ExecPolicy : public OwnPolicy {
 protected:
  std::string faulty(const std::string& fault, const std::string& more = "") const {
    return "exec:{" + built_for_tests("faulty_program") + " " + fault + " " + (folder_ / "pids").string() + "}" + more;
  }
  std::vector<pid_t> pids() const {
    std::ifstream file{folder_ / "pids"};
    std::vector<pid_t> all;
    for (pid_t pid = 0; file >> pid;) all.push_back(pid);
    return all;
  }
  void expect_gone(std::size_t processes) const {
    EXPECT_EQ(pids().size(), processes);
    // The program is reaped when the run has ended; a killed child of it is reaped by init.
    for (const pid_t pid : pids()) EXPECT_TRUE(comes_true([pid] { return is_gone(pid); })) << pid << " is still there";
  }
  static bool is_gone(pid_t pid) {
    if (!send_signal(pid, 0) && errno == ESRCH) return true;
    const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "Z";
  }
  void expect_fault(const std::string& fault, std::initializer_list<const char*> words, const std::string& more = "",
                    std::size_t processes = 1) {
    write_text(folder_ / "pids", "");
    const std::string text = fault_of(faulty(fault, more));
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << fault << " says: " << text;
    EXPECT_NE(text.find("policy 'exec:{"), std::string::npos) << text;
    expect_gone(processes);
  }

  TemporaryFolder folder_;
};

TEST_F(ExecPolicy, AProgramThatExitsIsReportedWithItsStatusAndTheEndOfItsStderr) {
  expect_fault("exits", {"at 0 s", "ended with status 3", "stderr", "line 2", "cannot go on"});
  EXPECT_EQ(fault_of(faulty("exits")).find("line 1"), std::string::npos) << "the last five lines are shown";
  expect_fault("ends-at-once", {"ended with status 0"});
}

TEST_F(ExecPolicy, AProgramThatCrashesIsReportedWithItsSignal) { expect_fault("crashes", {"signal 11"}); }

TEST_F(ExecPolicy, AProgramThatHangsIsEndedWithItsChildren) {
  expect_fault("hangs", {"expected an answer within 200 ms"}, ":timeout=200ms");
  expect_fault("half-a-line", {"expected an answer within 200 ms"}, ":timeout=200ms");
  expect_fault("hangs-with-child", {"expected an answer within 200 ms"}, ":timeout=200ms", 2);
}

TEST_F(ExecPolicy, AProgramThatHangsIsEndedWithItsChildrenInSessionsOfTheirOwn) {
  expect_fault("hangs-with-session", {"expected an answer within 200 ms"}, ":timeout=200ms", 2);
  expect_fault("hangs-with-hidden", {"expected an answer within 200 ms"}, ":timeout=200ms", 2);
}

TEST_F(ExecPolicy, WhatAProgramThatEndedInPeaceLeavesInASessionOfItsOwnIsEnded) {
  for (const char* fault : {"leaves-session", "leaves-hidden"}) {
    write_text(folder_ / "pids", "");
    EXPECT_EQ(fault_of(faulty(fault), {job(static_cast<char>(1)).cores(3).runs(1min)}), "") << fault;
    expect_gone(2);
  }
}

TEST_F(ExecPolicy, AProgramThatClosesItsOutputIsReported) { expect_fault("closes-stdout", {"has closed its"}); }

TEST_F(ExecPolicy, AnswersThatAreNotTheProtocolAreShown) {
  expect_fault("garbage", {R"(expected an answer {"actions":[...]})", "debug: free is 4"});
  expect_fault("no-actions", {R"(expected an answer {"actions":[...]})", R"({"start":1})"});
  expect_fault("unknown-action", {"expected an action with one of start", R"({"stop":1})"});
  expect_fault("unknown-field", {"unknown field 'nodes'"});
  expect_fault("wrong-type", {"expected a whole number as 'start'"});
  expect_fault("complains", {"it says: table full"});
  expect_fault("no-hello", {"to our hello", R"({"actions":[]})"});
  expect_fault("old-protocol", {"it speaks version 1 of the protocol, this replay speaks version 2",
                                R"(adapt the program and answer "protocol":2)", "docs/formats/policy-protocol.md"});
  expect_fault("newer-protocol",
               {"it speaks version 3 of the protocol, this replay speaks version 2", "take a newer replay"});
}

TEST_F(ExecPolicy, ALineTooManyIsFoundBeforeItIsTakenForTheNextAnswer) {
  expect_fault("answers-twice", {"found another one before it was asked", R"({"actions":[]})"});
}

TEST_F(ExecPolicy, BracketsByTheHundredThousandAreAnErrorAndNoCrash) {
  expect_fault("brackets", {"expected an answer", "at most 64 lists and objects in each other"});
  expect_fault("deep-type", {"expected an answer", "at most 64 lists and objects in each other"});
}

TEST_F(ExecPolicy, WhatItSaysComesInWithoutEscapeSequencesAndAsUtf8) {
  EXPECT_EQ(std::string{plugin::PolicyFault("exec:x", Instant{}, "it says: \x1b[31mred\xff\nlast line").what()},
            "policy 'exec:x' at 0 s: it says: red\xEF\xBF\xBD\nlast line");
}

TEST_F(ExecPolicy, ImpossibleAnswersAreRefused) {
  expect_fault("unknown-job", {"start of job 4711", "none of this number"});
  expect_fault("too-much", {"start of job 2", "needs 3 cores", "1 are free"});
  expect_fault("resizes-waiting", {"resize of job 1", "expected a running job, this one waits"});
  expect_fault("wakes-in-the-past", {"wake_at 0 s", "after now"});
}

TEST_F(ExecPolicy, APolicyThatStartsNothingEndsTheSimulation) {
  EXPECT_THROW((void)simulate(faulty("idle"), cores(4), two_jobs()), PolicyError);
  expect_gone(1);
}

TEST_F(ExecPolicy, AProgramThatStaysAfterTheEndIsEnded) {
  EXPECT_THROW((void)simulate(faulty("stays"), cores(4), two_jobs()), PolicyError);
  expect_gone(1);
}

TEST_F(ExecPolicy, IsStartedOncePerRunAndNotBeforeItsFirstPass) {
  const NamedPolicy policy = make_policy(faulty("idle"));
  EXPECT_EQ(pids().size(), 0u);
  EXPECT_THROW((void)simulate(*policy.policy, cores(4), two_jobs()), PolicyError);
  EXPECT_EQ(pids().size(), 1u);
}

TEST_F(ExecPolicy, IsFoundOnThePathAndNamedIfItIsNotThere) {
  const auto error_of = [](const std::string& policy) -> std::string {
    try {
      (void)make_policy(policy);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("exec:cat"), "");
  EXPECT_NE(error_of("exec:no-such-program-1").find("none of this name on the PATH"), std::string::npos);
  EXPECT_NE(error_of("exec:./no-such-program").find("found no file"), std::string::npos);
  write_text(folder_ / "text", "hello");
  EXPECT_NE(error_of("exec:" + (folder_ / "text").string()).find("not executable"), std::string::npos);
  EXPECT_THROW((void)make_policy("exec"), UsageError);
  EXPECT_THROW((void)make_policy("exec:{}"), UsageError);
  EXPECT_THROW((void)make_policy("exec:{cat"), UsageError);
  EXPECT_THROW((void)make_policy("exec:{cat 'x}"), UsageError);
  EXPECT_THROW((void)make_policy("exec:cat:timeout=soon"), UsageError);
  EXPECT_THROW((void)make_policy("exec:cat:timeout=0s"), UsageError);
  EXPECT_THROW((void)make_policy("exec:cat:timeuot=5s"), UsageError);
}

TEST_F(ExecPolicy, TheFullTextMakesTheSamePolicyAgain) {
  const NamedPolicy policy = make_policy("exec:{cat -u --x=1,2}:timeout=5s");
  EXPECT_EQ(policy.full_text, "exec:command={cat -u --x=1,2}:timeout=5s");
  EXPECT_EQ(make_policy(policy.full_text).full_text, policy.full_text);
  EXPECT_EQ(make_policy("exec:cat").full_text, "exec:command={cat}:timeout=10s");
  EXPECT_EQ(make_policy("exec:{cat " + (folder_ / "none").string() + "}").files, std::vector<std::string>{});
  write_text(folder_ / "script", "");
  EXPECT_EQ(make_policy("exec:{cat " + (folder_ / "script").string() + "}").files,
            std::vector<std::string>{(folder_ / "script").string()});
}

TEST_F(ExecPolicy, CommandsAreSplitAtBlanksOutsideQuotesAndNeverReadByAShell) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(plugin::split_command("python3 my.py  --x=1,2"), (Words{"python3", "my.py", "--x=1,2"}));
  EXPECT_EQ(plugin::split_command(R"('a b' "c d"e \ f '' $HOME;ls|*)"), (Words{"a b", "c de", " f", "", "$HOME;ls|*"}));
  EXPECT_EQ(plugin::split_command(R"("a\"b" 'a\b')"), (Words{"a\"b", "a\\b"}));
  EXPECT_EQ(plugin::split_command("  "), Words{});
}

}  // namespace
}  // namespace replay::test
