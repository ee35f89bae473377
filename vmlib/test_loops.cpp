#include "vmlib/test_loops.hpp"

#include <mpi.h>

#include <type_traits>

namespace replay::vm {
namespace {

// clang-format off
#define REPLAY_VM_CALLS(CALL)                                                                                          \
  CALL(Isend) CALL(Issend) CALL(Irsend) CALL(Irecv) CALL(Imrecv) CALL(Iprobe) CALL(Improbe) CALL(Test) CALL(Testall)   \
  CALL(Testany) CALL(Testsome) CALL(Cancel) CALL(Comm_get_errhandler) CALL(Errhandler_free)                            \
  CALL(Recv) CALL(Sendrecv) CALL(Mrecv)
/// Since MPI 4; a program that calls MPI_Send_c has them.
#define REPLAY_VM_LARGE_CALLS(CALL)                                                                                    \
  CALL(Isend_c) CALL(Issend_c) CALL(Irsend_c) CALL(Irecv_c) CALL(Imrecv_c) CALL(Recv_c) CALL(Sendrecv_c) CALL(Mrecv_c)
// clang-format on

/// The next functions of these names, so that a profiling tool behind us sees requests end as it saw them begin.
struct Calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): declares a member
#define CALL(name) decltype(&MPI_##name) name = nullptr;
  REPLAY_VM_CALLS(CALL)
  REPLAY_VM_LARGE_CALLS(CALL)
#undef CALL
};
constinit Calls mpi;
constinit OnIdlePoll count_idle_poll = nullptr;

/// `test(&is_done)` until it is done or fails. An error has passed the error handler when it arrives here.
template <class Test>
int until_done(Test test) {
  for (;;) {
    int is_done = 0;
    const int error = test(&is_done);
    if (error != MPI_SUCCESS || is_done != 0) return error;
    count_idle_poll();
  }
}

int until_complete(MPI_Request& request, MPI_Status* status) {
  return until_done([&](int* is_done) { return mpi.Test(&request, is_done, status); });
}

int first_of(int error, int later_error) { return error != MPI_SUCCESS ? error : later_error; }

// ---- which error handler sees an error ----

// MPI_Recv reports a truncated message to its communicator's error handler. MPI_Test names no communicator: MPICH
// reports to that of MPI_COMM_WORLD. A receive becomes a loop of MPI_Test only where this is the same. Elsewhere it is
// a loop of MPI_Iprobe, and then MPI_Recv itself, which waits no more, or only for the rest of a large message.

bool is_predefined(MPI_Errhandler handler) { return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN; }

int read_handler(MPI_Comm comm, MPI_Errhandler& handler) {
  const int error = mpi.Comm_get_errhandler(comm, &handler);
  if (error != MPI_SUCCESS || is_predefined(handler)) return error;
  MPI_Errhandler counted = handler;
  return mpi.Errhandler_free(&counted);
}

/// A handler of the program's own is told the communicator, so it is never the same for two of them.
int compare_with_world(MPI_Comm comm, bool& is_same) {
  is_same = comm == MPI_COMM_WORLD;
  if (is_same) return MPI_SUCCESS;
  MPI_Errhandler ours{}, of_world{};
  const int error = read_handler(comm, ours);
  if (error != MPI_SUCCESS) return error;
  is_same = is_predefined(ours) && read_handler(MPI_COMM_WORLD, of_world) == MPI_SUCCESS && ours == of_world;
  return MPI_SUCCESS;
}

// ---- one body for each function and its large-count variant ----

template <class Start, class Count>
int send(Start* start, const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = start(buffer, count, type, to, tag, comm, &request);
  return error != MPI_SUCCESS ? error : until_complete(request, MPI_STATUS_IGNORE);
}

int await_message(int from, int tag, MPI_Comm comm) {
  return until_done([&](int* is_there) { return mpi.Iprobe(from, tag, comm, is_there, MPI_STATUS_IGNORE); });
}

template <class Count>
struct Receive {
  void* buffer;
  Count count;
  MPI_Datatype type;
  int from, tag;
  MPI_Comm comm;
};

template <class Start, class Whole, class Count>
int receive(Start* start, Whole* whole, const Receive<Count>& r, MPI_Status* status) {
  if (status == nullptr || r.from == MPI_PROC_NULL)  // an error; done at once
    return whole(r.buffer, r.count, r.type, r.from, r.tag, r.comm, status);
  bool is_same = false;
  int error = compare_with_world(r.comm, is_same);
  if (error != MPI_SUCCESS) return error;
  if (!is_same) {
    error = await_message(r.from, r.tag, r.comm);
    return error != MPI_SUCCESS ? error : whole(r.buffer, r.count, r.type, r.from, r.tag, r.comm, status);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  error = start(r.buffer, r.count, r.type, r.from, r.tag, r.comm, &request);
  return error != MPI_SUCCESS ? error : until_complete(request, status);
}

void withdraw(MPI_Request& receive) {
  if (mpi.Cancel(&receive) == MPI_SUCCESS) until_complete(receive, MPI_STATUS_IGNORE);
}

/// `start_send(&request)` is the sending half. The receive is posted first; a send that cannot start takes it back.
template <class StartSend, class Start, class Count>
int exchange_by_tests(StartSend start_send, Start* start_receive, const Receive<Count>& r, MPI_Status* status) {
  MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
  int error = start_receive(r.buffer, r.count, r.type, r.from, r.tag, r.comm, &receiving);
  if (error != MPI_SUCCESS) return error;
  error = start_send(&sending);
  if (error != MPI_SUCCESS) {
    withdraw(receiving);
    return error;
  }
  error = until_complete(receiving, status);
  return first_of(error, until_complete(sending, MPI_STATUS_IGNORE));
}

/// The first probe finds a wrong source before anything is sent. Always used for MPI_PROC_NULL: MPICH 4.0's MPI_Irecv
/// leaves another status than MPI_Recv.
template <class StartSend, class Whole, class Count>
int exchange_by_probes(StartSend start_send, Whole* receive_whole, const Receive<Count>& r, MPI_Status* status) {
  MPI_Request sending = MPI_REQUEST_NULL;
  int is_there = 0;
  int error = mpi.Iprobe(r.from, r.tag, r.comm, &is_there, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) error = start_send(&sending);
  if (error != MPI_SUCCESS) return error;
  error = await_message(r.from, r.tag, r.comm);
  if (error == MPI_SUCCESS) error = receive_whole(r.buffer, r.count, r.type, r.from, r.tag, r.comm, status);
  return first_of(error, until_complete(sending, MPI_STATUS_IGNORE));
}

/// Each half is tested by itself: MPI_Testall would make any error MPI_ERR_IN_STATUS.
template <class StartSend, class Start, class Whole, class Count>
int exchange(StartSend start_send, Start* start_receive, Whole* receive_whole, const Receive<Count>& r,
             MPI_Status* status) {
  bool is_same = false;
  const int error = compare_with_world(r.comm, is_same);
  if (error != MPI_SUCCESS) return error;
  return is_same && r.from != MPI_PROC_NULL ? exchange_by_tests(start_send, start_receive, r, status)
                                            : exchange_by_probes(start_send, receive_whole, r, status);
}

template <class Start, class Whole, class Count>
int receive_matched(Start* start, Whole* whole, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                    MPI_Status* status) {
  if (status == nullptr) return whole(buffer, count, type, message, status);
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = start(buffer, count, type, message, &request);
  return error != MPI_SUCCESS ? error : until_complete(request, status);
}

}  // namespace

// ---- the loops, by the names of their functions ----
// NOLINTBEGIN(readability-identifier-naming): the names are those of MPI, and of mpi_functions.def

namespace loops {
namespace {

int Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Isend, buffer, count, type, to, tag, comm);
}
int Send_c(const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Isend_c, buffer, count, type, to, tag, comm);
}
int Ssend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Issend, buffer, count, type, to, tag, comm);
}
int Ssend_c(const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Issend_c, buffer, count, type, to, tag, comm);
}
int Rsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Irsend, buffer, count, type, to, tag, comm);
}
int Rsend_c(const void* buffer, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send(mpi.Irsend_c, buffer, count, type, to, tag, comm);
}
int Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(mpi.Irecv, mpi.Recv, Receive<int>{buffer, count, type, from, tag, comm}, status);
}
int Recv_c(void* buffer, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(mpi.Irecv_c, mpi.Recv_c, Receive<MPI_Count>{buffer, count, type, from, tag, comm}, status);
}
int Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
             MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  if (status == nullptr)
    return mpi.Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
  const auto start = [&](MPI_Request* r) { return mpi.Isend(out, out_count, out_type, to, out_tag, comm, r); };
  return exchange(start, mpi.Irecv, mpi.Recv, Receive<int>{in, in_count, in_type, from, in_tag, comm}, status);
}
int Sendrecv_c(const void* out, MPI_Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
               MPI_Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  if (status == nullptr)
    return mpi.Sendrecv_c(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
  const auto start = [&](MPI_Request* r) { return mpi.Isend_c(out, out_count, out_type, to, out_tag, comm, r); };
  return exchange(start, mpi.Irecv_c, mpi.Recv_c, Receive<MPI_Count>{in, in_count, in_type, from, in_tag, comm},
                  status);
}
int Wait(MPI_Request* request, MPI_Status* status) {
  return until_done([&](int* is_done) { return mpi.Test(request, is_done, status); });
}
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return until_done([&](int* is_done) { return mpi.Testall(count, requests, is_done, statuses); });
}
int Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status) {
  return until_done([&](int* is_done) { return mpi.Testany(count, requests, which, is_done, status); });
}
/// Without any request the count is MPI_UNDEFINED, which ends the loop, too.
int Waitsome(int count, MPI_Request requests[], int* how_many, int which[], MPI_Status statuses[]) {
  return until_done([&](int* is_done) {
    const int error = mpi.Testsome(count, requests, how_many, which, statuses);
    if (error == MPI_SUCCESS) *is_done = *how_many != 0;
    return error;
  });
}
int Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return until_done([&](int* is_done) { return mpi.Iprobe(from, tag, comm, is_done, status); });
}
int Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return until_done([&](int* is_done) { return mpi.Improbe(from, tag, comm, is_done, message, status); });
}
int Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return receive_matched(mpi.Imrecv, mpi.Mrecv, buffer, count, type, message, status);
}
int Mrecv_c(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return receive_matched(mpi.Imrecv_c, mpi.Mrecv_c, buffer, count, type, message, status);
}

#define BLOCKING(name, count)
#define TESTABLE(name, count) \
  static_assert(std::is_same_v<decltype(name), decltype(MPI_##name)>, "MPI_" #name " has another signature");
#include "vmlib/mpi_functions.def"
#undef BLOCKING

}  // namespace
}  // namespace loops
// NOLINTEND(readability-identifier-naming)

const TestLoops kTestLoops = {
#define BLOCKING(name, count)
#define TESTABLE(name, count) .name = reinterpret_cast<TestLoops::Function>(&loops::name),
#include "vmlib/mpi_functions.def"
#undef BLOCKING
};

bool prepare_test_loops(void* (*find)(const char* name), OnIdlePoll on_idle_poll) {
  bool has_all = true;
#define CALL(name)                                                     \
  mpi.name = reinterpret_cast<decltype(mpi.name)>(find("MPI_" #name)); \
  has_all = has_all && mpi.name != nullptr;
  REPLAY_VM_CALLS(CALL)
#undef CALL
#define CALL(name) mpi.name = reinterpret_cast<decltype(mpi.name)>(find("MPI_" #name));
  REPLAY_VM_LARGE_CALLS(CALL)
#undef CALL
  count_idle_poll = on_idle_poll;
  return has_all;
}

}  // namespace replay::vm
