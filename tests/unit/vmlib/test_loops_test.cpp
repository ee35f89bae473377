// Tests of the loops of tests, with fake MPI functions that record their calls: what a loop calls, and when it ends.
// tests/cluster/vmlib_modes_test.cpp tests that real programs see the same as with the blocking calls.
#include "vmlib/test_loops.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <map>
#include <string>

namespace replay::vm {
namespace {

constexpr MPI_Comm kOwnComm = 1234;
constexpr MPI_Errhandler kOwnHandler = 5678;

/// The answers of the fakes, and the calls made, a word each.
struct Fake {
  static inline std::string calls;
  static inline int tests_in_vain = 0, idle_polls = 0;
  static inline int start_error = MPI_SUCCESS, test_error = MPI_SUCCESS, completed = 1;
  static inline MPI_Errhandler own_handler = MPI_ERRORS_ARE_FATAL;
  static inline std::string missing;

  static void reset() {
    calls.clear();
    tests_in_vain = idle_polls = 0;
    start_error = test_error = MPI_SUCCESS;
    completed = 1;
    own_handler = MPI_ERRORS_ARE_FATAL;
    missing.clear();
  }
  static void note(const char* call) { calls += std::string{calls.empty() ? "" : " "} + call; }
  /// The first calls report nothing done.
  static int look(const char* call, int* is_done) {
    if (calls.size() < std::string{call}.size() || !calls.ends_with(call)) note(call);
    *is_done = tests_in_vain-- <= 0;
    return *is_done != 0 ? test_error : MPI_SUCCESS;
  }
};

int isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  Fake::note("Isend");
  *request = 1;
  return Fake::start_error;
}
int irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  Fake::note("Irecv");
  *request = 2;
  return MPI_SUCCESS;
}
int test(MPI_Request* request, int* is_done, MPI_Status*) {
  return Fake::look(*request == 1 ? "Test(send)" : "Test(receive)", is_done);
}
int testsome(int, MPI_Request*, int* how_many, int*, MPI_Status*) {
  int is_done = 0;
  const int error = Fake::look("Testsome", &is_done);
  *how_many = is_done != 0 ? Fake::completed : 0;
  return error;
}
int iprobe(int, int, MPI_Comm, int* is_there, MPI_Status*) { return Fake::look("Iprobe", is_there); }
int recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) { return Fake::note("Recv"), MPI_SUCCESS; }
int cancel(MPI_Request* request) { return Fake::note(*request == 2 ? "Cancel(receive)" : "Cancel"), MPI_SUCCESS; }
int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  *handler = comm == kOwnComm ? Fake::own_handler : MPI_ERRORS_ARE_FATAL;
  return MPI_SUCCESS;
}
int errhandler_free(MPI_Errhandler* handler) { return *handler = MPI_ERRHANDLER_NULL, MPI_SUCCESS; }
int unexpected() { return Fake::note("unexpected"), MPI_ERR_OTHER; }

void* find(const char* name) {
  static const std::map<std::string, void*> kFakes = {
      {"MPI_Isend", reinterpret_cast<void*>(&isend)},
      {"MPI_Irecv", reinterpret_cast<void*>(&irecv)},
      {"MPI_Test", reinterpret_cast<void*>(&test)},
      {"MPI_Testsome", reinterpret_cast<void*>(&testsome)},
      {"MPI_Iprobe", reinterpret_cast<void*>(&iprobe)},
      {"MPI_Recv", reinterpret_cast<void*>(&recv)},
      {"MPI_Cancel", reinterpret_cast<void*>(&cancel)},
      {"MPI_Comm_get_errhandler", reinterpret_cast<void*>(&comm_get_errhandler)},
      {"MPI_Errhandler_free", reinterpret_cast<void*>(&errhandler_free)}};
  if (name == Fake::missing) return nullptr;
  const auto found = kFakes.find(name);
  return found != kFakes.end() ? found->second : reinterpret_cast<void*>(&unexpected);
}

class VmTestLoops : public ::testing::Test {
 protected:
  VmTestLoops() {
    Fake::reset();
    is_ready = prepare_test_loops(find, [] { ++Fake::idle_polls; });
  }

  template <class Function, class... Arguments>
  static int call(TestLoops::Function loop, Arguments... arguments) {
    return reinterpret_cast<Function*>(loop)(arguments...);
  }
  static int send() { return call<decltype(MPI_Send)>(kTestLoops.Send, nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD); }
  static int receive(MPI_Comm comm, int from = 1) {
    return call<decltype(MPI_Recv)>(kTestLoops.Recv, nullptr, 0, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
  }
  static int exchange(MPI_Comm comm) {
    return call<decltype(MPI_Sendrecv)>(kTestLoops.Sendrecv, nullptr, 0, MPI_INT, 1, 0, nullptr, 0, MPI_INT, 1, 0, comm,
                                        MPI_STATUS_IGNORE);
  }

  bool is_ready = false;
};

TEST_F(VmTestLoops, EachTestInVainIsAnIdlePoll) {
  ASSERT_TRUE(is_ready);
  Fake::tests_in_vain = 3;
  EXPECT_EQ(send(), MPI_SUCCESS);
  EXPECT_EQ(Fake::calls, "Isend Test(send)");
  EXPECT_EQ(Fake::idle_polls, 3);
}

TEST_F(VmTestLoops, ACallThatIsDoneAtOnceIsNoPoll) {
  EXPECT_EQ(receive(MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(Fake::calls, "Irecv Test(receive)");
  EXPECT_EQ(Fake::idle_polls, 0);
}

TEST_F(VmTestLoops, WhatCannotStartIsNotTested) {
  Fake::start_error = MPI_ERR_RANK;
  EXPECT_EQ(send(), MPI_ERR_RANK);
  EXPECT_EQ(Fake::calls, "Isend");
}

TEST_F(VmTestLoops, AnErrorEndsTheLoopAndIsReturned) {
  Fake::tests_in_vain = 1;
  Fake::test_error = MPI_ERR_TRUNCATE;
  EXPECT_EQ(receive(MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
  EXPECT_EQ(Fake::calls, "Irecv Test(receive)");
}

TEST_F(VmTestLoops, ASendThatCannotStartTakesTheReceiveBack) {
  Fake::start_error = MPI_ERR_RANK;
  EXPECT_EQ(exchange(MPI_COMM_WORLD), MPI_ERR_RANK);
  EXPECT_EQ(Fake::calls, "Irecv Isend Cancel(receive) Test(receive)");
}

TEST_F(VmTestLoops, AnExchangeEndsWhenBothHalvesAreDone) {
  EXPECT_EQ(exchange(MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(Fake::calls, "Irecv Isend Test(receive) Test(send)");
}

// MPI_Test reports to the handler of MPI_COMM_WORLD, so where another one must be called, MPI_Recv itself receives.
TEST_F(VmTestLoops, AnotherErrorHandlerIsToldByTheBlockingCallItself) {
  for (const MPI_Errhandler other : {MPI_Errhandler{MPI_ERRORS_RETURN}, kOwnHandler}) {
    Fake::reset();
    Fake::own_handler = other;
    Fake::tests_in_vain = 2;
    EXPECT_EQ(receive(kOwnComm), MPI_SUCCESS);
    EXPECT_EQ(Fake::calls, "Iprobe Recv");
    EXPECT_EQ(Fake::idle_polls, 2);
  }
}

TEST_F(VmTestLoops, ACommunicatorWithTheSameErrorHandlerIsTested) {
  EXPECT_EQ(receive(kOwnComm), MPI_SUCCESS);
  EXPECT_EQ(Fake::calls, "Irecv Test(receive)");
}

TEST_F(VmTestLoops, AnExchangeWithAnotherErrorHandlerChecksItsSourceBeforeItSends) {
  Fake::own_handler = kOwnHandler;
  Fake::test_error = MPI_ERR_RANK;
  EXPECT_EQ(exchange(kOwnComm), MPI_ERR_RANK);
  EXPECT_EQ(Fake::calls, "Iprobe");
}

TEST_F(VmTestLoops, FromNobodyTheBlockingCallReturnsAtOnce) {
  EXPECT_EQ(receive(MPI_COMM_WORLD, MPI_PROC_NULL), MPI_SUCCESS);
  EXPECT_EQ(Fake::calls, "Recv");
}

TEST_F(VmTestLoops, WaitsomeOfNoActiveRequestEnds) {
  int how_many = 0, which = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  const auto wait = [&] {
    return call<decltype(MPI_Waitsome)>(kTestLoops.Waitsome, 1, &request, &how_many, &which, &status);
  };
  Fake::completed = MPI_UNDEFINED;
  EXPECT_EQ(wait(), MPI_SUCCESS);
  EXPECT_EQ(how_many, MPI_UNDEFINED);
  EXPECT_EQ(Fake::idle_polls, 0);
  Fake::completed = 1;
  Fake::tests_in_vain = 4;
  EXPECT_EQ(wait(), MPI_SUCCESS);
  EXPECT_EQ(how_many, 1);
  EXPECT_EQ(Fake::idle_polls, 4);
}

TEST_F(VmTestLoops, AnMpiThatLacksACallHasNone) {
  for (const char* needed : {"MPI_Irecv", "MPI_Improbe", "MPI_Testall", "MPI_Recv"}) {
    Fake::missing = needed;
    EXPECT_FALSE(prepare_test_loops(find, [] {})) << needed;
  }
  Fake::missing = "MPI_Isend_c";  // before MPI 4
  EXPECT_TRUE(prepare_test_loops(find, [] {}));
}

}  // namespace
}  // namespace replay::vm
