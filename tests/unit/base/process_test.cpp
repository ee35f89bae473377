// Tests of reading /proc, and of the identity of a process when its pid is used again.
#include "scheduler/base/process/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/waiting_child.hpp"

namespace replay {
namespace {

TEST(ParseStat, ANameMayHoldBracketsAndBlanks) {
  const auto stat = parse_stat("42 (a) b (c)) S 7 42 42 0 -1 4194560 1 5 0 0 0 0 0 0 20 0 1 0 123456 1 1\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->faults_of_children, 5U);
  EXPECT_EQ(stat->start, 123456U);
  EXPECT_FALSE(stat->is_exiting);
}

TEST(ParseStat, AnExitIsSeenBeforeTheProcessIsAZombie) {
  const auto stat = parse_stat("42 (a) R 7 42 42 0 -1 4194564 1 5 0 0 0 0 0 0 20 0 1 0 123456 1 1\n");
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->is_exiting);
  EXPECT_EQ(stat->faults_of_children, 5U);
}

TEST(ParseStat, WhatIsCutIsNothing) {
  for (const char* text : {"", "42", "42 (a", "42 (a)", "42 (a) S", "42 (a) S 7 42", ") ("})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(ProcFiles, ShowOurselves) {
  const test::WaitingChild child;
  EXPECT_EQ(read_stat(child.pid()).value_or(ProcessStat{}).parent, ::getpid());
  const auto children = children_of(::getpid());
  EXPECT_NE(std::ranges::find(children, child.pid()), children.end());
  EXPECT_EQ(threads_of(child.pid()), std::vector<pid_t>{child.pid()});
  EXPECT_TRUE(image_of(::getpid()).is_dynamic);
  EXPECT_FALSE(read_stat(999999999));
}

TEST(ProcFiles, AnEnvironmentIsMatchedWholly) {
  const char* path = ::getenv("PATH");
  ASSERT_NE(path, nullptr);
  EXPECT_TRUE(environment_has(::getpid(), std::string{"PATH="} + path));
  EXPECT_FALSE(environment_has(::getpid(), "PATH="));
  EXPECT_FALSE(environment_has(999999999, "PATH="));
}

TEST(ProcFiles, AVariableIsFoundByItsWholeName) {
  EXPECT_EQ(environment_value(::getpid(), "PATH"), ::getenv("PATH"));
  EXPECT_EQ(environment_value(::getpid(), "PAT"), std::nullopt);
  EXPECT_EQ(environment_value(999999999, "PATH"), std::nullopt);
}

TEST(ProcFiles, AProcessIsStoppedWhenNoneOfItsThreadsCanRun) {
  const test::WaitingChild child;
  EXPECT_FALSE(is_stopped(child.pid()));
  send_signal(child.pid(), SIGSTOP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WSTOPPED), 0);
  EXPECT_TRUE(is_stopped(child.pid()));
  EXPECT_TRUE(is_stopped(999999999)) << "a process that is gone does not run";
}

TEST(ParseMaps, TellsWhatAProgramIsMadeOf) {
  EXPECT_FALSE(parse_maps("00400000-00401000 r-xp 00000000 fe:00 1 /home/a/static\n").is_dynamic);
  const Image mpich = parse_maps(
      "7f r-xp 0 fe:00 1 /lib64/ld-linux-x86-64.so.2\n7f r-xp 0 fe:00 1 /usr/lib/libmpich.so.12.2.1\n"
      "7f r-xp 0 fe:00 1 /opt/libreplay-vm.so\n");
  EXPECT_TRUE(mpich.is_dynamic && mpich.has_mpich && mpich.has_vmlib && mpich.other_mpi.empty());
  EXPECT_EQ(parse_maps("7f r-xp 0 fe:00 1 /usr/lib/libmpi.so.40.30.4\n").other_mpi, "libmpi.so.40.30.4");
}

TEST(ParseMaps, TellsOpenMpiFromItsLauncherAndFromMpichOfTheSameName) {
  const std::string runtime = "7f r-xp 0 fe:00 1 /usr/lib/libopen-rte.so.12.0.3\n";
  const std::string library = "7f r-xp 0 fe:00 1 /usr/lib/libmpi.so.12.0.3\n";
  EXPECT_EQ(parse_maps(runtime).other_mpi, "") << "mpirun";
  EXPECT_TRUE(parse_maps(library).has_mpich);
  const Image old = parse_maps(library + runtime);
  EXPECT_EQ(old.other_mpi, "libopen-rte.so.12.0.3");
  EXPECT_FALSE(old.has_mpich);
  EXPECT_EQ(parse_maps("7f r-xp 0 fe:00 1 /l/libmpi_mpifh.so.40.1\n7f r-xp 0 fe:00 1 /l/libmpi.so.40.1\n").other_mpi,
            "libmpi.so.40.1");
}

TEST(IsOfAnotherMpi, KnowsTheLibrariesOfOpenMpi) {
  for (const char* file : {"libmpi.so.40", "libmpi.so.0.0.2", "libmpi.so.1", "libmpi_cxx.so.40", "libmpi_mpifh.so.40",
                           "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40", "libmpi.so.120"})
    EXPECT_TRUE(is_of_another_mpi(file)) << file;
  for (const char* file : {"libmpi.so.12", "libmpi.so.12.2.1", "libmpich.so.12", "libmpifort.so.12", "libmpicxx.so.12",
                           "libmpi_abi.so.0", "libmpi.so", "libmpi", "", "libc.so.6"})
    EXPECT_FALSE(is_of_another_mpi(file)) << file;
}

TEST(Process, IsNotOpenedForAnotherStartTime) {
  const test::WaitingChild child;
  const std::uint64_t start = read_stat(child.pid()).value().start;
  EXPECT_TRUE(Process::open(child.pid(), start));
  EXPECT_FALSE(Process::open(child.pid(), start + 1));
  EXPECT_FALSE(Process::open(1));
  EXPECT_FALSE(Process::open(-1));
}

TEST(Process, IsGoneAfterItsEnd) {
  const test::WaitingChild child;
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->is_gone());
  process->signal(SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process->is_gone());
  process->signal(SIGKILL);  // has no effect
}

TEST(Process, KeepsItsExitStatusOnceItIsReaped) {
  for (const int status : {3 << 8, SIGHUP}) {  // as waitpid gives it
    const pid_t child = ::fork();
    if (child == 0) {
      ::raise(WIFSIGNALED(status) ? SIGHUP : SIGSTOP);
      ::_exit(WEXITSTATUS(status));
    }
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WSTOPPED | WNOWAIT), 0);
    const auto process = Process::open(child);
    ASSERT_TRUE(process);
    EXPECT_EQ(process->exit_status(), std::nullopt);
    process->signal(SIGCONT);
    int waited = 0;
    ASSERT_EQ(::waitpid(child, &waited, 0), child);
    if (!process->exit_status()) GTEST_SKIP() << "Linux before 6.15";
    EXPECT_EQ(process->exit_status(), status);
  }
}

TEST(SendSignal, TakesNoNumberThatNamesAGroupOrEveryProcess) {
  constexpr int kNothing = 0;  // the signal that is not sent
  const InvariantsThrow throwing;
  EXPECT_TRUE(send_signal(::getpid(), kNothing));
  for (const pid_t number : {0, -1, -2}) EXPECT_THROW(send_signal(number, kNothing), BrokenInvariant) << number;
  for (const pid_t number : {1, 0, -1}) EXPECT_THROW(send_signal_to_group(number, kNothing), BrokenInvariant) << number;
}

}  // namespace
}  // namespace replay
