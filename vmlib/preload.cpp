// The shared object that LD_PRELOAD puts in front of MPI and UCX: every symbol that it defines in their place. The
// decisions are in rank.hpp. Three kinds: MPI_Init and MPI_Finalize, where a rank joins its job and leaves it; the
// wrappers of the blocking calls, from one table; and two functions of UCX, the progress poll and the disconnect.
// Two more functions serve programs that run on emulated cores (vm_burst.h), and mkstemp() leads MPICH's file in /dev/shm into
// the agent's folder. In a rigid job that is all, but that a rank tells when it enters MPI_Init and when it has left it. vmlib
// must not disturb the program: no output, no exception, no signal handler, and a failure switches vmlib off, not the job. Nothing
// happens before MPI_Init, so that a shell or a child with the preload is unharmed.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "scheduler/protocol/wire.h"
#include "vmlib/cores.hpp"
#include "vmlib/library_version.hpp"
#include "vmlib/linux_system.hpp"
#include "vmlib/mode.hpp"
#include "vmlib/mpi_calls.hpp"
#include "vmlib/next_symbol.hpp"
#include "vmlib/rank.hpp"
#include "vmlib/registration.hpp"
#include "vmlib/segment.hpp"
#include "vmlib/settings.hpp"
#include "vmlib/test_loops.hpp"
#include "vmlib/unique_fd.hpp"
#include "vmlib/vm_burst.h"

#define INTERPOSED extern "C" __attribute__((visibility("default")))

namespace {

using namespace replay::vm;

constexpr int kRegistrationLimitMs = 2000;
constexpr long kNoMpi = 15;  // MPI_ERR_OTHER: an MPI call in a process without MPI

// The one global of the project, because PMPI leaves no other place.
constinit Rank<Linux> rank;
constinit thread_local Waiting waiting;
constinit std::int32_t world_size = 0;
constinit std::atomic<replay_vm_mode> mode{REPLAY_VM_MODE_PROGRESS};  // final when MPI_Init returns
constinit int stream_to_agent = -1;            // open until the process ends: its end tells the agent
constinit bool cures_finalize = false;         // this MPICH needs it
constinit std::atomic<bool> is_curing{false};  // now

constinit NextFunction next_progress{"ucp_worker_progress"};
constinit NextFunction next_disconnect{"ucp_disconnect_nb"};

class BlockingCall {
 public:
  BlockingCall() { rank.enter_call(waiting); }
  ~BlockingCall() { rank.leave_call(waiting); }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
};

// ---- joining and leaving the job ----

/// A forked child is no rank: it must not write the slot, nor keep the agent's stream open.
void forget_in_child() {
  rank.leave_slot();
  if (stream_to_agent >= 0) ::close(stream_to_agent);
  stream_to_agent = -1;
}

void found_nothing() { rank.polled(waiting, 0); }

replay_vm_mode choose_mode(bool has_progress_hook) {
  const Means means{.has_progress_hook = has_progress_hook,
                    .has_nonblocking_calls = prepare_test_loops(next_symbol, found_nothing),
                    .is_fortran08 = rank.expects_fortran08()};
  mode.store(best_mode(parse_mode(std::getenv(REPLAY_VM_ENV_MODE)), means), std::memory_order_relaxed);
  return mode.load(std::memory_order_relaxed);
}

replay_vm_mode claimed_mode() { return choose_mode(next_symbol("ucp_worker_progress") != nullptr); }

/// A program that computes for real would disturb all ranks on emulated cores.
std::uint32_t flags_of_hello() {
  const auto* fit = static_cast<const int*>(::dlsym(RTLD_DEFAULT, "vm_fit_for_emulation"));
  return fit != nullptr && *fit != 0 ? REPLAY_VM_FIT_FOR_EMULATION : 0;
}

/// With a bad segment the rank leaves its slot empty, and the agent does not count it. On emulated cores the tokens are
/// needed as well.
void register_with_agent(const Settings& settings) {
  UniqueFd stream = connect_to_agent(settings.socket, kRegistrationLimitMs);
  if (!stream.is_open()) return;
  const replay_vm_hello hello = make_hello(settings, claimed_mode(), flags_of_hello());
  const auto welcome = introduce(stream.get(), hello, kRegistrationLimitMs);
  if (!welcome || welcome->slot < 0) return;
  auto segment = Segment::map(welcome->job_segment.get(), settings.key);
  auto cores = Cores::map(welcome->core_segment.get());
  const auto slot = static_cast<std::uint32_t>(welcome->slot);
  if (!segment || slot >= segment->slots() || (segment->facts().is_emulated && !cores)) return;
  if (::pthread_atfork(nullptr, nullptr, forget_in_child) != 0) return;

  rank.join(waiting, *segment->slot(slot), hello, segment->facts(), cores ? cores->tokens() : CoreTokens{});
  segment->keep();
  if (cores) cores->keep();
  stream_to_agent = stream.release();
}

/// For the agent to know, which does not answer with a slot.
void tell_agent(const Settings& settings, std::uint32_t flag) {
  const UniqueFd stream = connect_to_agent(settings.socket, kRegistrationLimitMs);
  if (!stream.is_open()) return;
  (void)introduce(stream.get(), make_hello(settings, REPLAY_VM_MODE_NONE, flag), kRegistrationLimitMs);
}

const char* variable(const char* name) { return std::getenv(name); }

/// Of a rank that does not register the agent wants to know no more: what fails in MPI_Init can be the node's fault.
void tell_of_init(std::uint32_t flag) {
  const KeepErrno keep_errno;
  if (!is_switched_off(variable)) return;
  const auto settings = read_settings(variable);
  if (settings) tell_agent(*settings, flag);
}

void join_job() {
  const KeepErrno keep_errno;
  if (is_switched_off(variable)) return;
  const auto settings = read_settings(variable);
  if (!settings) return;
  const std::string_view version = library_version();
  if (version.empty()) return;
  if (!is_mpich(version)) {
    // Under MPICH's mpiexec each process of such a job is a world of its own, and only the agent can say so.
    if (variable(REPLAY_VM_ENV_OTHER_LAUNCHER) == nullptr) tell_agent(*settings, REPLAY_VM_OTHER_MPI);
    return;
  }
  world_size = settings->world_size;
  cures_finalize = world_size > 1 && hangs_in_finalize(version);
  register_with_agent(*settings);
}

/// Keeps progress mode if MPI polls through our hook; else takes the next best one. A world of one rank never waits, so
/// nothing is tested. A process that is no rank of a job is passive.
void prove_mode() {
  if (!rank.is_joined()) return mode.store(REPLAY_VM_MODE_NONE, std::memory_order_relaxed);
  if (mode.load(std::memory_order_relaxed) != REPLAY_VM_MODE_PROGRESS || world_size == 1) return;
  if (!next_progress.was_called()) poll_once();
  if (!next_progress.was_called()) rank.set_mode(choose_mode(false));
}

/// Around MPI_Init, by whatever name it is called first; the names may call each other.
template <class EnterMpi>
long start_with(EnterMpi enter_mpi) {
  static constinit std::atomic<bool> began{false};
  if (waiting.depth != 0 || began.exchange(true)) return enter_mpi();
  tell_of_init(REPLAY_VM_ENTERS_INIT);
  join_job();
  long result = 0;
  {
    const BlockingCall call;
    result = enter_mpi();
  }
  if (static_cast<int>(result) != 0) {
    cures_finalize = false;
    rank.switch_off();
    return result;
  }
  tell_of_init(REPLAY_VM_HAS_LEFT_INIT);
  prove_mode();
  if (rank.is_joined() && may_have_threads()) rank.expect_threads();
  rank.started(waiting);
  return result;
}

/// Around MPI_Finalize. The cure: a barrier, so that every message has arrived; then each disconnect is answered with
/// "done already".
template <class EnterMpi>
long end_with(EnterMpi enter_mpi) {
  if (waiting.depth != 0) return enter_mpi();
  long result = 0;
  {
    const BlockingCall call;
    rank.ending();
    if (cures_finalize) {
      barrier_of_the_world();
      is_curing.store(true, std::memory_order_relaxed);
    }
    result = enter_mpi();
    cures_finalize = false;
    is_curing.store(false, std::memory_order_relaxed);
  }
  if (static_cast<int>(result) == 0) rank.ended();
  return result;
}

}  // namespace

// ---- wrappers: arguments pass as words, see mpi_functions.def ----

using Word = long;

#define PARAMETERS_0
#define PARAMETERS_1 Word a1
#define PARAMETERS_2 PARAMETERS_1, Word a2
#define PARAMETERS_3 PARAMETERS_2, Word a3
#define PARAMETERS_4 PARAMETERS_3, Word a4
#define PARAMETERS_5 PARAMETERS_4, Word a5
#define PARAMETERS_6 PARAMETERS_5, Word a6
#define PARAMETERS_7 PARAMETERS_6, Word a7
#define PARAMETERS_8 PARAMETERS_7, Word a8
#define PARAMETERS_9 PARAMETERS_8, Word a9
#define PARAMETERS_10 PARAMETERS_9, Word a10
#define PARAMETERS_11 PARAMETERS_10, Word a11
#define PARAMETERS_12 PARAMETERS_11, Word a12
#define ARGUMENTS_0
#define ARGUMENTS_1 a1
#define ARGUMENTS_2 ARGUMENTS_1, a2
#define ARGUMENTS_3 ARGUMENTS_2, a3
#define ARGUMENTS_4 ARGUMENTS_3, a4
#define ARGUMENTS_5 ARGUMENTS_4, a5
#define ARGUMENTS_6 ARGUMENTS_5, a6
#define ARGUMENTS_7 ARGUMENTS_6, a7
#define ARGUMENTS_8 ARGUMENTS_7, a8
#define ARGUMENTS_9 ARGUMENTS_8, a9
#define ARGUMENTS_10 ARGUMENTS_9, a10
#define ARGUMENTS_11 ARGUMENTS_10, a11
#define ARGUMENTS_12 ARGUMENTS_11, a12

/// The next function of the same name, so that a profiling tool behind us is called as it would be without us.
#define CALL_NEXT(function, count)                       \
  static constinit NextFunction next{#function};         \
  auto* const mpi = next.as<Word(PARAMETERS_##count)>(); \
  if (mpi == nullptr) [[unlikely]]                       \
  return kNoMpi

#define BLOCKING(name, count)                      \
  INTERPOSED Word MPI_##name(PARAMETERS_##count) { \
    CALL_NEXT(MPI_##name, count);                  \
    const BlockingCall call;                       \
    return mpi(ARGUMENTS_##count);                 \
  }
/// In test-loop mode, the loop in place of the function.
#define TESTABLE(name, count)                                                                    \
  INTERPOSED Word MPI_##name(PARAMETERS_##count) {                                               \
    CALL_NEXT(MPI_##name, count);                                                                \
    const BlockingCall call;                                                                     \
    if (mode.load(std::memory_order_relaxed) == REPLAY_VM_MODE_TEST_LOOP) [[unlikely]]           \
      return reinterpret_cast<Word (*)(PARAMETERS_##count)>(kTestLoops.name)(ARGUMENTS_##count); \
    return mpi(ARGUMENTS_##count);                                                               \
  }
#include "vmlib/mpi_functions.def"
#undef BLOCKING

#define STARTS(function, count)                                \
  INTERPOSED Word function(PARAMETERS_##count) {               \
    CALL_NEXT(function, count);                                \
    return start_with([&] { return mpi(ARGUMENTS_##count); }); \
  }
#define ENDS(function, count)                                \
  INTERPOSED Word function(PARAMETERS_##count) {             \
    CALL_NEXT(function, count);                              \
    return end_with([&] { return mpi(ARGUMENTS_##count); }); \
  }

STARTS(MPI_Init, 2)
STARTS(MPI_Init_thread, 4)
ENDS(MPI_Finalize, 0)

// A profiling tool linked into the program comes before us and calls these.
STARTS(PMPI_Init, 2)
STARTS(PMPI_Init_thread, 4)
ENDS(PMPI_Finalize, 0)

// `use mpi_f08` bypasses every MPI_ function of C, but calls PMPI_Init and PMPI_Finalize.
INTERPOSED void mpi_init_f08_(Word ierror) {
  static constinit NextFunction next{"mpi_init_f08_"};
  rank.expect_fortran08();
  if (auto* const mpi = next.as<void(Word)>()) mpi(ierror);
}

INTERPOSED void mpi_init_thread_f08_(Word required, Word provided, Word ierror) {
  static constinit NextFunction next{"mpi_init_thread_f08_"};
  rank.expect_fortran08();
  if (auto* const mpi = next.as<void(Word, Word, Word)>()) mpi(required, provided, ierror);
}

// ---- UCX, as MPICH's device ch4:ucx calls it ----

INTERPOSED unsigned ucp_worker_progress(void* worker) {
  auto* const progress = next_progress.as<unsigned(void*)>();
  if (progress == nullptr) [[unlikely]]
    return 0;
  const unsigned events = progress(worker);
  if (mode.load(std::memory_order_relaxed) == REPLAY_VM_MODE_PROGRESS) rank.polled(waiting, events);
  return events;
}

INTERPOSED void* ucp_disconnect_nb(void* endpoint) {
  if (is_curing.load(std::memory_order_relaxed)) return nullptr;  // "disconnected already"
  auto* const disconnect = next_disconnect.as<void*(void*)>();
  return disconnect != nullptr ? disconnect(endpoint) : nullptr;
}

// ---- the file in /dev/shm of the ranks of a node ----

INTERPOSED int mkstemp(char* name) {
  static constinit NextFunction next{"mkstemp"};
  auto* const make = next.as<int(char*)>();
  if (auto own = own_shared_name(name, variable)) {
    const KeepErrno keep_errno;
    if (const int made = make(own->data()); made >= 0) {
      std::memcpy(name, own->data(), own->size());
      return made;
    }
  }
  return make(name);
}

// ---- emulated cores: vm_burst.h ----

INTERPOSED int vm_emulated(vm_emulation* facts) {
  if (!rank.is_emulated()) return 0;
  *facts = vm_emulation{.start_ns = rank.facts().start_ns,
                        .end_cost_ns = rank.facts().end_cost_ns,
                        .mpl = rank.mpl(),
                        .quantum_us = static_cast<std::uint32_t>(rank.facts().quantum_ns / 1000)};
  return 1;
}

INTERPOSED double vm_slowdown() { return rank.is_emulated() ? rank.slowdown() : 1; }

INTERPOSED void vm_burst(std::uint64_t ns) {
  if (rank.is_emulated() && waiting.reports) rank.burst(ns);
}
