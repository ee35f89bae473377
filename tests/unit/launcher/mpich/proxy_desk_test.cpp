// Tests of the agent's socket for replay-proxy, with the program itself and with callers that say something else.
#include "launcher/mpich/proxy_desk.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/mpich/proxy_message.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "tests/support/background.hpp"
#include "tests/support/loop_fixture.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kToken = "0123456789abcdef";

/// The bytes of a call as replay-proxy makes it.
std::string call_bytes(const std::string& token, const Words& words, std::uint16_t type = kProxyCallType) {
  protocol::ByteWriter payload;
  payload.put_text(token);
  payload.put_text("n2");
  payload.put(static_cast<std::uint32_t>(words.size()));
  for (const std::string& word : words) payload.put_text(word);
  return protocol::encode_frame(type, payload.bytes());
}

/// Listens on all addresses, as mpiexec does.
struct ControlPort {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  ControlPort() {
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket.get(), 8), 0);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  }
  [[nodiscard]] std::string name() const { return fmt::format("no-such-host:{}", ntohs(address.sin_port)); }
  [[nodiscard]] UniqueFd accept() const { return UniqueFd{::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC)}; }
  [[nodiscard]] UniqueFd connect() const {
    UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
};

class ProxyDeskTest : public test::LoopTest {
 protected:
  void SetUp() override {
    test::LoopTest::SetUp();
    desk_.expect(kToken, [this](ProxyCall call) {
      call_ = std::move(call);
      stop_loop();
    });
  }

  [[nodiscard]] std::string path() const { return (folder_ / "proxies").string(); }
  UniqueFd connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static void send(const UniqueFd& stream, const std::string& bytes, const std::vector<int>& descriptors) {
    ASSERT_TRUE(is_sent(stream, bytes, descriptors));
  }
  /// With these descriptors beside the first byte.
  static bool is_sent(const UniqueFd& stream, std::string bytes, const std::vector<int>& descriptors) {
    iovec place{bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
      cmsghdr* const rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
      std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
    }
    return ::sendmsg(stream.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// What the desk answers; empty: it has closed the connection.
  std::string answer_to(const std::string& bytes, const std::vector<int>& descriptors, bool ends = true) {
    const UniqueFd caller = connect();
    send(caller, bytes, descriptors);
    if (ends) ::shutdown(caller.get(), SHUT_WR);
    std::string answer = "waits";
    LoopEvent readable{loop_.get(), caller.get(), EV_READ, [&] {
                         char byte = '\0';
                         answer = std::string(&byte, ::recv(caller.get(), &byte, 1, 0) > 0 ? 1 : 0);
                         if (!answer.empty()) answer = byte;
                         stop_loop();
                       }};
    readable.arm();
    run(ends ? 10s : 200ms);
    if (call_) run(1ms);  // it may have been stopped before the answer was read
    return answer;
  }

  TemporaryFolder folder_;
  ProxyDesk desk_{loop_.get(), folder_ / "proxies"};
  ControlPort control_port_;
  std::optional<ProxyCall> call_;
};

const Words kWords{"--control-port", "a:1", "--proxy-id", "3"};

TEST_F(ProxyDeskTest, TheProgramHandsItsWordsAndTheConnectionOver) {
  ::setenv(kProxySocketVariable, path().c_str(), 1);
  ::setenv(kProxyTokenVariable, kToken.c_str(), 1);
  test::Background program{
      REPLAY_PROXY_PROGRAM,
      {"n2", "\"/usr/bin/hydra_pmi_proxy\"", "--control-port", control_port_.name(), "--proxy-id", "3"},
      folder_ / "out",
      folder_ / "err"};
  run();
  ASSERT_TRUE(call_) << program.err();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_EQ(program.out() + program.err(), "");
  EXPECT_EQ(call_->host, "n2");
  EXPECT_EQ(call_->proxy_id, 3U);
  EXPECT_EQ(call_->arguments, (Words{"--control-port", control_port_.name(), "--proxy-id", "3"}));
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  ::getsockopt(call_->control.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
  EXPECT_EQ(no_delay, 1);
  const UniqueFd mpiexec = control_port_.accept();
  ASSERT_EQ(::send(call_->control.get(), "hello", 5, 0), 5);
  char heard[6] = {};
  ASSERT_EQ(::recv(mpiexec.get(), heard, 5, MSG_WAITALL), 5);
  EXPECT_STREQ(heard, "hello");
}

TEST_F(ProxyDeskTest, WithoutAJobThatWaitsTheProgramFailsAndMpiexecSeesTheConnectionEnd) {
  desk_.forget(kToken);
  ::setenv(kProxySocketVariable, path().c_str(), 1);
  ::setenv(kProxyTokenVariable, kToken.c_str(), 1);
  test::Background program{REPLAY_PROXY_PROGRAM,
                           {"n2", "hydra_pmi_proxy", "--control-port", control_port_.name(), "--proxy-id", "3"},
                           folder_ / "out",
                           folder_ / "err"};
  const UniqueFd mpiexec = control_port_.accept();
  LoopEvent ended{loop_.get(), mpiexec.get(), EV_READ, [this] { stop_loop(); }};
  ended.arm();
  run();
  char byte = '\0';
  EXPECT_EQ(::recv(mpiexec.get(), &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_EQ(program.wait(), 1);
  EXPECT_EQ(program.out(), "");
  EXPECT_TRUE(program.err().starts_with("replay-proxy: the agent does not answer")) << program.err();
  EXPECT_FALSE(call_);
}

TEST_F(ProxyDeskTest, TheProgramSaysWhatItMissesAndWhatItIsFor) {
  ::unsetenv(kProxyTokenVariable);
  const auto complaint = [this](const Words& words) {
    test::Background program{REPLAY_PROXY_PROGRAM, words, folder_ / "out", folder_ / "err"};
    EXPECT_EQ(program.wait(), 1);
    EXPECT_EQ(program.out(), "");
    return program.err();
  };
  EXPECT_NE(complaint({}).find("usage"), std::string::npos);
  EXPECT_NE(complaint({"n2", "/bin/sh", "--control-port", control_port_.name()}).find("usage"), std::string::npos);
  EXPECT_NE(complaint({"n2", "hydra_pmi_proxy", "--control-port", "a:1x"}).find("NAME:PORT"), std::string::npos);
  EXPECT_NE(complaint({"n2", "hydra_pmi_proxy", "--control-port", control_port_.name()}).find(kProxyTokenVariable),
            std::string::npos);
}

TEST_F(ProxyDeskTest, ACallWithTheTokenOfAJobIsTaken) {
  const UniqueFd control = control_port_.connect();
  EXPECT_EQ(answer_to(call_bytes(kToken, kWords), {control.get()}), "y");
  ASSERT_TRUE(call_);
  EXPECT_EQ(call_->token, kToken);
  EXPECT_EQ(call_->arguments, kWords);
}

TEST_F(ProxyDeskTest, ACallThatIsNoneIsRefusedAndTheNextIsTaken) {
  const UniqueFd control = control_port_.connect();
  const std::string good = call_bytes(kToken, kWords);
  EXPECT_EQ(answer_to(call_bytes("another", kWords), {control.get()}), "") << "the token";
  EXPECT_EQ(answer_to(good, {}), "") << "no descriptor";
  EXPECT_EQ(answer_to(good, {control.get(), control.get()}), "") << "two descriptors";
  EXPECT_EQ(answer_to(good, {ours_.get()}), "") << "a descriptor that is no TCP connection";
  EXPECT_EQ(answer_to(std::string(64, 'x'), {control.get()}), "") << "garbage";
  EXPECT_EQ(answer_to(call_bytes(kToken, kWords, 9), {control.get()}), "") << "another message";
  EXPECT_EQ(answer_to(call_bytes(kToken, {"--control-port", "a:1"}), {control.get()}), "") << "no number";
  EXPECT_EQ(answer_to(call_bytes(kToken, {"--proxy-id"}), {control.get()}), "") << "no number behind the option";
  EXPECT_EQ(
      answer_to(call_bytes(kToken, {"--proxy-id", std::string(kMostProxyCallBytes, 'x')}), {control.get()}, false), "")
      << "too long";
  for (std::size_t length = 1; length < good.size(); ++length)
    EXPECT_EQ(answer_to(good.substr(0, length), {control.get()}), "") << "cut off after " << length;
  EXPECT_FALSE(call_);
  EXPECT_EQ(answer_to(good, {control.get()}), "y");
  EXPECT_TRUE(call_);
}

TEST_F(ProxyDeskTest, ACallMayComeInPieces) {
  const UniqueFd control = control_port_.connect(), caller = connect();
  const std::string bytes = call_bytes(kToken, kWords);
  send(caller, bytes.substr(0, 1), {control.get()});
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    run(1ms);
    ASSERT_FALSE(call_);
    send(caller, bytes.substr(at, 1), {});
  }
  run();
  EXPECT_TRUE(call_);
}

TEST_F(ProxyDeskTest, AnotherUserIsNotHeard) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  std::filesystem::permissions(path(), std::filesystem::perms::all);
  const UniqueFd control = control_port_.connect();
  const std::string bytes = call_bytes(kToken, kWords);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const UniqueFd caller = connect();
    (void)is_sent(caller, bytes, {control.get()});  // in vain, if it was dismissed before
    char byte = '\0';
    ::_exit(::recv(caller.get(), &byte, 1, 0) > 0 ? 1 : 0);
  }
  run(300ms);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(call_);
}

}  // namespace
}  // namespace replay::launcher
