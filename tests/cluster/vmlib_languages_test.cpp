// Tests that programs in five languages, and one with OpenMP threads, survive 20 shrinks and 20 expands each while they
// compute, under both ways of giving a core away, and get the exact right answer. There are two ranks on two cores, and
// the test acts as the agent: to shrink, it marks both as sharing a core, then moves the second rank to the first one's
// core; to expand, it moves it back, then unmarks. Between moves it waits until both ranks have made progress, for 20 s
// at most.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>

#include "launcher/os/binding.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "tests/support/mpi_job.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/vm_host.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;

constexpr int kCycles = 20;
constexpr std::uint64_t kSomePolls = 200;    // unsuccessful polls; many steps of the program
constexpr std::uint64_t kSomeHandoffs = 50;  // the core went back and forth

/// The two ranks of one job, and their cores.
class Pair {
 public:
  Pair(VmHost& host, const std::vector<int>& cores, replay_vm_back_end back_end)
      : host_(host), cores_(cores), back_end_(back_end) {
    order(1, false);
  }

  void shrink() {
    order(0, true);
    launcher::bind_all_threads(topology_, pid(1), launcher::PuId{cores_[0]});
  }
  void expand() {
    launcher::bind_all_threads(topology_, pid(1), launcher::PuId{cores_[1]});
    order(1, false);
  }

  [[nodiscard]] bool gets_on_shared() const { return both_add(&replay_vm_report::handoffs, kSomeHandoffs); }
  [[nodiscard]] bool gets_on_apart() const { return both_add(&replay_vm_report::polls, kSomePolls); }
  [[nodiscard]] pid_t pid(std::uint32_t rank) const { return host_.report(rank).pid; }
  [[nodiscard]] bool is_on(std::uint32_t rank, int core) const {
    return launcher::is_bound(pid(rank), launcher::PuId{core});
  }

 private:
  /// Orders the second rank's core; the first one always is on the first core.
  void order(std::uint32_t core_of_second, bool is_shared) {
    const std::uint32_t places[] = {0, core_of_second};
    for (const std::uint32_t rank : {0U, 1U}) {
      if (back_end_ == REPLAY_VM_TOKEN) {
        host_.seat(rank, places[rank], is_shared);
      } else {
        host_.share(rank, is_shared, static_cast<std::int32_t>(places[rank]));
      }
    }
  }

  [[nodiscard]] bool both_add(std::uint64_t replay_vm_report::*count, std::uint64_t by) const {
    const std::uint64_t goals[] = {host_.report(0).*count + by, host_.report(1).*count + by};
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (const std::uint32_t rank : {0U, 1U}) {
      while (host_.report(rank).*count < goals[rank]) {
        if (host_.report(rank).state != REPLAY_VM_RUNNING || std::chrono::steady_clock::now() > give_up) return false;
        std::this_thread::sleep_for(1ms);
      }
    }
    return true;
  }

  VmHost& host_;
  const std::vector<int>& cores_;
  replay_vm_back_end back_end_;
  launcher::Topology topology_ = launcher::load_topology();
};

class VmlibLanguages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpich()) GTEST_SKIP() << "no MPICH here (mpiexec of Hydra), so no program was shrunk or expanded";
    if (all_cores.size() < 2) GTEST_SKIP() << "needs two cores";
  }
  void TearDown() override { stop(); }

  /// Starts two ranks of `name`, which run until stop(). False: they do not complete MPI_Init.
  bool start(const std::string& name) {
    Environment environment = under_replay(host);
    environment["OMP_NUM_THREADS"] = "3";  // the default would be the rank's number of cores: one
    environment["OMP_WAIT_POLICY"] = "passive";
    job = std::async(std::launch::async, [this, environment, name] {
      return mpi(2, all_cores, environment, program(name) + " " + stop_file());
    });
    return host.reaches(0, REPLAY_VM_RUNNING, 20s) && host.reaches(1, REPLAY_VM_RUNNING, 20s);
  }
  void stop() const { write_text(stop_file(), ""); }
  [[nodiscard]] std::string stop_file() const { return (folder / "stop").string(); }

  void expect_success() {
    stop();
    const Outcome outcome = job.get();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.output.starts_with("VERIFICATION SUCCESSFUL")) << outcome.output;
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_EQ(host.report(rank).state, REPLAY_VM_FINALIZED) << "rank " << rank;
      EXPECT_EQ(host.report(rank).mode, REPLAY_VM_MODE_PROGRESS) << "rank " << rank;
    }
  }

  std::vector<int> all_cores = cores();
  TemporaryFolder folder;
  VmHost host{2};
  std::future<Outcome> job;  // last: it has ended before anything it uses is destroyed
};

struct BackEnd {
  const char* name;
  replay_vm_back_end value;
};
void PrintTo(const BackEnd& back_end, std::ostream* out) { *out << back_end.name; }
constexpr BackEnd kBackEnds[] = {{"yield", REPLAY_VM_YIELD}, {"token", REPLAY_VM_TOKEN}};

using Case = std::tuple<const char*, BackEnd>;
class VmlibResized : public VmlibLanguages, public ::testing::WithParamInterface<Case> {};

TEST_P(VmlibResized, SurvivesTwentyShrinksAndExpandsWithTheRightAnswer) {
  const auto& [name, back_end] = GetParam();
  if (!std::filesystem::exists(program(name))) GTEST_SKIP() << name << " was not built: no compiler for it";
  Pair ranks{host, all_cores, back_end.value};
  ASSERT_TRUE(start(name));
  int cycles = 0;
  for (; cycles < kCycles; ++cycles) {
    ranks.shrink();
    ASSERT_TRUE(ranks.gets_on_shared()) << "cycle " << cycles << ", on one core";
    ranks.expand();
    ASSERT_TRUE(ranks.gets_on_apart()) << "cycle " << cycles << ", on two cores";
  }
  EXPECT_EQ(cycles, kCycles);
  if (back_end.value == REPLAY_VM_TOKEN) {
    EXPECT_GE(host.handovers(0), kCycles * kSomeHandoffs);
  }
  expect_success();
}

INSTANTIATE_TEST_SUITE_P(Languages, VmlibResized,
                         ::testing::Combine(::testing::Values("advection", "advection_cxx", "advection_mpif",
                                                              "advection_use_mpi", "advection_f08", "advection_openmp"),
                                            ::testing::ValuesIn(kBackEnds)),
                         [](const ::testing::TestParamInfo<Case>& one) {
                           return std::string{std::get<0>(one.param)} + "_" + std::get<1>(one.param).name;
                         });

TEST_F(VmlibLanguages, EveryThreadOfAHybridRankFollowsItToItsCore) {
  if (!std::filesystem::exists(program("advection_openmp"))) GTEST_SKIP() << "no OpenMP here";
  Pair ranks{host, all_cores, REPLAY_VM_YIELD};
  ASSERT_TRUE(start("advection_openmp"));
  ASSERT_TRUE(ranks.gets_on_apart()) << "so OpenMP has made its threads";
  EXPECT_GE(threads_of(ranks.pid(1)).size(), 3U);
  for (const int core : {all_cores[0], all_cores[1]}) {
    core == all_cores[0] ? ranks.shrink() : ranks.expand();
    EXPECT_TRUE(ranks.is_on(1, core));
    EXPECT_TRUE(ranks.is_on(0, all_cores[0]));
  }
  expect_success();
}

}  // namespace
}  // namespace replay::test
