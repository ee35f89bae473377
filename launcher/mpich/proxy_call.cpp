// replay-proxy: mpiexec runs it once for each host of a job, in place of rsh:
//   replay-proxy HOST "\"/usr/bin/hydra_pmi_proxy\"" --control-port NAME:PORT ... --proxy-id I
// It connects to mpiexec's control port here, in mpiexec's own network, and hands HOST, the words and the connected
// descriptor to the agent, which starts the proxy where HOST is. Then it is done: exit 0. What it prints becomes the job's
// output, so it prints nothing but the reason of a failure. Its end closes the descriptor, so that mpiexec ends where the
// agent does not have it.
#include <arpa/inet.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/mpich/proxy_message.hpp"
#include "scheduler/protocol/frame.hpp"

namespace {

using namespace replay;

constexpr int kSecondsForEachStep = 10;

[[noreturn]] void fail(const char* what, const char* why) {
  std::fprintf(stderr, "replay-proxy: %s: %s\n", what, why);
  std::exit(1);
}
[[noreturn]] void fail(const char* what) { fail(what, std::strerror(errno)); }

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) fail(name, "is not set; replay's agent starts this program through mpiexec");
  return value;
}

/// The frame, as scheduler/protocol writes it.
class Call {
 public:
  template <typename Int>
  void put(Int value) {
    for (unsigned i = 0; i < sizeof value; ++i) put_byte(static_cast<char>(value >> (8 * i)));
  }
  void put_text(const char* text) {
    put(static_cast<std::uint32_t>(std::strlen(text)));
    for (; *text != '\0'; ++text) put_byte(*text);
  }
  /// Fills the header in, of whose place the first bytes are.
  void close() {
    const std::size_t all = size_;
    size_ = 0;
    put(static_cast<std::uint32_t>(all - protocol::kFrameHeaderBytes));
    put(launcher::kProxyCallType);
    put(protocol::kProtocolVersion);
    put(std::uint64_t{0});  // no number
    static_assert(protocol::kFrameHeaderBytes == 16);
    size_ = all;
  }
  [[nodiscard]] iovec bytes() { return {bytes_, size_}; }

 private:
  void put_byte(char byte) {
    if (size_ == sizeof bytes_) fail("mpiexec's words", "are too many");
    bytes_[size_++] = byte;
  }
  char bytes_[launcher::kMostProxyCallBytes];
  std::size_t size_ = protocol::kFrameHeaderBytes;
};

/// A stream socket whose calls end in time.
int timed_socket(int domain) {
  const int fd = ::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{kSecondsForEachStep, 0};
  if (fd < 0 || ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
    fail("socket");
  return fd;
}

/// `address`: NAME:PORT. mpiexec listens on all addresses, and NAME may not be known here.
int connect_to_control_port(const char* address) {
  const char* colon = std::strrchr(address, ':');
  char* end = nullptr;
  const unsigned long port = colon == nullptr ? 0 : std::strtoul(colon + 1, &end, 10);
  if (port == 0 || port > 65535 || *end != '\0') fail("--control-port", "expected NAME:PORT");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<in_port_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = timed_socket(AF_INET);
  const void* raw = &to;
  const int one = 1;  // mpiexec and the proxy exchange small messages
  if (::connect(fd, static_cast<const sockaddr*>(raw), sizeof to) != 0 ||
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
    fail("mpiexec's control port");
  const timeval none{};  // the proxy is to read it without a limit
  if (::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none) != 0 ||
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) != 0)
    fail("mpiexec's control port");
  return fd;
}

int connect_to_agent(const char* path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof to.sun_path) fail(path, "the path is too long for a socket");
  std::memcpy(to.sun_path, path, std::strlen(path));
  const int fd = timed_socket(AF_UNIX);
  const void* raw = &to;
  if (::connect(fd, static_cast<const sockaddr*>(raw), sizeof to) != 0) fail("the agent's socket");
  return fd;
}

void send_with_descriptor(int agent, iovec bytes, int descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  if (::sendmsg(agent, &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.iov_len)) fail("the agent takes no call");
}

/// Whether `word` is the program that mpiexec wants to be run, which it puts in quotes for a shell.
bool is_hydras_proxy(const char* word) {
  char name[] = "hydra_pmi_proxy";
  const char* slash = std::strrchr(word, '/');
  if (slash != nullptr) word = slash + 1;
  if (*word == '"') ++word;
  const std::size_t length = sizeof name - 1;
  return std::strncmp(word, name, length) == 0 && (word[length] == '\0' || std::strcmp(word + length, "\"") == 0);
}

}  // namespace

int main(int argc, char** argv) {
  ::close_range(STDERR_FILENO + 1, ~0U, 0);  // mpiexec's listening socket, and pipes of the other hosts' calls
  const char* control_port = nullptr;
  for (int i = 3; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--control-port") == 0) control_port = argv[i + 1];
  if (argc < 3 || control_port == nullptr || !is_hydras_proxy(argv[2]))
    fail("usage", "replay-proxy HOST hydra_pmi_proxy --control-port NAME:PORT ...; mpiexec calls it");

  const int control = connect_to_control_port(control_port);
  Call call;
  call.put_text(variable(launcher::kProxyTokenVariable));
  call.put_text(argv[1]);
  call.put(static_cast<std::uint32_t>(argc - 3));
  for (int i = 3; i < argc; ++i) call.put_text(argv[i]);
  call.close();

  const int agent = connect_to_agent(variable(launcher::kProxySocketVariable));
  send_with_descriptor(agent, call.bytes(), control);
  char answer = '\0';
  if (::read(agent, &answer, sizeof answer) != ssize_t{sizeof answer}) fail("the agent does not answer");
  if (answer != launcher::kProxyCallTaken) fail("the agent", "answers something else");
  return 0;
}
