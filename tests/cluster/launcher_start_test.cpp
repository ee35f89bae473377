// Jobs that cannot be started, or are ended before their program was: what is the job's fault, and what is the site's.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "launcher/mpich/job_network.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST_F(Launcher, AMissingProgramIsNamed) {
  start();
  launch({"no-such-program-anywhere"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().reason, "program no-such-program-anywhere: not found, or not executable");
  EXPECT_FALSE(seen_.site_fault) << "the job is at fault";
}

TEST_F(Launcher, AMissingMpiexecIsNamed) {
  options_.mpiexec = "/nowhere/mpiexec";
  start();
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("/nowhere/mpiexec"), std::string::npos) << its_end().reason;
  EXPECT_TRUE(seen_.site_fault);
}

TEST_F(Launcher, AnAgentThatLacksAddressSpaceIsNotStarted) {
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit full{pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (std::size_t{2} << 20),
                    before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &full), 0);
  std::string said;
  try {
    start();
  } catch (const std::system_error& error) {
    said = error.what();
  }
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(said.find("the node agent cannot be started without 8 MB more of address space (ulimit -v)"), 0U) << said;
}

TEST_F(Launcher, AJobsFolderThatHasGoneIsAFaultOfTheSite) {
  start();
  fs::remove_all(directory_ / "job");
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_TRUE(seen_.site_fault) << its_end().reason;
  EXPECT_NE(its_end().reason.find((directory_ / "job").string()), std::string::npos) << its_end().reason;
}

// It was there as the job was submitted: `replay submit` and the service look.
TEST_F(Launcher, AFolderToRunInThatHasGoneIsAFaultOfTheSite) {
  start();
  auto job = order({"./program"}, 1);
  job.working_directory = directory_ / "gone";
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_TRUE(seen_.site_fault);
  EXPECT_EQ(its_end().reason,
            fmt::format("cannot start in {}: No such file or directory", job.working_directory.string()));
}

TEST_F(Launcher, AnMpiexecThatIsStoppedBeforeItStartsRanksIsNoFaultOfTheSite) {
  const auto mpiexec = find_program("mpiexec");
  ASSERT_TRUE(mpiexec);
  options_.mpiexec = directory_ / "mpiexec";
  std::ofstream{options_.mpiexec} << "#!/bin/sh\nkill -STOP $$\nexec " << mpiexec->string() << " \"$@\"\n";
  fs::permissions(options_.mpiexec, fs::perms::owner_all);
  options_.registration_limit = 3s;  // also for what follows, on a machine in use
  start();
  launch({"/bin/true"}, 1);
  EXPECT_FALSE(until([&] { return has_ended(); }, 4s)) << its_end().reason;
  for (const pid_t pid : descendants_of(agent_pid_))
    if (is_stopped(pid)) send_signal(pid, SIGCONT);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

// mpiexec 4.0.2 says nothing else where it could not fork its proxy.
class WithoutAProxy : public Launcher, public testing::WithParamInterface<JobNetwork> {
 protected:
  void SetUp() override {
    const auto why = why_no_own_network();
    if (why && GetParam() == JobNetwork::kOwn) GTEST_SKIP() << "a job's own network is not permitted: " << *why;
    Launcher::SetUp();
    options_.network = GetParam();
  }
  void end_after(const std::string& command) {
    options_.mpiexec = directory_ / "mpiexec";
    std::ofstream{options_.mpiexec} << "#!/bin/sh\n"
                                    << command << R"(
echo '[mpiexec@n] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed' >&2
exit 255
)";
    fs::permissions(options_.mpiexec, fs::perms::owner_all);
    start();
    launch({"/bin/true"}, 1);
    ASSERT_TRUE(until([&] { return has_ended(); }));
    EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  }
  void expect_no_fault_of_the_site() {
    EXPECT_FALSE(seen_.site_fault) << its_end().reason;
    EXPECT_EQ(its_end().reason.find("mpiexec lost its proxy"), 0U) << its_end().reason;
  }
};

INSTANTIATE_TEST_SUITE_P(In, WithoutAProxy, testing::Values(JobNetwork::kOwn, JobNetwork::kHost),
                         [](const auto& network) { return network.param == JobNetwork::kOwn ? "ItsOwn" : "TheHosts"; });

TEST_P(WithoutAProxy, AMpiexecThatNeverHadAChildIsAFaultOfTheSite) {
  end_after(":");
  EXPECT_TRUE(seen_.site_fault) << its_end().reason;
  EXPECT_EQ(its_end().reason.find("mpiexec could not fork its proxy"), 0U) << its_end().reason;
}

TEST_P(WithoutAProxy, AProxyThatWasThereMayHaveStartedTheProgram) {
  end_after("/bin/true");
  expect_no_fault_of_the_site();
}

// As after another program's connection, which mpiexec takes for its proxy's.
TEST_P(WithoutAProxy, AProxyThatMpiexecHasNotWaitedForWasThere) {
  fs::copy_file("/bin/sleep", directory_ / "hydra_pmi_proxy");
  end_after((directory_ / "hydra_pmi_proxy").string() + " 60 &");
  expect_no_fault_of_the_site();
}

TEST_F(Launcher, AJobHasBegunWhenItsRanksHaveBeenStartedAndLongBeforeTheyRegister) {
  start();
  launch({"/bin/sleep", "60"}, 2);
  ASSERT_TRUE(until([&] { return !seen_.begun.empty(); }));
  EXPECT_FALSE(has_started());
  EXPECT_TRUE(until([&] { return rank(1) != 0; }));
  executor_->end(kJob, Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kKilled);
}

TEST_F(Launcher, AJobThatIsEndedBeforeItsProgramWasStartedHasNotBegun) {
  options_.mpiexec = directory_ / "mpiexec";
  std::ofstream{options_.mpiexec} << "#!/bin/sh\nexec sleep 60\n";
  fs::permissions(options_.mpiexec, fs::perms::owner_all);
  start();
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return process_named("sleep") != 0; }));
  executor_->end(kJob, Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kKilled);
  EXPECT_TRUE(seen_.begun.empty());
}

}  // namespace
}  // namespace replay::launcher
