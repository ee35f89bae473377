#include "scheduler/base/process/stop_signals.hpp"

#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/terminal/give_back.hpp"

namespace replay {
namespace {

constexpr std::array kStops = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array kWriteErrors = {SIGPIPE, SIGXFSZ};
constexpr int kEndsAll = 3;                 // from this signal on each ends the program, if
constexpr std::int64_t kEndsAllAfterS = 5;  // the first one is so long ago
constexpr int kShellsSignal = 128;          // what a shell adds to the number
constexpr std::size_t kMostUnfinished = 64;

// The state of the signal handler. Global, as a handler has no argument that could refer to an object.
struct State {
  std::atomic<pid_t> owner{0};  // the handler does nothing in a child between fork and exec
  std::atomic<int> heeding{0};
  std::atomic<int> keeping_ignored{0};  // of `heeding`: those with Ignored::kStaysIgnored
  std::atomic<int> asked{0};
  std::atomic<int> first{0};
  std::atomic<int> last{0};
  std::atomic<std::int64_t> first_at_s{0};
  std::atomic<int> descriptor{-1};
  std::array<std::atomic<const char*>, kMostUnfinished> unfinished{};
};
State state;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

std::array<struct sigaction, kStops.size()> stops_before;               // NOLINT(*-avoid-non-const-global-variables)
std::array<struct sigaction, kWriteErrors.size()> write_errors_before;  // NOLINT(*-avoid-non-const-global-variables)

std::int64_t now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

bool stays_ignored(int number) {
  const auto place = static_cast<std::size_t>(std::ranges::find(kStops, number) - kStops.begin());
  return stops_before[place].sa_handler == SIG_IGN && (state.heeding == 0 || state.keeping_ignored > 0);
}

// Async-signal-safe: calls only what a handler may call.
void end_program(int number) {
  for (const auto& path : state.unfinished)
    if (const char* const name = path.load(); name != nullptr) ::unlink(name);
  terminal::give_back();
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(number, &by_default, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  ::raise(number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::_exit(kShellsSignal + number);
}

void on_stop(int number) {
  const int before = errno;
  if (::getpid() == state.owner && !stays_ignored(number)) {
    if (state.heeding == 0) end_program(number);
    state.last = number;
    if (state.asked == 0) {
      state.first_at_s = now_s();
      state.first = number;
    }
    const int asked = ++state.asked;
    constexpr std::uint64_t kOne = 1;
    static_cast<void>(!::write(state.descriptor, &kOne, sizeof kOne));  // if it is full, it is readable already
    if (asked >= kEndsAll && now_s() - state.first_at_s >= kEndsAllAfterS) end_program(number);
  }
  errno = before;
}

struct sigaction action_of(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction ours {};
  ours.sa_handler = handler;
  ours.sa_flags = SA_RESTART;
  ::sigemptyset(&ours.sa_mask);
  for (const int other : kStops) ::sigaddset(&ours.sa_mask, other);
  ::sigaction(number, &ours, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  INVARIANT(state.owner == 0, "two owners of the stop signals");
  state.descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (state.descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  state.asked = 0;
  state.first = 0;
  state.last = 0;
  state.owner = ::getpid();
  std::ranges::transform(kStops, stops_before.begin(), action_of);
  std::ranges::transform(kWriteErrors, write_errors_before.begin(), action_of);
  for (std::size_t i = 0; i < kStops.size(); ++i)
    if (kStops[i] != SIGHUP || stops_before[i].sa_handler != SIG_IGN) handle(kStops[i], on_stop);
  for (const int number : kWriteErrors) handle(number, SIG_IGN);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kStops.size(); ++i) ::sigaction(kStops[i], &stops_before[i], nullptr);
  for (std::size_t i = 0; i < kWriteErrors.size(); ++i) ::sigaction(kWriteErrors[i], &write_errors_before[i], nullptr);
  state.owner = 0;
  state.asked = 0;
  ::close(state.descriptor.exchange(-1));
}

HeedStops::HeedStops(Ignored ignored) : ignored_(ignored) {
  state.keeping_ignored += ignored_ == Ignored::kStaysIgnored ? 1 : 0;
  ++state.heeding;
}

HeedStops::~HeedStops() {
  --state.heeding;
  state.keeping_ignored -= ignored_ == Ignored::kStaysIgnored ? 1 : 0;
}

int stops_asked() { return state.asked; }

int stop_signal() { return state.first; }

int last_stop_signal() { return state.last; }

int exit_status_after_stop() {
  INVARIANT(state.asked > 0, "no signal has asked for a stop");
  return exit_status_after_stop(state.first);
}

int exit_status_after_stop(int signal) { return kShellsSignal + signal; }

bool is_exit_status_after_stop(int status) {
  return std::ranges::any_of(kStops, [status](int number) { return status == kShellsSignal + number; });
}

int stop_descriptor() { return state.descriptor; }

void clear_stop_descriptor() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(state.descriptor, &count, sizeof count));
}

RemovedAtStop::RemovedAtStop(std::string path) : path_(std::move(path)) {
  for (std::size_t i = 0; i < kMostUnfinished && place_ < 0; ++i) {
    const char* is_free = nullptr;
    if (state.unfinished[i].compare_exchange_strong(is_free, path_.c_str())) place_ = static_cast<int>(i);
  }
}

RemovedAtStop::~RemovedAtStop() {
  if (place_ >= 0) state.unfinished[static_cast<std::size_t>(place_)] = nullptr;
}

}  // namespace replay
