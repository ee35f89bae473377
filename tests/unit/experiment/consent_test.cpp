// Tests of consent to foreign code: code that a trace or a run's folder names, and the user did not, is shown first and
// runs only with the user's consent.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/base/text/shell_words.hpp"
#include "tests/unit/cli/comparing_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

class Consent : public Comparing {
 protected:
  Consent() {
    write_text(folder_ / "evil.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\nexit 1\n");
    fs::permissions(folder_ / "evil.sh", fs::perms::owner_all);
  }
  ~Consent() override { EXPECT_FALSE(!may_run_ && ran()) << "code of a file was run"; }

  [[nodiscard]] bool ran() const { return fs::exists(folder_ / "ran"); }

  /// One job of one process that runs `command`.
  void write_trace(const std::string& command) {
    write_text(folder_ / "p.swf",
               "; MaxProcs: 1\n; Program: 7 " + command + "\n1 0 -1 1 1 -1 -1 1 9 -1 1 1 1 7 -1 -1 -1 -1\n");
  }
  /// Runs one policy, then changes its run.json.
  void write_run(const nlohmann::json& changes) {
    if (!fs::exists(folder_ / "runs")) simulate_both();
    const fs::path file = folder_ / "runs/easy/run.json";
    auto json = nlohmann::ordered_json::parse(text_of(file));
    for (const auto& [name, value] : changes.items())
      json[name] = name == "run" ? nlohmann::json(split_words(value.get<std::string>()).words) : value;
    write_text(file, json.dump());
  }

  /// Runs the command on a terminal on which the user types `answer`.
  ShellResult on_terminal(const std::vector<std::string>& words, const std::string& answer) {
    std::vector<std::string> copies = words;
    copies.insert(copies.begin(), REPLAY_PROGRAM);
    std::vector<char*> arguments;
    for (std::string& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (::chdir(folder_.path().c_str()) == 0) ::execv(REPLAY_PROGRAM, arguments.data());
      ::_exit(127);
    }
    ShellResult result;
    bool answered = false;
    std::array<char, 1024> block{};
    for (ssize_t got = 0; (got = ::read(terminal, block.data(), block.size())) > 0;) {
      result.out.append(block.data(), static_cast<std::size_t>(got));
      if (!answered && result.out.find("[y/N]") != std::string::npos)
        answered = ::write(terminal, answer.data(), answer.size()) > 0;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(terminal);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

  bool may_run_ = false;
};

const std::string kRun = "--trace p.swf --policy fcfs --machine local --out o --plain";

TEST_F(Consent, AProgramThatATraceNamesIsShownAndNotRun) {
  write_trace("./evil.sh 'an argument'");
  expect_says(kRun, 2, {"p.swf names programs", "Program 7, 1 job: ./evil.sh 'an argument'", "--programs-from-trace"});
  EXPECT_FALSE(fs::exists(folder_ / "o"));
}

TEST_F(Consent, WhatRunsIsShownByADryRunToo) {
  write_trace("./evil.sh");
  expect_says(kRun + " --dry-run", 0, {"Program 7, 1 job: ./evil.sh", "mpiexec -n 1 "});
  expect_says(kRun + " --dry-run --json", 0, {"Program 7, 1 job: ./evil.sh"});
}

TEST_F(Consent, ABenchmarkOfOursNeedsNone) {
  write_trace("ep --class S");
  const ShellResult result = replay(kRun + " --dry-run");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find("names programs"), std::string::npos) << result.out;
}

TEST_F(Consent, AFileOfABenchmarksNameIsNone) {
  fs::copy(folder_ / "evil.sh", folder_ / "ep");
  write_trace("ep --class S");
  const ShellResult ours = shell("PATH=.:$PATH " REPLAY_PROGRAM " " + kRun + " --dry-run", folder_.path());
  EXPECT_NE(ours.out.find("/lib/replay/ep --class S"), std::string::npos) << ours.out << ours.err;
  for (const std::string command : {"./ep --class S", "../ep", "e{n}p", "{id}ep"}) {
    write_trace(command);
    const ShellResult result = replay(kRun);
    EXPECT_NE(result.status, 0) << command;
    EXPECT_NE(result.status, 127) << command;
  }
  write_trace("./ep --class S");
  expect_says(kRun, 2, {"--programs-from-trace"});
}

TEST_F(Consent, ACommandCannotHideItsArgumentsFromATerminal) {
  write_trace("./evil.sh \x1b[2K\x1b[1A\xe2\x80\xae good");
  const ShellResult result = replay(kRun + " --dry-run");
  EXPECT_NE(result.out.find("./evil.sh \\x1b[2K\\x1b[1A\\u{202e} good"), std::string::npos) << result.out;
  EXPECT_EQ((result.out + result.err).find('\x1b'), std::string::npos);
}

TEST_F(Consent, TheUsersOwnProgramNeedsNone) {
  write_trace("./evil.sh");
  const ShellResult result = replay(kRun + " --program 'ep --class S' --dry-run");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.find("names programs"), std::string::npos) << result.out;
}

TEST_F(Consent, AValidationAsksBeforeItsFirstCell) {
  write_trace("./evil.sh");
  expect_says("validate --trace p.swf --policy fcfs --machine local --out v", 2,
              {"Program 7, 1 job: ./evil.sh", "--programs-from-trace"});
}

TEST_F(Consent, ARunsFolderDoesNotRunItsPolicy) {
  for (const char* policy : {"exec:{./evil.sh}", "exec:./evil.sh:timeout=1s", "./evil.so", "{./evil.so}:a=b",
                             "fcfs,exec:./evil.sh", "exec:{sh -c ./evil.sh}"}) {
    write_run({{"policy", policy}, {"parameters", nlohmann::json::object()}, {"working_folder", folder_.path()}});
    expect_says("rerun runs/easy --out again", 2, {"names code that is not replay's own", "--trust", "evil"});
    EXPECT_FALSE(fs::exists(folder_ / "again")) << "nothing was begun";
  }
}

// A policy's text is rebuilt from the parameters in run.json when defaults have changed.
TEST_F(Consent, ARunsFolderDoesNotHideAPolicyAmongParameters) {
  for (const char* value : {"1,exec:{./evil.sh}", "{1},exec:./evil.sh,fcfs:y={", "1},exec:./evil.sh,fcfs:y={1"}) {
    write_run({{"policy", "easy"}, {"parameters", {{"reservations", value}}}});
    EXPECT_NE(replay("rerun runs/easy").status, 0) << value;
  }
}

TEST_F(Consent, ARunsFolderRunsNoProgramAndConnectsNowhere) {
  write_trace("./evil.sh");
  const std::string live = "--trace p.swf --policy fcfs --machine local ";
  for (const auto& [command, word] : std::vector<std::pair<std::string, const char*>>{
           {live + "--program ./evil.sh", "--program ./evil.sh"},
           {live + "--program=./evil.sh", "--program ./evil.sh"},
           {live + "--programs-from-trace", "p.swf: ./evil.sh"},
           {live, "p.swf: ./evil.sh"},
           {"--trace t.swf --policy fcfs --machine agent:elsewhere.example:4711", "agent:elsewhere.example:4711"},
           {"--trace t.swf --policy fcfs --machine=agent:x:1 --agent-key k", "agent:x:1"}}) {
    write_run({{"run", command}, {"body", "live"}, {"inputs", nlohmann::json::array()}});
    expect_says("rerun runs/easy --out again", 2, {"--trust", word});
  }
}

TEST_F(Consent, ARunsFolderCarriesOutNothingButRunsAndSimulations) {
  for (const char* command : {"run ./evil.sh --trace t.swf", "--yes run ./evil.sh --trace t.swf",
                              "-- run ./evil.sh --trace t.swf", "generate lublin --output t.swf --force --trace t.swf",
                              "agent --trace t.swf", "simulate run ./evil.sh --trace t.swf", "help --trace t.swf",
                              "--help --trace t.swf", "trace sort --trace t.swf"}) {
    write_run({{"run", command}, {"inputs", nlohmann::json::array()}});
    expect_says("rerun runs/easy --out again --trust", 1, {"none that can be repeated"});
  }
}

TEST_F(Consent, WithTrustAFoldersPolicyIsShownAndRun) {
  may_run_ = true;
  write_run({{"policy", "exec:./evil.sh"}, {"parameters", nlohmann::json::object()}});
  expect_says("rerun runs/easy --out again --trust", 1, {"--policy exec:./evil.sh (in "});
  EXPECT_TRUE(ran());
}

TEST_F(Consent, OnATerminalTheUserIsAsked) {
  write_run({{"policy", "exec:./evil.sh"}, {"parameters", nlohmann::json::object()}});
  const std::vector<std::string> words{"rerun", "runs/easy", "--out", "again"};
  for (const char* no : {"n\n", "\n", "maybe\n", "\x04"}) {
    const ShellResult result = on_terminal(words, no);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.out.find("--policy exec:./evil.sh"), std::string::npos) << result.out;
    EXPECT_FALSE(ran());
  }
  may_run_ = true;
  EXPECT_EQ(on_terminal(words, "y\n").status, 1);
  EXPECT_TRUE(ran());
}

}  // namespace
}  // namespace replay::test
