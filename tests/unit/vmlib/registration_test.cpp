#include "vmlib/registration.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/support/vm_host.hpp"
#include "vmlib/cores.hpp"
#include "vmlib/segment.hpp"

namespace replay::vm {
namespace {

using replay::test::VmHost;
using namespace std::chrono_literals;

constexpr int kLimitMs = 2000;

Settings settings_of(const VmHost& host, std::int32_t rank, std::int32_t size) {
  return {.socket = "", .key = *parse_key(host.key_text().c_str()), .world_rank = rank, .world_size = size};
}

std::optional<std::int32_t> slot_of(const std::optional<Welcome>& welcome) {
  return welcome ? std::optional{welcome->slot} : std::nullopt;
}

std::optional<std::int32_t> register_at(const VmHost& host, const Settings& settings) {
  const UniqueFd stream = connect_to_agent(host.socket_path().c_str(), kLimitMs);
  return slot_of(introduce(stream.get(), make_hello(settings, REPLAY_VM_MODE_PROGRESS), kLimitMs));
}

struct Pair {
  UniqueFd rank, agent;
};
Pair connected_pair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  return {UniqueFd{fds[0]}, UniqueFd{fds[1]}};
}

TEST(VmRegistration, HelloNamesTheProcessAndTheAnswerIsItsSlot) {
  const VmHost host{2};
  EXPECT_EQ(register_at(host, settings_of(host, 1, 2)), 1);
  ASSERT_EQ(host.accepted().size(), 1U);
  const replay_vm_hello hello = host.accepted()[0];
  EXPECT_EQ(hello.world_rank, 1);
  EXPECT_EQ(hello.world_size, 2);
  EXPECT_EQ(hello.pid, ::getpid());
  EXPECT_EQ(hello.pid_start, process_start());
  EXPECT_EQ(hello.mode, REPLAY_VM_MODE_PROGRESS);
}

TEST(VmRegistration, ARefusalIsAnAnswer) {
  const VmHost host{2};
  Settings wrong_key = settings_of(host, 0, 2);
  wrong_key.key[3] ^= 1;
  EXPECT_EQ(register_at(host, wrong_key), -1);
  EXPECT_EQ(register_at(host, settings_of(host, 2, 3)), -3);
  EXPECT_EQ(register_at(host, settings_of(host, 0, 2)), 0);
  EXPECT_EQ(register_at(host, settings_of(host, 0, 2)), -4);
  EXPECT_EQ(host.refusals(), (std::vector<std::int32_t>{-1, -3, -4}));
}

TEST(VmRegistration, OnEmulatedCoresWhoIsNotFitIsRefused) {
  VmHost host{2};
  host.emulate();
  EXPECT_EQ(register_at(host, settings_of(host, 0, 2)), -5);
  const UniqueFd stream = connect_to_agent(host.socket_path().c_str(), kLimitMs);
  const replay_vm_hello fit = make_hello(settings_of(host, 1, 2), REPLAY_VM_MODE_PROGRESS, REPLAY_VM_FIT_FOR_EMULATION);
  EXPECT_EQ(slot_of(introduce(stream.get(), fit, kLimitMs)), 1);
}

TEST(VmRegistration, NobodyThereIsSaidAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(connect_to_agent("/nowhere/at/all", kLimitMs).is_open());
  EXPECT_FALSE(connect_to_agent(("/" + std::string(200, 'x')).c_str(), kLimitMs).is_open())
      << "longer than a socket's name";
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
}

TEST(VmRegistration, ASilentAgentCostsTheTimeLimitAndNoMore) {
  const Pair pair = connected_pair();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(introduce(pair.rank.get(), {}, 50));
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, 45ms);
  EXPECT_LT(took, 2s);
}

TEST(VmRegistration, AnAgentThatHangsUpHarmsNobody) {
  Pair pair = connected_pair();
  pair.agent = UniqueFd{};
  EXPECT_FALSE(introduce(pair.rank.get(), {}, kLimitMs)) << "and SIGPIPE did not end us";
}

TEST(VmRegistration, AWelcomeInPiecesIsPutTogether) {
  const Pair pair = connected_pair();
  const replay_vm_welcome welcome{.magic = REPLAY_VM_MAGIC, .version = REPLAY_VM_VERSION, .slot = -4};
  std::jthread agent{[&] {
    const auto* bytes = reinterpret_cast<const char*>(&welcome);
    for (std::size_t i = 0; i < sizeof welcome; ++i) {
      EXPECT_EQ(::send(pair.agent.get(), bytes + i, 1, 0), 1);
      std::this_thread::sleep_for(1ms);
    }
  }};
  EXPECT_EQ(slot_of(introduce(pair.rank.get(), {}, kLimitMs)), -4);
}

TEST(VmRegistration, TheSegmentsComeWithTheWelcomeAndAreClosedOnExec) {
  const VmHost host{2};
  const UniqueFd stream = connect_to_agent(host.socket_path().c_str(), kLimitMs);
  const auto welcome = introduce(stream.get(), make_hello(settings_of(host, 1, 2), REPLAY_VM_MODE_PROGRESS), kLimitMs);
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(Segment::map(welcome->job_segment.get(), *parse_key(host.key_text().c_str())));
  EXPECT_TRUE(Cores::map(welcome->core_segment.get()));
  for (const UniqueFd* fd : {&welcome->job_segment, &welcome->core_segment})
    EXPECT_EQ(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(VmRegistration, ASlotWithoutSegmentsIsNoAnswer) {
  const Pair pair = connected_pair();
  const replay_vm_welcome welcome{.magic = REPLAY_VM_MAGIC, .version = REPLAY_VM_VERSION, .slot = 0};
  ASSERT_EQ(::send(pair.agent.get(), &welcome, sizeof welcome, 0), ssize_t{sizeof welcome});
  EXPECT_FALSE(introduce(pair.rank.get(), {}, kLimitMs));
}

TEST(VmRegistration, AWelcomeOfAnotherProtocolIsNoAnswer) {
  for (const replay_vm_welcome welcome :
       {replay_vm_welcome{1, REPLAY_VM_VERSION, 0}, replay_vm_welcome{REPLAY_VM_MAGIC, REPLAY_VM_VERSION + 1, 0}}) {
    const Pair pair = connected_pair();
    ASSERT_EQ(::send(pair.agent.get(), &welcome, sizeof welcome, 0), ssize_t{sizeof welcome});
    EXPECT_FALSE(introduce(pair.rank.get(), {}, kLimitMs));
  }
}

TEST(VmRegistration, TheStreamStaysOutOfTheProgramsWay) {
  const VmHost host{1};
  const UniqueFd stream = connect_to_agent(host.socket_path().c_str(), kLimitMs);
  EXPECT_GE(stream.get(), 64);
  EXPECT_EQ(::fcntl(stream.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(VmRegistration, ProcessStartIsField22WhateverTheProgramIsCalled) {
  EXPECT_EQ(parse_process_start("7 (a) b) (c 1) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 99 0\n"), 12345U);
  EXPECT_EQ(parse_process_start("7 (short) S 1 2"), 0U);
  EXPECT_EQ(parse_process_start(""), 0U);
  EXPECT_GT(process_start(), 0U);
}

}  // namespace
}  // namespace replay::vm
