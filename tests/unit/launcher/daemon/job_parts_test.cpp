// Tests of a job as its nodes have it: one order and one answer, however many nodes it concerns.
#include "launcher/daemon/job_parts.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace replay::launcher {
namespace {

using Cores = std::vector<std::int32_t>;
constexpr JobId kJob{7};

/// Writes down what the job tells, and what is sent to its nodes: "1 MoveRanks 4,5".
class ItsParts : public testing::Test, public live::ExecutorListener {
 protected:
  void on_begun(JobId) override { told_.emplace_back("begun"); }
  void on_started(JobId, bool malleable, const std::string& reason) override {
    told_.push_back(
        fmt::format("started {}{}", malleable ? "malleable" : "rigid", reason.empty() ? "" : ": " + reason));
  }
  void on_resized(JobId) override { told_.emplace_back("resized"); }
  void on_suspended(JobId) override { told_.emplace_back("suspended"); }
  void on_resumed(JobId) override { told_.emplace_back("resumed"); }
  void on_measured(JobId, double cpu_use) override { told_.push_back(fmt::format("measured {}", cpu_use)); }
  void on_noted(JobId, const std::string& text) override { told_.push_back("noted " + text); }
  void on_ended(JobId, const JobEnd& end) override {
    told_.push_back(fmt::format("ended {} {} {}: {}", to_text(end.outcome), end.exit_code, end.cpu_use, end.reason));
  }
  void on_not_started(JobId, const std::string& reason) override { told_.push_back("not started: " + reason); }
  void on_action_failed(JobId, const std::string& action, const std::string& reason) override {
    told_.push_back(fmt::format("{} failed: {}", action, reason));
  }
  void on_lost(const std::string&) override { FAIL(); }

  void send(std::size_t node, const protocol::AgentOrder& order) {
    std::string text = std::to_string(node);
    if (const auto* move = std::get_if<protocol::MoveRanks>(&order))
      text += fmt::format(" move {}", fmt::join(move->core_of_rank, ","));
    if (std::holds_alternative<protocol::SuspendJob>(order)) text += " suspend";
    if (std::holds_alternative<protocol::ResumeJob>(order)) text += " resume";
    if (std::holds_alternative<protocol::AskStatistics>(order)) text += " statistics";
    if (const auto* end = std::get_if<protocol::EndJob>(&order)) text += fmt::format(" end {}", to_text(end->outcome));
    sent_.push_back(text);
  }
  void ended(std::size_t node, Outcome outcome = Outcome::kCompleted, const std::string& reason = "",
             bool is_site_fault = false) {
    parts_.on(node, protocol::JobEnded{
                        kJob, {outcome, outcome == Outcome::kCompleted ? 0 : 9, {}, 0.5, reason}, is_site_fault});
  }
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }
  std::vector<std::string> told() { return std::exchange(told_, {}); }
  using Texts = std::vector<std::string>;

  std::vector<std::string> sent_, told_;
  JobParts parts_{kJob,
                  {{3, "a", {0, 1}}, {5, "b", {4, 5}}, {6, "c", {2}}},
                  [this](std::size_t node, const protocol::AgentOrder& order) { send(node, order); },
                  *this};
};

TEST_F(ItsParts, HasStartedWhenAllHaveAndIsMalleableIfAllAre) {
  parts_.on(5, protocol::JobStarted{kJob, true, ""});
  parts_.on(3, protocol::JobStarted{kJob, true, ""});
  EXPECT_EQ(told(), Texts{});
  parts_.on(6, protocol::JobStarted{kJob, false, "no rank registered"});
  EXPECT_EQ(told(), Texts{"started rigid: c: no rank registered"});
  parts_.on(6, protocol::JobStarted{kJob, true, "its ranks have registered"});
  EXPECT_EQ(told(), Texts{"started malleable: c: its ranks have registered"});
}

TEST_F(ItsParts, HasBegunWhenAllHaveOrWithItsEndWhenOneHad) {
  parts_.on(5, protocol::JobBegun{kJob});
  parts_.on(3, protocol::JobBegun{kJob});
  EXPECT_EQ(told(), Texts{});
  parts_.on(6, protocol::JobBegun{kJob});
  EXPECT_EQ(told(), Texts{"begun"});

  JobParts ends_early{kJob, {{3, "a", {0}}, {5, "b", {1}}}, [](std::size_t, const protocol::AgentOrder&) {}, *this};
  ends_early.on(5, protocol::JobBegun{kJob});
  ends_early.end(Outcome::kKilled);
  for (const std::size_t node : {3U, 5U})
    ends_early.on(node, protocol::JobEnded{kJob, {Outcome::kKilled, 9, {}, -1, ""}});
  EXPECT_EQ(told(), (Texts{"begun", "ended killed 9 -1: "}));
}

TEST_F(ItsParts, AMoveConcernsTheNodesWhereCoresChangeAndHasOneAnswer) {
  parts_.resize({{0, 0}, {4, 5}, {1}});
  EXPECT_EQ(sent(), (Texts{"3 move 0,0", "6 move 1"}));
  parts_.on(6, protocol::RanksMoved{kJob});
  EXPECT_EQ(told(), Texts{});
  parts_.on(3, protocol::RanksMoved{kJob});
  EXPECT_EQ(told(), Texts{"resized"});
  parts_.resize({{0, 0}, {4, 5}, {1}});
  EXPECT_EQ(sent(), Texts{"3 move 0,0"}) << "nothing changes, and one node answers";
}

TEST_F(ItsParts, ARefusedMoveIsTakenBackWhereItWasMade) {
  parts_.resize({{0, 0}, {4, 4}, {1}});
  EXPECT_EQ(sent().size(), 3U);
  parts_.on(3, protocol::RanksMoved{kJob});
  parts_.on(5, protocol::OrderFailed{kJob, "resize", "no room"});
  parts_.on(6, protocol::RanksMoved{kJob});
  EXPECT_EQ(sent(), (Texts{"3 move 0,1", "6 move 2"}));
  EXPECT_EQ(told(), Texts{});
  parts_.on(3, protocol::RanksMoved{kJob});
  parts_.on(6, protocol::RanksMoved{kJob});
  EXPECT_EQ(told(), Texts{"resize failed: b: no room"});
  parts_.resize({{0, 1}, {4, 4}, {2}});
  EXPECT_EQ(sent(), Texts{"5 move 4,4"}) << "the cores are those from before";
}

TEST_F(ItsParts, AMoveThatAllRefuseHasNothingToTakeBack) {
  parts_.resize({{0, 0}, {4, 5}, {2}});
  (void)sent();
  parts_.on(3, protocol::OrderFailed{kJob, "resize", "it is rigid"});
  EXPECT_EQ(sent(), Texts{});
  EXPECT_EQ(told(), Texts{"resize failed: a: it is rigid"});
}

TEST_F(ItsParts, WhatCannotBeTakenBackEndsTheJob) {
  parts_.resize({{0, 0}, {4, 4}, {2}});
  (void)sent();
  parts_.on(3, protocol::RanksMoved{kJob});
  parts_.on(5, protocol::OrderFailed{kJob, "resize", "no room"});
  EXPECT_EQ(sent(), Texts{"3 move 0,1"});
  parts_.on(3, protocol::OrderFailed{kJob, "resize", "a rank is gone"});
  EXPECT_EQ(sent(), (Texts{"3 end failed", "5 end failed", "6 end failed"}));
  for (const std::size_t node : {3U, 5U, 6U}) ended(node, Outcome::kFailed);
  EXPECT_EQ(told(), Texts{"ended failed 9 0.5: b: no room, and then a: a rank is gone"});
}

TEST_F(ItsParts, ARefusedSuspendIsResumedAndARefusedResumeSuspended) {
  parts_.suspend();
  EXPECT_EQ(sent(), (Texts{"3 suspend", "5 suspend", "6 suspend"}));
  parts_.on(3, protocol::JobSuspended{kJob});
  parts_.on(5, protocol::JobSuspended{kJob});
  parts_.on(6, protocol::OrderFailed{kJob, "suspend", "no"});
  EXPECT_EQ(sent(), (Texts{"3 resume", "5 resume"}));
  parts_.on(5, protocol::JobResumed{kJob});
  parts_.on(3, protocol::JobResumed{kJob});
  EXPECT_EQ(told(), Texts{"suspend failed: c: no"});
  parts_.resume();
  (void)sent();
  parts_.on(3, protocol::JobResumed{kJob});
  parts_.on(5, protocol::OrderFailed{kJob, "resume", "no"});
  parts_.on(6, protocol::JobResumed{kJob});
  EXPECT_EQ(sent(), (Texts{"3 suspend", "6 suspend"}));
}

TEST_F(ItsParts, OrdersAreCarriedOutOneAfterTheOther) {
  parts_.resize({{0, 0}, {4, 5}, {2}});
  parts_.suspend();
  EXPECT_EQ(sent(), Texts{"3 move 0,0"});
  parts_.on(3, protocol::RanksMoved{kJob});
  EXPECT_EQ(sent(), (Texts{"3 suspend", "5 suspend", "6 suspend"}));
}

TEST_F(ItsParts, StatisticsAreThoseOfAllRanksInTheirOrder) {
  const auto of = [](std::uint64_t at, std::vector<std::int32_t> pids) {
    protocol::JobStatistics here{kJob, at, "progress", "token", {}};
    for (const std::int32_t pid : pids) here.ranks.push_back({.pid = pid});
    return here;
  };
  parts_.ask_statistics();
  EXPECT_EQ(sent(), (Texts{"3 statistics", "5 statistics", "6 statistics"}));
  EXPECT_EQ(parts_.join(6, of(900, {15})), std::nullopt);
  EXPECT_EQ(parts_.join(3, of(100, {11, 12})), std::nullopt);
  EXPECT_EQ(parts_.join(3, of(101, {11, 12})), std::nullopt) << "asked again, before all have answered";
  EXPECT_EQ(parts_.join(5, of(500, {13, 14})), of(100, {11, 12, 13, 14, 15}));
  EXPECT_EQ(parts_.join(6, of(901, {15})), std::nullopt);
  EXPECT_EQ(parts_.join(5, of(501, {13, 14})), of(101, {11, 12, 13, 14, 15}));
}

TEST_F(ItsParts, EndsOnceWhenAllHaveEnded) {
  parts_.resize({{0, 0}, {4, 5}, {2}});
  (void)sent();
  ended(5);
  ended(6);
  EXPECT_FALSE(parts_.is_over());
  EXPECT_EQ(sent(), Texts{}) << "they may finish by themselves";
  ended(3);
  EXPECT_TRUE(parts_.is_over());
  EXPECT_EQ(told(), Texts{"ended completed 0 0.5: "}) << "which answers the move";
}

TEST_F(ItsParts, APartThatFailsEndsTheOthersAndIsNamed) {
  ended(5, Outcome::kFailed, "rank 3 died without MPI_Finalize");
  EXPECT_EQ(sent(), (Texts{"3 end failed", "6 end failed"}));
  ended(6, Outcome::kFailed);
  ended(3, Outcome::kFailed);
  EXPECT_EQ(told(), Texts{"ended failed 9 0.5: b: rank 3 died without MPI_Finalize"});
}

TEST_F(ItsParts, WhatMpiexecsNodeSaysStandsFirstThoughItsEndComesLast) {
  ended(5, Outcome::kFailed, "rank 3 never reached MPI_Finalize");
  ended(6, Outcome::kFailed);
  ended(3, Outcome::kFailed, "rank 1: Killed (signal 9)");
  EXPECT_EQ(told(), Texts{"ended failed 9 0.5: a: rank 1: Killed (signal 9); b: rank 3 never reached MPI_Finalize"});
}

TEST_F(ItsParts, AFailureElsewhereThatMpiexecsNodeKnowsIsNamedOnce) {
  ended(5, Outcome::kFailed, "ranks 3-4 died without MPI_Finalize");
  ended(6, Outcome::kFailed);
  ended(3, Outcome::kFailed, "b: rank 3 died without MPI_Finalize; stderr: x");
  EXPECT_EQ(told(), Texts{"ended failed 9 0.5: b: rank 3 died without MPI_Finalize; stderr: x"});
}

TEST_F(ItsParts, AnOrderToEndThatCrossesTheEndOfAPartIsNoFailure) {
  ended(5, Outcome::kFailed, "rank 3 died without MPI_Finalize");
  ended(6, Outcome::kFailed);
  parts_.on(6, protocol::OrderFailed{kJob, "end", "no such job"});
  EXPECT_EQ(told(), Texts{});
  parts_.on(3, protocol::OrderFailed{kJob, "end", "not permitted"});
  EXPECT_EQ(told(), Texts{"end failed: a: not permitted"});
}

TEST_F(ItsParts, AnOrderedEndHasItsOutcome) {
  parts_.end(Outcome::kOverrun);
  EXPECT_EQ(sent(), (Texts{"3 end overrun", "5 end overrun", "6 end overrun"}));
  for (const std::size_t node : {6U, 5U, 3U}) ended(node, Outcome::kOverrun);
  EXPECT_EQ(told(), Texts{"ended overrun 9 0.5: "});
}

TEST_F(ItsParts, ASiteThatCannotStartAPartHasNotStartedTheJob) {
  ended(6, Outcome::kFailed, "cannot fork", true);
  EXPECT_EQ(sent(), (Texts{"3 end failed", "5 end failed"}));
  ended(3, Outcome::kFailed);
  ended(5, Outcome::kFailed);
  EXPECT_EQ(told(), Texts{"not started: c: cannot fork"});
}

TEST_F(ItsParts, APartThatIsLostWithItsNodeEndsTheOthersAndThenTheJobIsLost) {
  parts_.suspend();
  (void)sent();
  parts_.lose(5, "the connection has ended");
  EXPECT_EQ(sent(), (Texts{"3 end failed", "6 end failed"}));
  parts_.resume();
  EXPECT_EQ(sent(), Texts{}) << "its end answers it";
  ended(3, Outcome::kFailed, "killed");
  EXPECT_EQ(told(), Texts{});
  ended(6, Outcome::kFailed);
  EXPECT_EQ(told(), Texts{"ended lost 9 -1: b: the connection has ended"}) << "which answers the suspension, too";
  EXPECT_TRUE(parts_.is_over());
  parts_.lose(3, "late");
  EXPECT_EQ(told(), Texts{}) << "it has one end";
}

TEST_F(ItsParts, TwoPartsAreLostOneAfterTheOther) {
  parts_.lose(3, "a is gone");
  parts_.lose(6, "c is gone");
  EXPECT_EQ(sent(), (Texts{"5 end failed", "6 end failed"})) << "the second one is not waited for any more";
  ended(5, Outcome::kFailed);
  EXPECT_EQ(told(), Texts{"ended lost 0 -1: a: a is gone"});
}

// The other hosts may see the consequences before the daemon knows of the cause.
TEST_F(ItsParts, AFailureElsewhereBeforeANodesEndIsKnownIsItsConsequence) {
  ended(3, Outcome::kFailed, "b: the line is cut: Connection reset by peer");
  ended(6, Outcome::kFailed);
  (void)sent();
  parts_.lose(5, "the agent there has started anew");
  EXPECT_EQ(sent(), Texts{});
  EXPECT_EQ(told(), Texts{"ended lost 9 -1: b: the agent there has started anew"});
}

TEST_F(ItsParts, AnOrderedEndKeepsItsOutcomeThoughANodeIsLost) {
  parts_.end(Outcome::kOverrun);
  (void)sent();
  ended(3, Outcome::kOverrun);
  parts_.lose(5, "it could not be mended");
  EXPECT_EQ(sent(), Texts{}) << "a second order to end would be SIGKILL";
  ended(6, Outcome::kOverrun);
  EXPECT_EQ(told(), Texts{"ended overrun 9 -1: b: it could not be mended"});
}

// mpiexec has ended well only if all ranks have, on all nodes.
TEST_F(ItsParts, AJobWhoseMpiexecHasEndedWellHasCompletedThoughANodeDidNotSaySo) {
  ended(3);
  ended(6);
  parts_.lose(5, "it could not be mended");
  EXPECT_EQ(told(), Texts{"ended completed 0 0.5: "});
}

TEST_F(ItsParts, TheUseIsTheMeanOverTheRanksAndIsSaidWithTheFirstPart) {
  parts_.on(3, protocol::JobMeasured{kJob, 1});
  parts_.on(5, protocol::JobMeasured{kJob, 0.5});
  EXPECT_EQ(told(), Texts{});
  parts_.on(6, protocol::JobMeasured{kJob, 0});
  parts_.on(3, protocol::JobMeasured{kJob, 1});
  EXPECT_EQ(told(), Texts{"measured 0.6"});
}

}  // namespace
}  // namespace replay::launcher
