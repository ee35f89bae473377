// Tests of jobs that cannot share their cores: vmlib is missing, broken or of another version, or cannot serve the
// program. Such a job runs to its end as a rigid one and is reported with the reason; nothing waits for it for ever.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scheduler/protocol/wire.h"
#include "tests/support/failures_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Misfits : public Failures {
 protected:
  /// Starts two ranks with `vmlib` and expects that they run as a rigid job because of `reason`, and complete.
  void expect_rigid_with(const fs::path& vmlib, const std::string& reason) {
    options_.vmlib = vmlib;
    start();
    launch({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2);
    expect_rigid_because(reason);
    expect_end(Outcome::kCompleted, "");
  }
};

// ---- vmlib ----------------------------------------------------------------------------------------------------------

TEST_F(Misfits, AMissingVmlibMakesRigidJobs) {
  expect_rigid_with(directory_ / "libreplay-vm.so", "vmlib cannot be read at " + directory_.path().string());
}

TEST_F(Misfits, AVmlibThatMayNotBeReadMakesRigidJobs) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const fs::path vmlib = directory_ / "libreplay-vm.so";
  fs::copy_file(REPLAY_VMLIB, vmlib);
  ::chmod(vmlib.c_str(), 0);
  expect_rigid_with(vmlib, "Permission denied");
}

TEST_F(Misfits, ADirectoryInVmlibsPlaceMakesRigidJobs) {
  fs::create_directory(directory_ / "libreplay-vm.so");
  expect_rigid_with(directory_ / "libreplay-vm.so", "vmlib cannot be read at " + directory_.path().string());
}

TEST_F(Misfits, ATextFileInVmlibsPlaceMakesRigidJobs) {
  const fs::path vmlib = directory_ / "libreplay-vm.so";
  std::ofstream{vmlib} << "not a library at all, but long enough to have a header that could be looked at\n";
  expect_rigid_with(vmlib, vmlib.string() + " is no shared library of this machine");
}

TEST_F(Misfits, AVmlibOfAnotherVersionMakesRigidJobs) { expect_rigid_with(REPLAY_OTHER_VMLIB, "vmlib of version 99"); }

TEST_F(Misfits, AVmlibWithoutAWayIntoTheMpiMakesRigidJobs) {
  start();
  auto job = order({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2);
  job.environment = {{"REPLAY_VM_MODE", "none"}};
  executor_->launch(job);
  expect_rigid_because("vmlib cannot give the core away in rank 0");
  expect_end(Outcome::kCompleted, "");
}

// ---- programs -------------------------------------------------------------------------------------------------------

TEST_F(Misfits, AProgramOfAnotherMpiIsNotStartedAsSeveralRanks) {
  start();
  launch({REPLAY_OTHER_MPI_PROGRAM, "0"}, 2);
  expect_end(Outcome::kFailed, "other_mpi_program uses another MPI (libmpi.so.40)");
  EXPECT_EQ(file("stdout"), "");
}

TEST_F(Misfits, OneRankOfAnotherMpiIsRigidAndCompletes) {
  expect_registrations_soon();
  start();
  launch({REPLAY_OTHER_MPI_PROGRAM, "2"}, 1);
  expect_rigid_because("other_mpi_program is linked to another MPI (libmpi.so.40");
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(file("stdout"), "one of 1\n");
}

TEST_F(Misfits, AScriptThatStartsAnotherMpiHasFailedHoweverShortItIs) {
  start();
  launch({"/bin/sh", "-c", REPLAY_OTHER_MPI_PROGRAM " 0"}, 2);
  expect_end(Outcome::kFailed, "other_mpi_program uses another MPI (libmpi.so.40");
}

TEST_F(Misfits, AModuleOfAnotherMpiEndsItsJobAsSoonAsItStartsMpi) {
  start();
  launch({REPLAY_LOADS_OTHER_MPI, REPLAY_OTHER_MPI_MODULE, "60"}, 2);
  expect_end(Outcome::kFailed, "loads_other_mpi uses another MPI (libmpi.so.40");
}

TEST_F(Misfits, WithoutVmlibAModuleOfAnotherMpiIsSeenByWhatIsMapped) {
  start();
  live::LaunchOrder job = order({REPLAY_LOADS_OTHER_MPI, REPLAY_OTHER_MPI_MODULE, "60"}, 2);
  job.malleable = false;
  executor_->launch(job);
  expect_end(Outcome::kFailed, "loads_other_mpi uses another MPI (libmpi.so.40");
}

TEST_F(Misfits, RanksOfAnotherMpisOwnLauncherAreNotDisturbed) {
  start();
  live::LaunchOrder job = order({"/bin/sh", "-c", REPLAY_OTHER_MPI_PROGRAM " 0"}, 2);
  job.environment = {{REPLAY_VM_ENV_OTHER_LAUNCHER, "1"}};
  executor_->launch(job);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(file("stdout"), "one of 1\none of 1\n");
}

TEST_F(Misfits, AStaticProgramIsNamed) {
  expect_registrations_soon();
  start();
  launch({REPLAY_STATIC_PROGRAM, "2"}, 2);
  expect_rigid_because("static_program is statically linked");
  expect_end(Outcome::kCompleted, "");
}

TEST_F(Misfits, AScriptThatStartsNoMpiIsNamed) {
  expect_registrations_soon();
  start();
  launch({"/bin/sh", "-c", "sleep 2; echo done"}, 1);
  expect_rigid_because("uses no MPI");
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(file("stdout"), "done\n");
}

TEST_F(Misfits, TheLimitOfRegistrationIsSaidAsItIs) {
  expect_registrations_soon();
  start();
  launch({REPLAY_STATIC_PROGRAM, "2"}, 2);
  expect_rigid_because("within 1.54 s");
  expect_end(Outcome::kCompleted, "");
}

TEST_F(Misfits, AProgramThatStartsMpiLateIsMalleableFromThenOn) {
  expect_registrations_soon();
  start();
  launch({"/bin/sh", "-c", "sleep 4; exec " REPLAY_RANK_PROGRAM " talk 60"}, 2);
  expect_rigid_because("not yet shrinkable: no rank registered");
  ASSERT_TRUE(until([&] { return seen_.started.at(kJob) || has_ended(); }));
  ASSERT_FALSE(has_ended()) << its_end().reason;
  EXPECT_EQ(seen_.reason.at(kJob), "its ranks have registered");
  executor_->resize(kJob, {core(0), core(0)});
  EXPECT_TRUE(until([&] { return seen_.resized == 1 || !seen_.failed.empty(); }));
  EXPECT_EQ(seen_.failed, std::vector<std::string>{});
  order_end(Outcome::kKilled);
  expect_end(Outcome::kKilled, "");
}

TEST_F(Misfits, AProgramThatStartsMpiLateAndWasAskedToBeRigidStaysSo) {
  expect_registrations_soon();
  start();
  auto job = order({"/bin/sh", "-c", "sleep 4; exec " REPLAY_RANK_PROGRAM " talk 0.2"}, 2);
  job.malleable = false;
  executor_->launch(job);
  expect_rigid_because("asked to be rigid");
  expect_end(Outcome::kCompleted, "");
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_EQ(its_end().verification, Verification::kPassed);
}

TEST_F(Misfits, RanksOfAnInnerMpiexecAreNotTakenForTheJobs) {
  expect_registrations_soon(3s);
  start();
  launch({"/bin/sh", "-c", "[ $PMI_RANK = 0 ] || exec sleep 4; exec mpiexec -n 2 " REPLAY_RANK_PROGRAM " talk 0.5"}, 2);
  expect_rigid_because("not yet shrinkable: no rank registered");
  expect_end(Outcome::kCompleted, "");
  EXPECT_FALSE(seen_.started.at(kJob));
}

// ---- ranks that leave before MPI_Init -------------------------------------------------------------------------------

TEST_F(Misfits, ARankThatLeavesBeforeInitEndsTheJobThatWouldWaitForItForEver) {
  expect_registrations_soon();
  start();
  launch({REPLAY_FAULT_PROGRAM, "early", "0"}, 2);
  expect_end(Outcome::kFailed, "rank 1 left before MPI_Init (exit code unknown)");
}

TEST_F(Misfits, SoDoesOneThatLeavesWithAnExitCodeBecauseHydraDoesNotMindEither) {
  expect_registrations_soon();
  start();
  launch({REPLAY_FAULT_PROGRAM, "early", "3"}, 2);
  expect_end(Outcome::kFailed, "rank 1 left before MPI_Init (exit code unknown)");
}

TEST_F(Misfits, ARankThatLeavesBeforeInitLongAfterTheLimitEndsTheJobToo) {
  expect_registrations_soon();
  start();
  launch({"/bin/sh", "-c", "[ $PMI_RANK = 0 ] || { sleep 4; exit 0; }; exec " REPLAY_RANK_PROGRAM " talk 1"}, 2);
  expect_rigid_because("only 1 of 2 ranks registered");
  expect_end(Outcome::kFailed, "rank 1 left before MPI_Init (exit code unknown)");
}

TEST_F(Misfits, ARankThatIsOnlyLateIsWaitedFor) {
  expect_registrations_soon();
  start();
  launch({REPLAY_FAULT_PROGRAM, "late", "5"}, 2);
  expect_rigid_because("only 1 of 2 ranks registered");
  expect_end(Outcome::kCompleted, "");
  EXPECT_TRUE(seen_.started.at(kJob)) << "once both had";
}

}  // namespace
}  // namespace replay::launcher
