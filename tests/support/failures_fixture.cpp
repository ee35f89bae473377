#include "tests/support/failures_fixture.hpp"

#include <signal.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iostream>

#include "scheduler/base/process/process.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr JobId kNext{8};
constexpr auto kNothingLeftWithin = 2s;

long to_ms(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

std::string name_of(Situation situation) {
  switch (situation) {
    case Situation::kInit: return "Init";
    case Situation::kComputing: return "Computing";
    case Situation::kShrunk: return "Shrunk";
    case Situation::kSuspended: return "Suspended";
    case Situation::kShrunkAndSuspended: return "ShrunkAndSuspended";
  }
  return "";
}

std::string name_of(Victim victim) {
  switch (victim) {
    case Victim::kRank0: return "Rank0";
    case Victim::kRank1: return "Rank1";
    case Victim::kMpiexec: return "Mpiexec";
    case Victim::kProxy: return "Proxy";
  }
  return "";
}

void Failures::expect_registrations_soon(std::chrono::milliseconds limit) {
  options_.registration_limit = limit;
  options_.registration_limit_per_rank = 20ms;
}

void Failures::bring_to(Situation situation) {
  if (situation == Situation::kInit) {
    launch({REPLAY_FAULT_PROGRAM, "late", "60"}, 2);
    ASSERT_TRUE(until([&] { return state_of(0) == REPLAY_VM_STARTING && rank(1) != 0; }));
    return;
  }
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ASSERT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  if (situation == Situation::kShrunk || situation == Situation::kShrunkAndSuspended) {
    executor_->resize(kJob, {core(0), core(0)});
    ASSERT_TRUE(until([&] { return seen_.resized == 1; }));
  }
  if (situation == Situation::kSuspended || situation == Situation::kShrunkAndSuspended) {
    executor_->suspend(kJob);
    ASSERT_TRUE(until([&] { return seen_.suspended == 1; }));
  }
}

pid_t Failures::pid_of(Victim victim) const {
  switch (victim) {
    case Victim::kRank0: return rank(0);
    case Victim::kRank1: return rank(1);
    case Victim::kMpiexec: return process_named("mpiexec");
    case Victim::kProxy: return process_named("hydra_pmi_proxy");
  }
  return 0;
}

void Failures::send(Victim victim, int signal) {
  const auto process = Process::open(pid_of(victim));
  ASSERT_TRUE(process) << victim << " is not there";
  since_ = Clock::now();
  process->signal(signal);
  if (signal != SIGSTOP) return;
  const auto is_there = [&] { return is_stopped(process->pid()); };
  ASSERT_TRUE(until(is_there, 5s)) << victim;
}

void Failures::order_end(Outcome outcome) {
  since_ = Clock::now();
  is_ordered_ = true;
  executor_->end(kJob, outcome);
}

void Failures::expect_end(Outcome outcome, const std::string& reason) {
  const auto limit = is_ordered_ ? std::chrono::milliseconds{kNothingLeftWithin} : 15s;
  ASSERT_TRUE(until([&] { return has_ended(); }, limit)) << "no end within " << limit.count() << " ms";
  if (since_) std::cout << "end after " << to_ms(Clock::now() - *since_) << " ms: \"" << its_end().reason << "\"\n";
  EXPECT_EQ(its_end().outcome, outcome) << its_end().reason;
  EXPECT_NE(its_end().reason.find(reason), std::string::npos) << its_end().reason;
  if (reason.empty()) {
    EXPECT_EQ(its_end().reason, "");
  }
  expect_nothing_left();
}

void Failures::expect_nothing_left() {
  EXPECT_TRUE(until([&] { return its_processes().empty() && !has_segment(); }, kNothingLeftWithin));
  fs::create_directories(directory_ / "next");
  auto next = order({REPLAY_RANK_PROGRAM, "talk", "0.05"}, 2, kNext);
  next.directory = directory_ / "next";
  executor_->launch(next);
  ASSERT_TRUE(until([&] { return seen_.ended.contains(kNext); })) << "the cores are not free";
  EXPECT_EQ(seen_.ended.at(kNext).outcome, Outcome::kCompleted) << seen_.ended.at(kNext).reason;
}

void Failures::expect_rigid_because(const std::string& reason) {
  ASSERT_TRUE(until([&] { return has_started() || has_ended(); }));
  ASSERT_TRUE(has_started()) << its_end().reason;
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_NE(seen_.reason.at(kJob).find(reason), std::string::npos) << seen_.reason.at(kJob);
}

std::optional<std::uint32_t> Failures::state_of(std::uint32_t slot) const {
  std::ifstream segment{segment_file("7.segment"), std::ios::binary};
  segment.seekg(static_cast<std::streamoff>(sizeof(replay_vm_segment) + slot * sizeof(replay_vm_slot) +
                                            offsetof(replay_vm_slot, report) + offsetof(replay_vm_report, state)));
  char bytes[sizeof(std::uint32_t)];
  if (!segment.read(bytes, sizeof bytes)) return std::nullopt;
  std::uint32_t state = 0;
  std::memcpy(&state, bytes, sizeof state);
  return state;
}

bool Failures::has_segment() const { return !segment_file("7.segment").empty(); }

}  // namespace replay::launcher
