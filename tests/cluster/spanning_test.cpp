// Tests of one MPI job on two nodes: mpiexec with replay-proxy, proxies that an agent starts, and a sealed stream between the
// two. This process plays the agents of both nodes in one loop; the ranks share this machine's memory and network.
#include "launcher/mpich/spanning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/mpich/mpiexec.hpp"
#include "launcher/mpich/proxy_desk.hpp"
#include "launcher/mpich/sealed_relay.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/two_cores.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

const std::string kHome = "home", kFar = "far";
constexpr std::size_t kRanksOfANode = 2;

/// One node's part of the job.
struct Node {
  std::string name;
  std::size_t first_rank = 0;
  UniqueFd control;  ///< home's proxy has mpiexec's line itself
  std::unique_ptr<SealedRelay> relay;
  std::optional<StartedProxy> proxy;
  std::optional<LoopEvent> proxy_event;
  bool has_ended = false;  ///< the proxy was reaped
};

class Spanning : public testing::Test {
 protected:
  void SetUp() override {
    const test::TwoCores cores = test::two_cores();
    if (!cores.missing.empty()) GTEST_SKIP() << cores.missing;
    ::signal(SIGPIPE, SIG_IGN);
    home_.name = kHome;
    far_.name = kFar;
    far_.first_rank = kRanksOfANode;
  }
  void TearDown() override {
    if (!mpiexec_.process) return;
    EXPECT_TRUE(until([this] { return left().empty(); }, 2s)) << left();
    EXPECT_FALSE(HasFailure()) << test::text_of(folder_ / "stderr");
    mpiexec_.process->signal(SIGKILL);
    for (Node* node : {&home_, &far_}) kill_what_is_left_of(*node);
    until([this] { return is_over(); });
  }

  void launch(const Words& command) {
    const fs::path program = find_mpiexec();
    proxy_program_ = find_proxy_beside(program);
    if (token_is_known_) desk_.expect(token_, [this](ProxyCall call) { start(std::move(call)); });
    const auto arguments = spanning_arguments(
        {REPLAY_PROXY_PROGRAM, {{kHome, kRanksOfANode}, {kFar, kRanksOfANode}}, {{"SHARED", "by all"}}, command});
    const auto network = why_no_own_network() ? JobNetwork::kHost : JobNetwork::kOwn;
    mpiexec_ = start_mpiexec(program, arguments, spanning_environment(folder_ / "desk", token_),
                             {folder_.path(), folder_.path(), network});
    mpiexec_event_.emplace(loop_.get(), mpiexec_.process->pidfd(), EV_READ, [this] {
      int status = 0;
      ::waitpid(mpiexec_.process->pid(), &status, 0);
      status_ = status;
    });
    mpiexec_event_->arm();
  }
  /// The script runs once for each rank, and marks a rank that has finalized.
  void launch_script(const std::string& script) { launch({"/bin/sh", "-c", script + " && touch finalized.$PMI_RANK"}); }
  void launch_ranks(const std::string& how) { launch_script(std::string{REPLAY_RANK_PROGRAM} + " " + how); }
  /// Ranks that compute until the test ends them.
  void launch_and_await_ranks() {
    launch({REPLAY_RANK_PROGRAM, "tell", "60"});
    ASSERT_TRUE(until([this] { return out() == "talking\n"; }));
    ASSERT_EQ(ranks().size(), 2 * kRanksOfANode);
  }

  // ---- what the agents do ----

  void start(ProxyCall call) {
    ++calls_;
    Node& node = call.host == kHome ? home_ : far_;
    int line = call.control.get();
    UniqueFd proxys;
    if (call.host == kHome) {
      node.control = std::move(call.control);
    } else {
      ControlLine local = make_control_line();
      proxys = std::move(local.proxys);
      line = proxys.get();
      connect(std::move(call.control), std::move(local.ours));
    }
    Variables environment = variables_for_job(own_environment(), JobNetwork::kHost).kept;
    environment.insert(environment.end(), {{"NODE", node.name}, {"SPANNING_TEST", mark_}});
    const int core = number(affinity_mask()[call.host == kHome ? 0 : 1]);
    node.proxy.emplace(start_proxy({proxy_program_, call.arguments, line, environment, {core}, folder_.path()}));
    node.proxy_event.emplace(loop_.get(), node.proxy->process.pidfd(), EV_READ, [this, &node] { reap(node); });
    node.proxy_event->arm();
  }

  /// The stream between the agents, with a relay at each end.
  void connect(UniqueFd mpiexecs_line, UniqueFd proxys_line) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    wire_ = ends[0];
    protocol::SealKey to_far, to_home;
    to_far.fill(1);
    to_home.fill(2);
    home_.relay = std::make_unique<SealedRelay>(loop_.get(), std::move(mpiexecs_line), UniqueFd{ends[0]},
                                                protocol::FrameSealer{to_far}, protocol::FrameDecoder{to_home},
                                                SealedRelay::Callbacks{[this](const ProxyEnd& end) {
                                                                         far_end_ = end;
                                                                         home_.relay.reset();
                                                                         if (end.finalized < end.ranks)
                                                                           end_unless_noticed();
                                                                       },
                                                                       {},
                                                                       [this](const std::string& why) {
                                                                         lost_ = why;
                                                                         home_.relay.reset();
                                                                       }});
    far_.relay = std::make_unique<SealedRelay>(
        loop_.get(), std::move(proxys_line), UniqueFd{ends[1]}, protocol::FrameSealer{to_home},
        protocol::FrameDecoder{to_far},
        SealedRelay::Callbacks{{}, [this] { far_.relay.reset(); }, [this](const std::string&) { far_.relay.reset(); }});
  }

  /// Rule 5 of the ADR.
  void reap(Node& node) {
    ::waitpid(node.proxy->process.pid(), nullptr, 0);
    node.has_ended = true;
    ProxyEnd end{0, kRanksOfANode, ""};
    for (std::size_t rank = node.first_rank; rank < node.first_rank + kRanksOfANode; ++rank)
      end.finalized += fs::exists(folder_ / ("finalized." + std::to_string(rank))) ? 1U : 0U;
    if (node.control.is_open()) {
      end_control_line(node.control);
      if (end.finalized < end.ranks) end_unless_noticed();
    } else if (node.relay) {
      node.relay->drain(end);
    }
    kill_what_is_left_of(node);
  }
  /// mpiexec ends by itself, with the status of the rank, where it knows what has happened.
  void end_unless_noticed() { unnoticed_.arm_after(200ms); }
  void kill_what_is_left_of(const Node& node) const {
    for (const pid_t pid : processes_with("SPANNING_TEST=" + mark_))
      if (const auto process = Process::open(pid); process && environment_has(pid, "NODE=" + node.name))
        process->signal(SIGKILL);
  }

  // ---- what the tests see ----

  bool until(const std::function<bool()>& happened, std::chrono::milliseconds limit = 20s) {
    LoopEvent tick{loop_.get(), -1, EV_PERSIST, [] {}};
    tick.arm_after(5ms);
    for (const auto end = Clock::now() + limit; !happened() && Clock::now() < end;)
      event_base_loop(loop_.get(), EVLOOP_ONCE);
    return happened();
  }
  [[nodiscard]] bool has_ended() const { return status_.has_value(); }
  [[nodiscard]] bool is_over() const {
    return has_ended() && (!home_.proxy || home_.has_ended) && (!far_.proxy || far_.has_ended) && !home_.relay &&
           !far_.relay;
  }
  /// The MPI programs that run, by rank.
  [[nodiscard]] std::map<std::size_t, Process> ranks() const {
    std::map<std::size_t, Process> found;
    for (const pid_t pid : processes_with("SPANNING_TEST=" + mark_)) {
      const auto stat = read_stat(pid);
      const auto rank = rank_of(pid);
      const bool is_shell = stat && !fs::path{REPLAY_RANK_PROGRAM}.filename().string().starts_with(stat->name);
      if (!stat || !rank || is_shell || stat->state == 'Z') continue;
      if (auto process = Process::open(pid, stat->start)) found.emplace(*rank, std::move(*process));
    }
    return found;
  }
  [[nodiscard]] std::string left() const { return test::processes_marked("SPANNING_TEST=" + mark_); }
  [[nodiscard]] std::string out() const { return test::text_of(folder_ / "stdout"); }

  TemporaryFolder folder_{"spanning-test"};
  EventBase loop_{event_base_new()};
  const std::string token_ = "0123456789abcdef0123456789abcdef";
  const std::string mark_ = folder_.path().filename().string();
  ProxyDesk desk_{loop_.get(), folder_ / "desk"};
  fs::path proxy_program_;
  StartedMpiexec mpiexec_;
  std::optional<LoopEvent> mpiexec_event_;
  std::optional<int> status_;
  Node home_, far_;
  int wire_ = -1;
  bool token_is_known_ = true;
  int calls_ = 0;
  int sigterms_ = 0;
  LoopEvent unnoticed_{loop_.get(), -1, 0, [this] {
                         if (has_ended()) return;
                         ++sigterms_;
                         mpiexec_.process->signal(SIGTERM);
                       }};
  std::optional<ProxyEnd> far_end_;
  std::optional<std::string> lost_;
};

TEST_F(Spanning, EachRankHasItsNodesCoreAndEnvironmentAndNothingOfMpiexecs) {
  launch_script(
      "echo rank $PMI_RANK of $PMI_SIZE on $NODE, $(grep Cpus_allowed_list /proc/self/status | cut -f2), $SHARED, "
      "[$REPLAY_PROXY_TOKEN$HYDRA_LAUNCHER_AUTOFORK] && " REPLAY_RANK_PROGRAM " talk 0.2");
  ASSERT_TRUE(until([this] { return is_over(); }));
  EXPECT_EQ(*status_, 0);
  EXPECT_EQ(calls_, 2);
  EXPECT_EQ(far_end_, (ProxyEnd{2, 2, ""}));
  EXPECT_EQ(sigterms_, 0);
  for (std::size_t rank = 0; rank < 2 * kRanksOfANode; ++rank) {
    const bool is_home = rank < kRanksOfANode;
    const std::string line = fmt::format("rank {} of 4 on {}, {}, by all, []\n", rank, is_home ? kHome : kFar,
                                         number(affinity_mask()[is_home ? 0 : 1]));
    EXPECT_NE(out().find(line), std::string::npos) << line << "in\n" << out();
  }
  EXPECT_EQ(find_verification(out()), Verification::kPassed);
}

TEST_F(Spanning, AllOutputOfAllRanksArrives) {
  constexpr std::ptrdiff_t kBytes = 1'000'000;
  launch_script(fmt::format("head -c {} /dev/zero | tr '\\0' $PMI_RANK", kBytes));
  ASSERT_TRUE(until([this] { return is_over(); }));
  EXPECT_EQ(*status_, 0);
  const std::string all = out();
  for (const char rank : {'0', '1', '2', '3'}) EXPECT_EQ(std::ranges::count(all, rank), kBytes) << rank;
}

TEST_F(Spanning, TheProgramsExitCodeIsMpiexecs) {
  launch_script(REPLAY_RANK_PROGRAM " return; code=$?; touch finalized.$PMI_RANK; exit $code");
  ASSERT_TRUE(until([this] { return is_over(); }));
  EXPECT_EQ(*status_, 4 << 8);
}

TEST_F(Spanning, AKilledRankEndsTheJobOnBothNodes) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  ranks().at(3).signal(SIGKILL);
  ASSERT_TRUE(until([this] { return is_over(); }, 2s));
  EXPECT_EQ(*status_, SIGKILL << 8) << "mpiexec exits with the signal's number";
  EXPECT_EQ(sigterms_, 0) << "mpiexec has noticed";
}

TEST_F(Spanning, AKilledProxyOfTheOtherNodeEndsTheJob) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  far_.proxy->process.signal(SIGKILL);
  ASSERT_TRUE(until([this] { return is_over(); }, 2s));
  EXPECT_EQ(far_end_, (ProxyEnd{0, 2, ""}));
  EXPECT_NE(*status_, 0);
}

TEST_F(Spanning, AKilledProxyOfMpiexecsNodeEndsTheJob) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  home_.proxy->process.signal(SIGKILL);
  ASSERT_TRUE(until([this] { return is_over(); }, 2s));
  EXPECT_NE(*status_, 0);
}

TEST_F(Spanning, SigpipeEndsTheProxysPartAndThatTheJob) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  far_.proxy->process.signal(SIGPIPE);
  ASSERT_TRUE(until([this] { return far_.has_ended; }, 2s));
  EXPECT_EQ(ranks().count(2) + ranks().count(3), 0U) << "the proxy has killed its ranks";
  ASSERT_TRUE(until([this] { return is_over(); }, 2s));
  EXPECT_EQ(far_end_, (ProxyEnd{0, 2, ""}));
}

// mpiexec and the other node's ranks would stay for ever.
TEST_F(Spanning, ARankThatLeavesWithoutFinalizingEndsTheJob) {
  launch({REPLAY_RANK_PROGRAM, "desert", "60"});
  ASSERT_TRUE(until([this] { return is_over(); }, 10s));
  EXPECT_EQ(far_end_, (ProxyEnd{0, 2, ""}));
}

TEST_F(Spanning, ACutStreamEndsTheJobOnBothNodes) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  const auto cut_at = Clock::now();
  ::shutdown(wire_, SHUT_RDWR);
  ASSERT_TRUE(until([this] { return is_over(); }, 5s));
  EXPECT_LT(Clock::now() - cut_at, 1s);
  EXPECT_EQ(lost_, "the stream to the other agent was closed");
  EXPECT_NE(*status_, 0);
}

TEST_F(Spanning, AKilledMpiexecEndsTheJobOnBothNodes) {
  launch_and_await_ranks();
  ASSERT_FALSE(HasFatalFailure());
  mpiexec_.process->signal(SIGKILL);
  ASSERT_TRUE(until([this] { return is_over(); }, 2s));
}

TEST_F(Spanning, MpiexecEndsWhenTheAgentDoesNotKnowTheJob) {
  token_is_known_ = false;
  launch_ranks("talk 60");
  ASSERT_TRUE(until([this] { return has_ended(); }, 5s));
  EXPECT_NE(*status_, 0);
  EXPECT_EQ(calls_, 0);
  EXPECT_NE(test::text_of(folder_ / "stderr").find("replay-proxy: the agent does not answer"), std::string::npos);
}

TEST_F(Spanning, MpiexecEndsWhenNoAgentListens) {
  fs::remove(folder_ / "desk");
  launch_ranks("talk 60");
  ASSERT_TRUE(until([this] { return has_ended(); }, 5s));
  EXPECT_NE(*status_, 0);
}

}  // namespace
}  // namespace replay::launcher
