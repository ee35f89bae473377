// Tests of the command line of mpiexec and of the meaning of its last messages.
#include "launcher/mpich/mpiexec.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::launcher {
namespace {

using Words = std::vector<std::string>;

TEST(MpiexecArguments, BindEachRankAndPreloadOnlyIntoRanks) {
  EXPECT_EQ(mpiexec_arguments({{"./a", "-x"}, {{"A", "1"}}, {4, 4, 6}, "/lib/vm.so"}),
            (Words{"-launcher", "fork", "-rmk", "user", "-bind-to", "user:4,4,6", "-genv", "A", "1", "-genv",
                   "LD_PRELOAD", "/lib/vm.so", "-n", "3", "./a", "-x"}));
}

TEST(MpiexecArguments, ThePreloadOfTheUserComesBehindVmlib) {
  const Words words = mpiexec_arguments({{"./a"}, {{"LD_PRELOAD", "/lib/theirs.so"}}, {0}, "/lib/vm.so"});
  EXPECT_NE(std::ranges::find(words, "/lib/vm.so:/lib/theirs.so"), words.end());
}

TEST(MpiexecArguments, NothingIsPreloadedIntoARigidJob) {
  const Words words = mpiexec_arguments({{"./a"}, {}, {0}, ""});
  EXPECT_EQ(std::ranges::find(words, "LD_PRELOAD"), words.end());
}

TEST(MpiexecArguments, WithoutBindingTheCoresOnlyCountTheRanks) {
  EXPECT_EQ(mpiexec_arguments({{"./a"}, {}, {7, 7}, "", false}),
            (Words{"-launcher", "fork", "-rmk", "user", "-bind-to", "none", "-n", "2", "./a"}));
}

TEST(MpiexecArguments, ALabelIsHostAndRank) {
  MpiexecCall call{{"./a"}, {}, {0}, ""};
  call.label = true;
  const Words words = mpiexec_arguments(call);
  const auto option = std::ranges::find(words, "-prepend-pattern");
  ASSERT_LT(option - words.begin(), std::ranges::find(words, "-n") - words.begin());
  EXPECT_EQ(option[1], "[%h %r] ");
}

TEST(Labels, AreTakenOutOfTheOutputWhereverMpiexecHasPutThem) {
  EXPECT_EQ(without_labels("[node1 0] a\n[10.0.0.2 13] b\n"), "a\nb\n");
  EXPECT_EQ(without_labels("[n 0] VERIF[n 0] ICATION SUCCESSFUL\n"), "VERIFICATION SUCCESSFUL\n");
  const std::string others = "[0] x[1]\n[mpiexec@n] control_cb (a.c:20): [ 1] [n x] \n[";
  EXPECT_EQ(without_labels(others), others) << "no host, no rank";
}

TEST(HydraEnvironment, LacksThePreloadAndHasTheJobsMarkAndReadsNoConfiguration) {
  const Variables kept{{"PATH", "/bin"}, {"LD_PRELOAD", "x.so"}, {"REPLAY_VM_KEY", "old"}};
  EXPECT_EQ(hydra_environment(kept, {{"REPLAY_VM_KEY", "new"}}),
            (Variables{{"PATH", "/bin"}, {"REPLAY_VM_KEY", "new"}, {"HYDRA_CONFIG_FILE", "/dev/null"}}));
}

TEST(BadTermination, NamesTheProcessAndTheSignal) {
  const std::string output =
      "some output\n"
      "===================================================================================\n"
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "=   PID 12173 RUNNING AT node\n"
      "=   EXIT CODE: 9\n"
      "=   CLEANING UP REMAINING PROCESSES\n"
      "===================================================================================\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
      "This typically refers to a problem with your application.\n";
  EXPECT_EQ(find_bad_termination(output), (BadTermination{12173, 9, "Killed (signal 9)"}));
  EXPECT_EQ(find_bad_termination("all is well\n"), std::nullopt);
}

TEST(BadTermination, IsExplainedByTheNamedRanksOwnSignal) {
  EXPECT_EQ(explain({1, 11, "Segmentation fault (signal 11)"}, 1, 2), "rank 1: Segmentation fault (signal 11)");
  EXPECT_EQ(explain({1, 6, "Terminated (signal 15)"}, 0, 3), "rank 0: Aborted (signal 6)");  // 6 | 9 = 15
  EXPECT_EQ(explain({1, 9, "Killed (signal 9)"}, 1, 2), "rank 1: Killed (signal 9)");
  EXPECT_EQ(explain({1, 0, "Killed (signal 9)"}, 1, 2), "rank 1: Killed (signal 9)");
  EXPECT_EQ(explain({0, 0, "Killed (signal 9)"}, std::nullopt, 2), "a rank: Killed (signal 9)");
}

// Output that mpiexec 4.0.2 sometimes writes when rank 1 has crashed and it has killed rank 0.
TEST(BadTermination, IsNotBlamedOnARankThatHydraKilledItself) {
  const std::string output =
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "=   PID 32317 RUNNING AT node\n"
      "=   EXIT CODE: 9\n"
      "=   CLEANING UP REMAINING PROCESSES\n"
      "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n"
      "===================================================================================\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n";
  const auto bad = find_bad_termination(output);
  ASSERT_EQ(bad, (BadTermination{32317, 9, "Segmentation fault (signal 11)"}));
  EXPECT_EQ(explain(*bad, 0, 2), "rank 1: Segmentation fault (signal 11)");
  EXPECT_EQ(explain(*bad, 0, 3), "a rank other than 0: Segmentation fault (signal 11)");
}

// Of a program that leaves with exit code 3 after MPI_Init, mpiexec 4.0.2 writes it in some of a hundred runs.
TEST(BadTermination, IsNoHangupWhereMpiexecHasLostTheExitStatus) {
  const std::string output =
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "=   PID 24572 RUNNING AT node\n"
      "=   EXIT CODE: 1\n"
      "===================================================================================\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Hangup (signal 1)\n";
  const auto bad = find_bad_termination(output);
  ASSERT_TRUE(bad);
  EXPECT_EQ(explain(*bad, 0, 2), "rank 0 ended without MPI_Finalize, and mpiexec does not say how");
  EXPECT_EQ(explain(*bad, std::nullopt, 2), "a rank ended without MPI_Finalize, and mpiexec does not say how");
  EXPECT_EQ(explain({1, 1, "Killed (signal 9)"}, 1, 2),  // 1 | 9 = 9
            "rank 1 ended without MPI_Finalize, and mpiexec does not say how");
}

TEST(LastComplaint, IsTheLastLineButOfHydrasTheFirst) {
  EXPECT_EQ(last_complaint("one\ntwo\n\n"), "two");
  EXPECT_EQ(last_complaint("[mpiexec@n] early (a.c:1): no harm\nlast words"), "last words");
  EXPECT_EQ(last_complaint("my own\n[proxy:0:0@n] f (a.c:1): write error (No space left on device)\n"
                           "[mpiexec@n] main (b.c:2): error waiting\n"),
            "[proxy:0:0@n] f (a.c:1): write error (No space left on device)");
  EXPECT_EQ(last_complaint("no thread can be made\n==== backtrace (tid: 7) ====\n 0  libucs.so.0\n=======\n"),
            "no thread can be made");
  EXPECT_EQ(last_complaint("\n"), "");
  EXPECT_EQ(last_complaint(""), "");
}

/// What start_mpiexec() throws in a child process that has been limited; -1: it died of it.
int errno_within(const std::filesystem::path& folder, const std::function<bool()>& limit) {
  int told[2];
  EXPECT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    int found = -1;
    if (!limit()) ::_exit(1);
    try {
      (void)start_mpiexec("/bin/true", {}, {}, {.output = folder, .directory = {}});
      found = 0;
    } catch (const std::system_error& error) {
      found = error.code().value();
    }
    (void)!::write(told[1], &found, sizeof found);
    ::_exit(0);
  }
  EXPECT_GT(child, 0);
  int found = -1;
  ::close(told[1]);
  (void)!::read(told[0], &found, sizeof found);
  ::waitpid(child, nullptr, 0);
  ::close(told[0]);
  return found;
}

TEST(StartMpiexec, AForkThatFailsIsSaidAndStartsNothing) {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  EXPECT_EQ(errno_within(folder.path(),
                         [] {  // a user who may not have one more process
                           constexpr uid_t kNoUser = 64'999;
                           const rlimit none{1, 1};
                           return (::geteuid() != 0 || ::setresuid(kNoUser, kNoUser, kNoUser) == 0) &&
                                  ::setrlimit(RLIMIT_NPROC, &none) == 0;
                         }),
            EAGAIN);
}

// Of its own pipe Boost does not say that it cannot be made.
TEST(StartMpiexec, TooFewOpenFilesAreSaidAndStartNothing) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs open files of its own: it reads an object's type through a pipe";
#endif
  const TemporaryFolder folder;
  std::set<int> found;
  for (rlim_t files = 3; files < 40; ++files)
    found.insert(errno_within(folder.path(), [files] {
      const rlimit few{files, files};
      return ::setrlimit(RLIMIT_NOFILE, &few) == 0;
    }));
  EXPECT_EQ(found, (std::set<int>{0, EMFILE})) << "some were enough";
}

TEST(StartMpiexec, AnExecutionThatFailsIsToldFromAForkThatFails) {
  const TemporaryFolder folder;
  const auto failure = [&folder](const std::string& program, const Words& arguments,
                                 const std::string& directory = "") -> std::pair<int, std::string> {
    try {
      (void)start_mpiexec(program, arguments, {}, {.output = folder.path(), .directory = directory});
    } catch (const std::system_error& error) {
      return {error.code().value(), error.what()};
    }
    return {0, ""};
  };
  EXPECT_EQ(failure("/nowhere/mpiexec", {}),
            (std::pair<int, std::string>{ENOENT, "cannot execute /nowhere/mpiexec: No such file or directory"}));
  EXPECT_EQ(failure("/bin/true", {std::string(1 << 20, 'x')}).first, E2BIG) << "one argument of a megabyte";
  EXPECT_EQ(failure("/bin/true", {}, "/nowhere"),
            (std::pair<int, std::string>{ENOENT, "/nowhere: No such file or directory"}));
}

TEST(LackedUcxThread, IsReadOffWhatUcxSaysAsItEndsARank) {
  using Threads = std::vector<pid_t>;
  const std::string failure = "thread.c:226  Assertion `ucs_async_thread_global_context.thread != NULL' failed\n";
  EXPECT_EQ(lacking_ucx_thread("[n1:22   :0:22]      " + failure + "==== backtrace (tid:     22) ====\n"), Threads{22});
  EXPECT_EQ(lacking_ucx_thread("[0] [n1:22   :0:22]      " + failure + "[1] [n1:23   :1:25] " + failure),
            (Threads{22, 25}))
      << "with mpiexec's labels, and of another thread than the first";
  EXPECT_EQ(lacking_ucx_thread(failure), Threads{0});
  EXPECT_EQ(lacking_ucx_thread("[n1:22   :0:22]      thread.c:226  Assertion `x != NULL' failed\n"), Threads{});
  EXPECT_EQ(lacking_ucx_thread(""), Threads{});
}

TEST(EndedByConnection, IsReadOffWhatMpiexecComplainsOf) {
  const auto found = [](const char* line, bool had_its_proxy = true) {
    return find_ended_by_connection(line, had_its_proxy);
  };
  EXPECT_EQ(found("[mpiexec@n] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed"),
            EndedByConnection::kForeign);
  EXPECT_EQ(
      found("[mpiexec@n] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed", false),
      EndedByConnection::kNoProxy)
      << "a proxy that cannot fork, or is killed before it has identified itself, leaves the same line";
  EXPECT_EQ(found("[mpiexec@n] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:460): cannot find proxy with "
                  "ID 1684234849"),
            EndedByConnection::kForeign);
  EXPECT_EQ(found("[mpiexec@n] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed"),
            EndedByConnection::kUnclear);
  EXPECT_EQ(found("[mpiexec@n] control_cb (pm/pmiserv/pmiserv_cb.c:200): unable to read"), EndedByConnection::kNo);
  EXPECT_EQ(found(""), EndedByConnection::kNo);
}

TEST(FindVerification, TakesTheLastLineThatSaysIt) {
  EXPECT_EQ(find_verification("VERIFICATION SUCCESSFUL\n"), Verification::kPassed);
  EXPECT_EQ(find_verification("time 1.5\n  VERIFICATION FAILED \r\n"), Verification::kFailed);
  EXPECT_EQ(find_verification("VERIFICATION FAILED\nVERIFICATION SUCCESSFUL"), Verification::kPassed);
  EXPECT_EQ(find_verification("echo VERIFICATION SUCCESSFUL\n"), Verification::kNone);
  EXPECT_EQ(find_verification(""), Verification::kNone);
}

TEST(ReadTail, GivesTheEndAndNothingForNoFile) {
  EXPECT_EQ(read_tail("/no/such/file", 10), "");
  EXPECT_EQ(read_tail("/proc/self/nothing", 10), "");
  EXPECT_EQ(read_tail(-1, 10), "");
}

TEST(ReadTail, DoesNotWaitForAPipeNorFollowALink) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::ofstream(folder / "precious") << "data";
  std::filesystem::create_symlink(folder / "precious", folder / "link");
  EXPECT_EQ(read_tail(folder / "pipe", 10), "");
  EXPECT_EQ(read_tail(folder / "link", 10), "");
  EXPECT_EQ(read_tail(folder / "precious", 2), "ta");
}

}  // namespace
}  // namespace replay::launcher
