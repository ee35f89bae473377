// Tests of a job's own network namespace: what is in it, and that the process in it is the same user.
#include "launcher/mpich/job_network.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {
namespace {

/// Runs `look` in a child in a network of its own; returns its result, which is the child's exit code.
int in_own_network(const std::function<int()>& look) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(enter_own_network() ? look() : 99);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool connects(in_port_t port) {
  const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = port;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Listens on all addresses, as mpiexec does.
struct AnyListener {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  in_port_t port = 0;
  AnyListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(fd.get(), 8);
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = address.sin_port;
  }
};

class OwnNetwork : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = why_no_own_network()) GTEST_SKIP() << "not permitted here: " << *reason;
  }
};

TEST_F(OwnNetwork, ProcessesInItReachEachOtherAndNothingOutside) {
  const AnyListener outside;
  EXPECT_TRUE(connects(outside.port));
  EXPECT_EQ(in_own_network([&] {
              if (connects(outside.port)) return 1;
              const AnyListener inside;
              return connects(inside.port) ? 0 : 2;
            }),
            0);
}

TEST_F(OwnNetwork, UserAndGroupStayTheSameNumbers) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  EXPECT_EQ(in_own_network([&] { return ::geteuid() == user && ::getegid() == group ? 0 : 1; }), 0);
}

TEST_F(OwnNetwork, AUserWithoutRightsGetsOneToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "is what the other tests show";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(98);
    ::prctl(PR_SET_DUMPABLE, 1);            // as for a process that this user has started
    if (why_no_own_network()) ::_exit(77);  // the system allows it to root only
    ::_exit(enter_own_network() && ::geteuid() == 65534 && ::getegid() == 65534 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "only root may";
  EXPECT_EQ(status, 0);
}

TEST(PortRanges, AreSetUnlessTheUserHasSetThem) {
  EXPECT_EQ(port_ranges({}).size(), 2U);
  const auto left = port_ranges({{"MPIEXEC_PORT_RANGE", "1:2"}});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].first, "UCX_TCP_PORT_RANGE");
  EXPECT_EQ(port_ranges({{"MPIR_CVAR_CH3_PORT_RANGE", "1:2"}}), left) << "another name of the same";
}

}  // namespace
}  // namespace replay::launcher
