// Tests of the words with which a job on several nodes is started, and of those that are refused.
#include "launcher/mpich/spanning.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launcher/mpich/mpiexec.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// As mpiexec 4.0.2 calls it.
const Words kProxyWords{"--control-port",  "vm:42061", "--rmk",      "user", "--launcher", "rsh",
                        "--launcher-exec", "/lib/r",   "--demux",    "poll", "--pgid",     "0",
                        "--retries",       "10",       "--usize",    "-2",   "--pmi-port", "0",
                        "--gpus-per-proc", "-2",       "--proxy-id", "1"};

Words with(std::size_t place, const std::string& word) {
  Words words = kProxyWords;
  words[place] = word;
  return words;
}

TEST(SpanningArguments, NameTheHostsAndLeaveCoresAndPreloadToTheProxies) {
  EXPECT_EQ(spanning_arguments(
                {"/lib/replay-proxy", {{"a", 2}, {"b", 1}}, {{"A", "1"}, {"LD_PRELOAD", "x.so"}}, {"./a", "-x"}}),
            (Words{"-launcher", "rsh", "-launcher-exec", "/lib/replay-proxy", "-rmk", "user", "-hosts", "a:2,b:1",
                   "-bind-to", "none", "-genvnone", "-genv", "A", "1", "-n", "3", "./a", "-x"}));
}

TEST(SpanningArguments, ALabelIsHostAndRank) {
  SpanningCall call{"/lib/replay-proxy", {{"a", 1}, {"b", 1}}, {}, {"./a"}};
  call.label = true;
  const Words words = spanning_arguments(call);
  const auto option = std::ranges::find(words, "-prepend-pattern");
  ASSERT_LT(option - words.begin(), std::ranges::find(words, "-n") - words.begin());
  EXPECT_EQ(option[1], "[%h %r] ");
}

TEST(SpanningEnvironment, HasNothingOfTheUsers) {
  EXPECT_EQ(spanning_environment("/run/desk", "secret"), (Variables{{"HYDRA_LAUNCHER_AUTOFORK", "0"},
                                                                    {"HYDRA_CONFIG_FILE", "/dev/null"},
                                                                    {"REPLAY_PROXY_SOCKET", "/run/desk"},
                                                                    {"REPLAY_PROXY_TOKEN", "secret"}}));
}

TEST(ProxyArguments, OfThisMpichAreKnown) { EXPECT_EQ(why_no_proxy(kProxyWords), ""); }

TEST(ProxyArguments, OfAnotherKindAreRefusedByName) {
  const std::string begin = "this MPICH is not known: mpiexec calls its proxy ";
  EXPECT_EQ(why_no_proxy({}), begin + "without --control-port");
  EXPECT_EQ(why_no_proxy(Words(kProxyWords.begin(), kProxyWords.end() - 2)), begin + "without --proxy-id");
  EXPECT_EQ(why_no_proxy(Words(kProxyWords.begin(), kProxyWords.end() - 1)), begin + "with --proxy-id");
  EXPECT_EQ(why_no_proxy(with(2, "--exec")), begin + "with --exec user");
  EXPECT_EQ(why_no_proxy(with(2, "user")), begin + "with user user");
  EXPECT_EQ(why_no_proxy(with(3, "--launch")), begin + "with --rmk --launch");
  EXPECT_EQ(why_no_proxy(with(1, "vm")), begin + "with --control-port vm");
  EXPECT_EQ(why_no_proxy(with(1, "vm:70000")), begin + "with --control-port vm:70000");
  EXPECT_EQ(why_no_proxy(with(21, "1;x")), begin + "with --proxy-id 1;x");
  EXPECT_EQ(why_no_proxy(with(18, "--proxy-id")), begin + "with --proxy-id 1") << "twice";
}

TEST(ProxyStarts, OnlyWithWordsOfAProxy) {
  EXPECT_THROW((void)start_proxy({.program = "/bin/true", .arguments = {"--exec", "x"}, .environment = {}}),
               InputError);
}

/// A program in place of Hydra's proxy that writes down how it was started, and that it has got a SIGPIPE.
class StartedProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    test::write_text(program_,
                     "#!/bin/sh\n"
                     "trap 'echo pipe >piped; exit' PIPE\n"
                     "ls /proc/self/fd | tr '\\n' ' ' >descriptors\n"
                     "grep Cpus_allowed_list /proc/self/status >cores\n"
                     "grep Sig[BI] /proc/self/status >signals\n"
                     "cut -d' ' -f1,6 /proc/$$/stat >session\n"
                     "env >variables\n"
                     "echo \"$@\" >words\n"
                     "echo complaint >&2\n"
                     "mv words arguments\n"
                     "while :; do sleep 0.02; done\n");
    fs::permissions(program_, fs::perms::owner_all);
  }
  [[nodiscard]] StartedProxy start(int control) const {
    return start_proxy({.program = program_,
                        .arguments = kProxyWords,
                        .control = control,
                        .environment = {{"PATH", "/usr/bin:/bin"}, {"NODE", "n2"}},
                        .cores = {number(affinity_mask().back())},
                        .directory = folder_.path()});
  }
  [[nodiscard]] std::string text(const std::string& file) const { return test::text_of(folder_ / file); }
  [[nodiscard]] bool comes(const std::string& file) const {
    return test::comes_true([this, &file] { return fs::exists(folder_ / file); });
  }

  TemporaryFolder folder_;
  fs::path program_ = folder_ / "hydra_pmi_proxy";
};

TEST_F(StartedProxyTest, HasTheLineTheCoresAndTheEnvironmentAndNothingElseOfOurs) {
  const ControlLine line = make_control_line();
  ::signal(SIGTERM, SIG_IGN);
  const StartedProxy proxy = start(line.proxys.get());
  ::signal(SIGTERM, SIG_DFL);
  ASSERT_TRUE(comes("arguments"));
  const std::string pid = std::to_string(proxy.process.pid());
  EXPECT_EQ(text("session"), pid + " " + pid + "\n");
  EXPECT_EQ(text("cores"), "Cpus_allowed_list:\t" + std::to_string(number(affinity_mask().back())) + "\n");
  EXPECT_NE(text("signals").find("SigIgn:\t0000000000000000"), std::string::npos) << text("signals");
  const std::string fd = std::to_string(line.proxys.get());
  EXPECT_TRUE(text("descriptors").starts_with("0 1 2 3 " + fd + " ")) << text("descriptors") << "; 3 is of ls";
  EXPECT_NE(text("variables").find("NODE=n2\n"), std::string::npos);
  EXPECT_NE(text("variables").find("HYDI_CONTROL_FD=" + fd + "\n"), std::string::npos);
  EXPECT_EQ(text("variables").find("HOME="), std::string::npos);
  EXPECT_TRUE(text("arguments").starts_with("--control-port vm:42061 --rmk user")) << text("arguments");
  EXPECT_EQ(read_tail(proxy.err.get(), 100), "complaint\n");
  proxy.process.signal(SIGKILL);
  ::waitpid(proxy.process.pid(), nullptr, 0);
}

TEST_F(StartedProxyTest, GetsSigpipeWhenTheAgentDies) {
  const pid_t agent = ::fork();
  if (agent == 0) {
    const ControlLine line = make_control_line();
    const StartedProxy proxy = start(line.proxys.get());
    ::_exit(comes("arguments") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(agent, &status, 0), agent);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(comes("piped"));
}

TEST(ProxyProgram, IsTheOneBesideTheRealMpiexec) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "mpich");
  fs::create_directories(folder / "bin");
  std::ofstream{folder / "mpich/mpiexec.hydra"}.flush();
  std::ofstream{folder / "bin/hydra_pmi_proxy"}.flush();
  fs::permissions(folder / "bin/hydra_pmi_proxy", fs::perms::owner_all);
  fs::create_symlink(folder / "mpich/mpiexec.hydra", folder / "bin/mpiexec");
  EXPECT_THROW((void)find_proxy_beside(folder / "bin/mpiexec"), InputError);
  std::ofstream{folder / "mpich/hydra_pmi_proxy"}.flush();
  fs::permissions(folder / "mpich/hydra_pmi_proxy", fs::perms::owner_all);
  EXPECT_EQ(find_proxy_beside(folder / "bin/mpiexec"), fs::canonical(folder / "mpich/hydra_pmi_proxy"));
}

}  // namespace
}  // namespace replay::launcher
