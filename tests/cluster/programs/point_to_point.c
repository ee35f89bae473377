/* Checks point-to-point and completion calls of two ranks, mainly in corner cases: the fields of a status, which error
 * handler is called and how often, null and inactive requests, requests that fail together with others. The expected
 * values are those of the standard and of MPICH without vmlib. Prints "ok" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10, LARGE = 1 << 18, UNTOUCHED = 4711 };

static int rank, other, failures;

static void expect_at(int is_true, const char* what, int line) {
  if (is_true) return;
  ++failures;
  fprintf(stderr, "rank %d, line %d: wrong: %s\n", rank, line, what);
}
#define expect(condition) expect_at(condition, #condition, __LINE__)

static int class_of(int error) {
  int class = -1;
  MPI_Error_class(error, &class);
  return class;
}

static void expect_status(const MPI_Status* status, int source, int tag, int count, int line) {
  int counted = -1;
  MPI_Get_count(status, MPI_INT, &counted);
  expect_at(status->MPI_SOURCE == source && status->MPI_TAG == tag && counted == count, "status", line);
}
#define expect_status(status, source, tag, count) expect_status(status, source, tag, count, __LINE__)

/* Both orders are tried: the message arrives before the other rank looks, or after. */
static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void every_kind_of_send(void) {
  int out[3] = {rank, 2, 3}, in[8], size;
  char buffer[1000 + MPI_BSEND_OVERHEAD];
  MPI_Status status;
  for (int late = 0; late < 2; ++late) {
    status.MPI_ERROR = UNTOUCHED;
    if (rank == 0) {
      if (late) meet();
      MPI_Send(out, 3, MPI_INT, 1, 10, MPI_COMM_WORLD);
      if (!late) meet();
    } else {
      if (late) meet();
      MPI_Recv(in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (!late) meet();
      expect_status(&status, 0, 10, 3);
      expect(status.MPI_ERROR == UNTOUCHED);
      expect(in[0] == 0 && in[1] == 2 && in[2] == 3);
    }
  }
  MPI_Request request;
  if (rank == 0) {
    MPI_Ssend(out, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
    MPI_Ssend_c(out, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
    MPI_Send_c(out, 2, MPI_INT, 1, 13, MPI_COMM_WORLD);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(out, 3, MPI_INT, 1, 14, MPI_COMM_WORLD);
    void* detached;
    MPI_Buffer_detach(&detached, &size);
    expect(detached == buffer && size == sizeof buffer);
    meet();
    MPI_Rsend(out, 1, MPI_INT, 1, 15, MPI_COMM_WORLD);
    meet();
    MPI_Rsend_c(out, 1, MPI_INT, 1, 16, MPI_COMM_WORLD);
    return;
  }
  MPI_Recv(in, 8, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(in, 8, MPI_INT, 0, 12, MPI_COMM_WORLD, &status);
  expect_status(&status, 0, 12, 1);
  MPI_Recv_c(in, 8, MPI_INT, 0, 13, MPI_COMM_WORLD, &status);
  expect_status(&status, 0, 13, 2);
  MPI_Recv(in, 8, MPI_INT, 0, 14, MPI_COMM_WORLD, &status);
  expect_status(&status, 0, 14, 3);
  for (int tag = 15; tag <= 16; ++tag) {
    MPI_Irecv(in, 8, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
    meet();
    MPI_Wait(&request, &status);
    expect_status(&status, 0, tag, 1);
    expect(request == MPI_REQUEST_NULL);
  }
}

static void large_messages(void) {
  int* out = malloc(LARGE * sizeof *out);
  int* in = malloc(LARGE * sizeof *in);
  for (int i = 0; i < LARGE; ++i) out[i] = i ^ rank;
  MPI_Status status;
  for (int way = 0; way < 3; ++way) {
    memset(in, -1, LARGE * sizeof *in);
    if (way == 0) {
      MPI_Sendrecv(out, LARGE, MPI_INT, other, 20, in, LARGE, MPI_INT, other, 20, MPI_COMM_WORLD, &status);
    } else if (way == 1) {
      MPI_Sendrecv_c(out, LARGE, MPI_INT, other, 20, in, LARGE, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     &status);
    } else if (rank == 0) {
      MPI_Send(out, LARGE, MPI_INT, 1, 20, MPI_COMM_WORLD);
      MPI_Recv(in, LARGE, MPI_INT, 1, 20, MPI_COMM_WORLD, &status);
    } else {
      MPI_Recv(in, LARGE, MPI_INT, 0, 20, MPI_COMM_WORLD, &status);
      MPI_Send(out, LARGE, MPI_INT, 0, 20, MPI_COMM_WORLD);
    }
    expect_status(&status, other, 20, LARGE);
    int wrong = 0;
    for (int i = 0; i < LARGE; ++i) wrong += in[i] != (i ^ other);
    expect(wrong == 0);
  }
  free(in);
  free(out);
}

static void nobody(void) {
  int in = 5;
  const int out = 1;
  MPI_Status status;
  MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD);
  MPI_Ssend(&out, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD);
  MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 30, MPI_COMM_WORLD, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Probe(MPI_PROC_NULL, 30, MPI_COMM_WORLD, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Message message;
  MPI_Mprobe(MPI_PROC_NULL, 30, MPI_COMM_WORLD, &message, &status);
  expect(message == MPI_MESSAGE_NO_PROC);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  memset(&status, 0, sizeof status);
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
  expect(message == MPI_MESSAGE_NULL);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  expect(in == 5);
  /* one half of an exchange with MPI_PROC_NULL */
  MPI_Sendrecv(&rank, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 31, &in, 1, MPI_INT, rank == 0 ? MPI_PROC_NULL : 0, 31,
               MPI_COMM_WORLD, &status);
  expect(in == (rank == 0 ? 5 : 0));
  expect_status(&status, rank == 0 ? MPI_PROC_NULL : 0, rank == 0 ? MPI_ANY_TAG : 31, rank == 0 ? 0 : 1);
}

static void probes(void) {
  int in = -1, flag = 0;
  MPI_Status status;
  MPI_Message message;
  if (rank == 0) {
    for (int tag = 40; tag < 44; ++tag) {
      meet();
      MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    }
    return;
  }
  meet();
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  expect_status(&status, 0, 40, 1);
  MPI_Probe(0, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&in, 1, MPI_INT, 0, 40, MPI_COMM_WORLD, &status);
  expect(in == 40);
  meet();
  MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  expect_status(&status, 0, 41, 1);
  MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  expect(!flag); /* it has been taken out of the queue */
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
  expect(in == 41 && message == MPI_MESSAGE_NULL);
  expect_status(&status, 0, 41, 1);
  meet();
  MPI_Mprobe(0, 42, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv_c(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  expect(in == 42);
  meet();
  MPI_Recv(&in, 1, MPI_INT, 0, 43, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- completion ---- */

static void no_request(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int which = 7, done = 7, indices[3];
  expect(MPI_Wait(&none[0], &statuses[0]) == MPI_SUCCESS);
  expect_status(&statuses[0], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  expect(MPI_Wait(&none[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  expect(MPI_Waitall(0, none, statuses) == MPI_SUCCESS);
  memset(statuses, 0, sizeof statuses);
  expect(MPI_Waitall(3, none, statuses) == MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) expect_status(&statuses[i], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  expect(MPI_Waitall(3, none, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  memset(statuses, 0, sizeof statuses);
  expect(MPI_Waitany(3, none, &which, &statuses[0]) == MPI_SUCCESS);
  expect(which == MPI_UNDEFINED);
  expect_status(&statuses[0], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  which = 7;
  expect(MPI_Waitany(0, none, &which, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  expect(which == MPI_UNDEFINED);
  expect(MPI_Waitsome(3, none, &done, indices, statuses) == MPI_SUCCESS);
  expect(done == MPI_UNDEFINED);
  done = 7;
  expect(MPI_Waitsome(0, none, &done, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  expect(done == MPI_UNDEFINED);
}

static void persistent(void) {
  int out = rank, in = -1, which = 7, done = 7, indices[3];
  MPI_Status statuses[3];
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Recv_init(&in, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &requests[2]);
  for (int way = 0; way < 4; ++way) {
    /* inactive: there is nothing to wait for */
    expect(MPI_Wait(&requests[0], &statuses[0]) == MPI_SUCCESS);
    expect_status(&statuses[0], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    expect(MPI_Waitall(3, requests, statuses) == MPI_SUCCESS);
    expect_status(&statuses[2], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    in = -1;
    if (way % 2 == 1) meet();
    MPI_Start(&requests[0]);
    MPI_Start(&requests[2]);
    if (way == 0) {
      MPI_Waitall(3, requests, statuses);
      expect_status(&statuses[0], other, 50, 1);
    } else if (way == 1) {
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else if (way == 2) {
      MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
      MPI_Waitany(1, requests, &which, &statuses[0]);
      expect(which == 0);
      expect_status(&statuses[0], other, 50, 1);
    } else {
      MPI_Wait(&requests[2], &statuses[2]);
      MPI_Waitsome(1, requests, &done, indices, statuses);
      expect(done == 1 && indices[0] == 0);
      expect_status(&statuses[0], other, 50, 1);
    }
    expect(in == other);
    expect(requests[0] != MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[2]);
}

static void any_and_some(void) {
  enum { COUNT = 6 };
  int out[COUNT], in[COUNT], which, done, indices[COUNT], left = COUNT;
  MPI_Request receives[COUNT + 1], sends[COUNT];
  MPI_Status statuses[COUNT];
  receives[COUNT] = MPI_REQUEST_NULL;
  for (int i = 0; i < COUNT; ++i) {
    out[i] = rank * 100 + i;
    MPI_Irecv(&in[i], 1, MPI_INT, other, 60 + i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = COUNT - 1; i >= 0; --i) MPI_Isend(&out[i], 1, MPI_INT, other, 60 + i, MPI_COMM_WORLD, &sends[i]);
  MPI_Waitany(COUNT + 1, receives, &which, &statuses[0]);
  expect(which >= 0 && which < COUNT && receives[which] == MPI_REQUEST_NULL);
  expect_status(&statuses[0], other, 60 + which, 1);
  --left;
  while (left > 0) {
    MPI_Waitsome(COUNT + 1, receives, &done, indices, statuses);
    expect(done >= 1 && done <= left);
    if (done < 1) return;
    for (int i = 0; i < done; ++i) {
      expect_status(&statuses[i], other, 60 + indices[i], 1);
      expect(receives[indices[i]] == MPI_REQUEST_NULL);
    }
    left -= done;
  }
  for (int i = 0; i < COUNT; ++i) expect(in[i] == other * 100 + i);
  MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
}

static int queries, frees;
static int query(void* state, MPI_Status* status) {
  (void)state;
  ++queries;
  MPI_Status_set_elements(status, MPI_INT, 9);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 8;
  status->MPI_TAG = 7;
  return MPI_SUCCESS;
}
static int free_it(void* state) {
  (void)state;
  ++frees;
  return MPI_SUCCESS;
}
static int cancel_it(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void cancelled_and_generalized(void) {
  int in = 3, flag = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&in, 1, MPI_INT, other, 70, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  expect(flag && in == 3 && request == MPI_REQUEST_NULL);
  queries = frees = 0;
  MPI_Grequest_start(query, free_it, cancel_it, NULL, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  expect(queries == 1 && frees == 1);
  expect_status(&status, 8, 7, 9);
}

/* ---- errors ---- */

static int handled, handled_class;
static MPI_Comm handled_comm;
static void note(MPI_Comm* comm, int* error, ...) {
  ++handled;
  handled_class = class_of(*error);
  handled_comm = *comm;
}

/* Checks a wrong call: the handler of `comm` runs once (if it is ours: `notes`), and the error is one of `class`. */
static void expect_error(int error, int class, MPI_Comm comm, int notes, int line) {
  expect_at(class_of(error) == class, "class of the returned error", line);
  expect_at(handled == notes, "calls of the error handler", line);
  if (notes) expect_at(handled_comm == comm && handled_class == class, "what the error handler was told", line);
  handled = 0;
}
#define expect_error(error, class, comm, notes) expect_error(error, class, comm, notes, __LINE__)

static void errors_on(MPI_Comm comm, int notes) {
  int out[2] = {1, 2}, in[2] = {0, 0};
  MPI_Status status;
  handled = 0;
  for (int late = 0; late < 2; ++late) {
    if (rank == 0) {
      if (late) meet();
      MPI_Send(out, 2, MPI_INT, 1, 80, comm);
      if (!late) meet();
    } else {
      if (late) meet();
      expect_error(MPI_Recv(in, 1, MPI_INT, 0, 80, comm, &status), MPI_ERR_TRUNCATE, comm, notes);
      if (!late) meet();
      expect(in[1] == 0);
    }
  }
  expect_error(MPI_Sendrecv(out, 2, MPI_INT, other, 81, in, 1, MPI_INT, other, 81, comm, &status), MPI_ERR_TRUNCATE,
               comm, notes);
  expect_error(MPI_Send(out, 1, MPI_INT, 99, 82, comm), MPI_ERR_RANK, comm, notes);
  expect_error(MPI_Send(out, -1, MPI_INT, other, 82, comm), MPI_ERR_COUNT, comm, notes);
  expect_error(MPI_Recv(in, 1, MPI_INT, 99, 82, comm, &status), MPI_ERR_RANK, comm, notes);
  expect_error(MPI_Probe(99, 82, comm, &status), MPI_ERR_RANK, comm, notes);
  /* A half that is wrong leaves nothing behind: the next message goes to the next receive. */
  in[0] = 0;
  expect_error(MPI_Sendrecv(out, 1, MPI_INT, 99, 83, in, 1, MPI_INT, other, 83, comm, &status), MPI_ERR_RANK, comm,
               notes);
  expect_error(MPI_Sendrecv(out, 1, MPI_INT, other, 83, in, 1, MPI_INT, 99, 83, comm, &status), MPI_ERR_RANK, comm,
               notes);
  meet();
  expect(in[0] == 0);
  out[0] = 77;
  MPI_Sendrecv(out, 1, MPI_INT, other, 83, in, 2, MPI_INT, other, 83, comm, &status);
  expect_status(&status, other, 83, 1);
  expect(in[0] == 77 && handled == 0);
  /* probe for a message that does not exist */
  int flag = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  expect(!flag);
  meet();
}

/* Requests belong to no communicator: MPICH tells the handler of MPI_COMM_WORLD. */
static void errors_of_requests(void) {
  enum { BAD = 1 };
  int out[2] = {5, 6}, in[3][2], which, done, indices[3];
  MPI_Request requests[3];
  MPI_Status statuses[3], status;
  for (int way = 0; way < 6; ++way) {
    for (int i = 0; i < 3; ++i)
      MPI_Irecv(in[i], i == BAD ? 1 : 2, MPI_INT, other, 90 + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 3; ++i) MPI_Send(out, 2, MPI_INT, other, 90 + i, MPI_COMM_WORLD);
    if (way != 5) meet(); /* with 5, the good requests may be done after the bad one */
    handled = 0;
    if (way == 0) {
      expect_error(MPI_Wait(&requests[BAD], &status), MPI_ERR_TRUNCATE, MPI_COMM_WORLD, 1);
      expect(requests[BAD] == MPI_REQUEST_NULL);
    } else if (way == 1) {
      expect_error(MPI_Waitany(1, &requests[BAD], &which, &status), MPI_ERR_TRUNCATE, MPI_COMM_WORLD, 1);
    } else if (way == 2) {
      expect_error(MPI_Waitsome(1, &requests[BAD], &done, indices, statuses), MPI_ERR_IN_STATUS, MPI_COMM_WORLD, 1);
      expect(done == 1 && class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    } else if (way == 3) {
      expect_error(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS, MPI_COMM_WORLD, 1);
    } else {
      expect_error(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS, MPI_COMM_WORLD, 1);
      expect(class_of(statuses[BAD].MPI_ERROR) == MPI_ERR_TRUNCATE && requests[BAD] == MPI_REQUEST_NULL);
      for (int i = 0; i < 3; ++i)
        if (i != BAD) expect(statuses[i].MPI_ERROR == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_ERR_PENDING);
    }
    expect(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < 3; ++i)
      if (i != BAD) expect(in[i][0] == 5 && in[i][1] == 6);
    expect(handled == 0);
    meet();
  }
}

static void errors(void) {
  MPI_Comm own;
  MPI_Errhandler ours;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_create_errhandler(note, &ours);
  /* the communicator's handler is used, not that of MPI_COMM_WORLD */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  errors_on(own, 0);
  MPI_Comm_set_errhandler(own, ours);
  errors_on(own, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, ours);
  errors_on(own, 1);
  errors_on(MPI_COMM_WORLD, 1);
  errors_of_requests();
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  errors_on(own, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  errors_on(own, 0);
  errors_on(MPI_COMM_WORLD, 0);
  MPI_Errhandler_free(&ours);
  MPI_Comm_free(&own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int size, anywhere = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  other = 1 - rank;
  for (int i = 0; i < ROUNDS; ++i) {
    every_kind_of_send();
    large_messages();
    nobody();
    probes();
    no_request();
    persistent();
    any_and_some();
    cancelled_and_generalized();
    errors();
  }
  MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && anywhere == 0) puts("ok");
  MPI_Finalize();
  return anywhere != 0;
}
