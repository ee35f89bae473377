// Tests of the orders for a running job, on emulated cores: when they are carried out, in which order, and when they
// are answered. Sleeping processes stand for the ranks.
#include "launcher/agent/job/job_orders.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/segment_mapping.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

class Sleeper {
 public:
  Sleeper() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class TheOrders : public testing::Test {
 protected:
  static constexpr JobId kJob{7};

  void SetUp() override {
    site_.loop = loop_.get();
    site_.cores = &cores_;
    site_.is_emulated = true;
    site_.quantum = 1ms;
    site_.report = [this](const protocol::AgentReport& report) {
      std::visit([this](const auto& r) { hear(r); }, report);
    };
    protocol::LaunchJob order;
    order.job = kJob;
    order.core_of_rank = {0, 1};
    order.malleable = true;
    job_ = std::make_unique<JobContext>(site_, order, [](std::size_t) {});
    job_->ranks.enter(std::make_unique<JobSegment>("7", job_->key, 2, JobFacts{}));
    orders_ = std::make_unique<JobOrders>(*job_, [] {});
  }
  void TearDown() override {
    orders_.reset();
    job_->ranks.leave();
  }

  void hear(const protocol::RanksMoved&) { heard_.emplace_back("moved"); }
  void hear(const protocol::JobSuspended&) { heard_.emplace_back("suspended"); }
  void hear(const protocol::JobResumed&) { heard_.emplace_back("resumed"); }
  void hear(const protocol::OrderFailed& failure) { heard_.push_back(failure.action + ": " + failure.reason); }
  void hear(const protocol::AgentReport&) { heard_.emplace_back("another report"); }

  void register_ranks() {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      replay_vm_hello hello{};
      hello.world_rank = rank;
      hello.pid = sleepers_[static_cast<std::size_t>(rank)].pid();
      ASSERT_TRUE(job_->ranks.add(hello, UniqueFd{}));
    }
  }
  void run_for(std::chrono::milliseconds time) {
    LoopEvent end{loop_.get(), -1, 0, [this] { event_base_loopbreak(loop_.get()); }};
    end.arm_after(time);
    event_base_dispatch(loop_.get());
  }
  void run_until_heard(std::size_t reports) {
    for (int tries = 0; tries < 2000 && heard_.size() < reports; ++tries) run_for(5ms);
  }
  void move_to(std::vector<std::int32_t> core_of_rank) {
    orders_->carry_out(protocol::MoveRanks{kJob, std::move(core_of_rank)});
  }
  replay_vm_core& token(std::uint32_t core) {
    return *replay_vm_core_at(static_cast<replay_vm_cores*>(tokens_.start()), core);
  }
  void hold_token_of_core_0() { token(0).holder = static_cast<std::uint32_t>(sleepers_[0].pid()); }

  Sleeper sleepers_[2];
  EventBase loop_{event_base_new()};
  NodeCores cores_{4, {REPLAY_VM_TOKEN, REPLAY_VM_TOKEN}};
  SegmentMapping tokens_{cores_.segment().descriptor()};
  AgentSite site_;
  std::unique_ptr<JobContext> job_;
  std::unique_ptr<JobOrders> orders_;
  std::vector<std::string> heard_;
};

using Heard = std::vector<std::string>;

TEST_F(TheOrders, WaitForTheStart) {
  register_ranks();
  move_to({2, 3});
  EXPECT_EQ(heard_, Heard{});
  EXPECT_EQ(job_->ranks.core_of_rank(), (std::vector<std::int32_t>{0, 1}));
  orders_->on_started();
  EXPECT_EQ(heard_, Heard{"moved"});
  EXPECT_EQ(job_->ranks.core_of_rank(), (std::vector<std::int32_t>{2, 3}));
}

TEST_F(TheOrders, AMoveIsAnsweredWhenTheOldCoreIsFree) {
  site_.quantum = 10s;
  register_ranks();
  orders_->on_started();
  hold_token_of_core_0();
  move_to({2, 3});
  run_for(20ms);
  EXPECT_EQ(heard_, Heard{});
  token(0).holder = 0;
  run_until_heard(1);
  EXPECT_EQ(heard_, Heard{"moved"});
}

TEST_F(TheOrders, ARankThatDoesNotLetGoLosesTheTokenOfItsOldCore) {
  register_ranks();
  orders_->on_started();
  hold_token_of_core_0();
  move_to({2, 3});
  run_until_heard(1);
  EXPECT_EQ(heard_, Heard{"moved"});
  EXPECT_EQ(token(0).holder, 0U);
}

TEST_F(TheOrders, AreCarriedOutOneAfterTheOther) {
  register_ranks();
  orders_->on_started();
  hold_token_of_core_0();
  move_to({2, 3});
  orders_->carry_out(protocol::SuspendJob{kJob});
  orders_->carry_out(protocol::ResumeJob{kJob});
  EXPECT_FALSE(job_->ranks.is_suspended());
  run_until_heard(3);
  EXPECT_EQ(heard_, (Heard{"moved", "suspended", "resumed"}));
}

TEST_F(TheOrders, ASuspendedJobsRanksAreStoppedAndDoNotCountAsNeighbours) {
  register_ranks();
  cores_.enter(JobId{8}, {}, {0});
  orders_->on_started();
  orders_->carry_out(protocol::SuspendJob{kJob});
  run_until_heard(1);
  for (const Sleeper& rank : sleepers_) EXPECT_TRUE(is_stopped(rank.pid()));
  EXPECT_TRUE(cores_.is_alone(JobId{8}));
  orders_->carry_out(protocol::ResumeJob{kJob});
  EXPECT_EQ(heard_, (Heard{"suspended", "resumed"}));
  EXPECT_FALSE(cores_.is_alone(JobId{8}));
}

TEST_F(TheOrders, AMoveThatCannotBeIsRefusedWithTheReason) {
  orders_->on_started();
  move_to({2, 3});
  register_ranks();
  move_to({2});
  move_to({2, 4});
  EXPECT_EQ(heard_, (Heard{"resize: the job is rigid: its ranks are not registered",
                           "resize: expected 2 cores, one per rank, found 1",
                           "resize: core 4 does not exist: expected 0 to 3"}));
}

TEST_F(TheOrders, AJobThatIsToEndAnswersNoneOfThem) {
  site_.quantum = 10s;
  register_ranks();
  orders_->on_started();
  hold_token_of_core_0();
  move_to({2, 3});
  orders_->carry_out(protocol::SuspendJob{kJob});
  orders_->stop();
  run_for(20ms);
  EXPECT_EQ(heard_, Heard{});
  EXPECT_TRUE(cores_.table().on(0).empty()) << "the move's old cores are left";
}

}  // namespace
}  // namespace replay::launcher
