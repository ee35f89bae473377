#include "launcher/agent/agent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "launcher/agent/agent_directory.hpp"
#include "launcher/agent/left_processes.hpp"
#include "launcher/agent/node_agent.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/process/descriptor_message.hpp"
#include "scheduler/base/process/limit_of_processes.hpp"
#include "scheduler/base/process/pidfd.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/reset_signals.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr std::size_t kLongestBase = 60;  // with the names below it, a socket's path must stay below 108 bytes
constexpr std::size_t kRoom = std::size_t{8} << 20;  // the agent's own, and that of some jobs
constexpr auto kAgentLeavesWithin = 3000ms;
constexpr std::chrono::microseconds kShortestTurn{1'000};  // below it the switches cost more than they bring

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

fs::path runtime_directory(const AgentOptions& options) {
  if (!options.runtime_directory.empty()) return options.runtime_directory;
  const char* xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg != nullptr && *xdg == '/' && std::string_view{xdg}.size() <= kLongestBase && ::access(xdg, W_OK | X_OK) == 0)
    return xdg;
  return "/tmp";
}

/// Closes everything from descriptor 3 on but these.
void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned first = 3;
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep > first) ::close_range(first, keep - 1, 0);
    first = std::max(first, keep + 1);
  }
  ::close_range(first, ~0U, 0);
}

void detach_from_terminal() {
  ::setsid();  // Ctrl-C goes to the daemon, which then sends its orders
  const UniqueFd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);  // the agent must not keep a pipe of the daemon's open
}

void tell_left_alone(const fs::path& unknown) {
  say_on_stderr(fmt::format("replay: {}, an agent's directory, is left alone: {} in it is not the agent's",
                            unknown.parent_path().string(), unknown.filename().string()));
}

std::pair<UniqueFd, UniqueFd> socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot reach the agent");
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

// A connection on its way from the door to the agent.
struct Passed {
  protocol::LinkSession session;
  protocol::LinkSeals seals;
};
static_assert(std::is_trivially_copyable_v<Passed>);

/// Else the agent would die as it begins, or in the middle of a job's start.
void expect_room() {
  void* const room = ::mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    fail(fmt::format("the node agent cannot be started without {} MB more of address space (ulimit -v)", kRoom >> 20));
  ::munmap(room, kRoom);
}

AgentDirectory make_home(const AgentOptions& options) {
  expect_room();
  const fs::path base = runtime_directory(options);
  if (base.string().size() > kLongestBase)
    throw std::system_error(
        ENAMETOOLONG, std::generic_category(),
        fmt::format("runtime directory {}: expected at most {} characters", base.string(), kLongestBase));
  for (const fs::path& unknown : remove_stale_agent_directories(base)) tell_left_alone(unknown);
  return make_agent_directory(base);
}

/// Runs the agent in the forked child; returns its exit status.
int be_agent(const AgentOptions& options, const AgentDirectory& home, AgentConnection connection) {
  int status = 0;
  try {
    mark_as_living(home);
    ::prctl(PR_SET_NAME, "replay-agent");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    detach_from_terminal();
    reset_signals();
    for (const int number : {SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
    std::vector<int> kept = options.kept_open;
    kept.insert(kept.end(), {connection.first.stream.get(), home.lock.get()});
    if (connection.further.is_open()) kept.push_back(connection.further.get());
    close_all_but(std::move(kept));
    raise_descriptor_limit();
    NodeAgent{options, home, std::move(connection)}.run();
  } catch (const std::exception& error) {
    say_on_stderr(fmt::format("replay-agent: {}", error.what()));
    status = 1;
  }
  if (const fs::path unknown = remove_agent_directory(home.path); !unknown.empty()) tell_left_alone(unknown);
  return status;
}

}  // namespace

AgentHandle::AgentHandle(pid_t pid, UniqueFd stream, fs::path directory, UniqueFd further)
    : pid_(pid),
      stream_(std::move(stream)),
      further_(std::move(further)),
      pidfd_(::pidfd_open(pid, 0)),
      directory_(std::move(directory)) {
  known_.emplace(pid);
}

AgentHandle::AgentHandle(AgentHandle&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      stream_(std::move(other.stream_)),
      further_(std::move(other.further_)),
      pidfd_(std::move(other.pidfd_)),
      directory_(std::move(other.directory_)) {
  other.known_.reset();
  if (pid_ > 0) known_.emplace(pid_);
}

AgentHandle::~AgentHandle() { stop(); }

bool AgentHandle::wait_until_gone(milliseconds limit) {
  pollfd exited{pidfd_.get(), POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    ready = ::poll(&exited, 1, static_cast<int>(std::max(left, 0ms).count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  ::waitpid(pid_, nullptr, WNOHANG);
  return true;
}

bool AgentHandle::pass_on(const DaemonStream& connection, const protocol::LinkSession& session) const {
  INVARIANT(connection.seals, "a connection over a network is sealed");
  const Passed passed{session, *connection.seals};
  const int stream = connection.stream.get();
  return send_with_descriptors(further_.get(), {reinterpret_cast<const char*>(&passed), sizeof passed}, {&stream, 1});
}

std::optional<PassedConnection> receive_connection(int further) {
  auto message = receive_with_descriptors(further, sizeof(Passed));
  if (!message || message->bytes.size() != sizeof(Passed) || message->descriptors.size() != 1) return std::nullopt;
  Passed passed{};
  std::memcpy(&passed, message->bytes.data(), sizeof passed);
  return PassedConnection{{std::move(message->descriptors.front()), passed.seals, passed.session.received},
                          passed.session};
}

void AgentHandle::stop() {
  if (pid_ <= 0) return;
  ::pidfd_send_signal(pidfd_.get(), SIGCONT, nullptr, 0);  // a stopped agent must run to end
  if (!stream_.is_open()) ::pidfd_send_signal(pidfd_.get(), SIGTERM, nullptr, 0);
  stream_.reset();
  const bool can_act = !is_stopped(pid_);
  if (!can_act || !wait_until_gone(kAgentLeavesWithin)) {
    ::pidfd_send_signal(pidfd_.get(), SIGKILL, nullptr, 0);
    (void)wait_until_gone(1000ms);
  }
  std::error_code error;
  if (fs::exists(directory_, error)) clean_up_in_its_place();
  known_.reset();
  pid_ = 0;
}

/// For an agent that was killed. Its jobs have its socket's path in their environment; a process that has dropped its
/// environment is in the agent's control group, if there is one, and has become an orphan of ours.
void AgentHandle::clean_up_in_its_place() const {
  (void)end_processes_left_by(directory_, [this] { return orphans(); });
  if (const fs::path unknown = remove_agent_directory(directory_); !unknown.empty()) tell_left_alone(unknown);
}

std::chrono::microseconds AgentOptions::turn_of_jobs() const {
  if (turn.count() <= 0 || emulated_cores > 0) return std::chrono::microseconds{0};
  return std::max(turn, kShortestTurn);
}

AgentHandle start_agent(const AgentOptions& options) {
  const AgentDirectory home = make_home(options);
  adopt_orphans();
  auto [ours, theirs] = socket_pair(SOCK_STREAM);
  const pid_t pid = ::fork();
  if (pid < 0) fail(fmt::format("cannot fork the agent; {}", kLimitOfProcesses));
  if (pid == 0) {
    ours.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);  // so that a stopped agent sees that the daemon has died
    ::_exit(be_agent(options, home, {DaemonStream{std::move(theirs)}}));  // skips the daemon's exit handlers
  }
  return AgentHandle{pid, std::move(ours), home.path};
}

AgentHandle start_agent(const AgentOptions& options, DaemonStream first, milliseconds lease) {
  const AgentDirectory home = make_home(options);
  adopt_orphans();
  auto [ours, theirs] = socket_pair(SOCK_SEQPACKET);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail(fmt::format("cannot fork the agent; {}", kLimitOfProcesses));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);  // the parent died before the prctl
    ours.reset();
    ::_exit(be_agent(options, home, {std::move(first), lease, std::move(theirs)}));
  }
  return AgentHandle{pid, UniqueFd{}, home.path, std::move(ours)};
}

std::optional<std::string> threads_note(const Variables& further) {
  Variables all = own_environment();
  all.insert(all.end(), further.begin(), further.end());
  return note_on_threads(all);
}

std::optional<std::string> missing_devices_note(JobNetwork network, const Variables& further) {
  Variables all = own_environment();
  all.insert(all.end(), further.begin(), further.end());
  return note_on_missing_devices(variables_for_job(all, network).missing_devices);
}

}  // namespace replay::launcher
