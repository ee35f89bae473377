/* What vmlib (inside an MPI rank) and the node agent share: the layout of a job's shared segment and the two messages
 * of a registration. Plain C, fixed sizes, no pointers; docs/formats/vm-segment.md has the byte table.
 *
 * One segment per job and node: a file in the agent's 0700 directory, created by the agent (O_EXCL, 0600), mapped by
 * every rank. Each slot has two halves on cache lines of their own: the agent writes the first, the rank the second;
 * nobody ever writes the other's half, so there is no lock, and a dead writer blocks nobody. Both sides treat what they
 * read as untrusted: sizes and indices are range-checked. Fields that change are read and written with
 * __atomic_load_n/__atomic_store_n, relaxed unless stated. */
#ifndef REPLAY_PROTOCOL_WIRE_H
#define REPLAY_PROTOCOL_WIRE_H

#include <stdint.h>

#define REPLAY_VM_MAGIC UINT64_C(0x4d562d59414c5052) /* "RPLAY-VM" in little-endian bytes */
#define REPLAY_VM_VERSION 1u
#define REPLAY_VM_KEY_BYTES 16
#define REPLAY_VM_MAX_RANKS 4096u

/* How the agent tells a rank where to go: in mpiexec's environment, which Hydra hands on (a command line is readable for
 * everybody, an environment is not). LD_PRELOAD alone goes by -genv, so that Hydra itself is never preloaded. */
#define REPLAY_VM_ENV_SOCKET "REPLAY_VM_SOCKET"   /* path of the agent's Unix stream socket */
#define REPLAY_VM_ENV_SEGMENT "REPLAY_VM_SEGMENT" /* path of the job's segment */
#define REPLAY_VM_ENV_KEY "REPLAY_VM_KEY"         /* 32 hex digits: the job's key */
#define REPLAY_VM_ENV_OFF "REPLAY_VM_OFF"         /* set to anything but "0": vmlib does nothing at all */

enum replay_vm_state {
  REPLAY_VM_EMPTY = 0,       /* no rank yet */
  REPLAY_VM_STARTING = 1,    /* registered, inside MPI_Init */
  REPLAY_VM_RUNNING = 2,     /* MPI_Init has returned */
  REPLAY_VM_FINALIZING = 3,  /* inside MPI_Finalize */
  REPLAY_VM_FINALIZED = 4,   /* MPI_Finalize has returned: the rank ended as a program should */
  REPLAY_VM_SWITCHED_OFF = 5 /* vmlib has disabled itself; the rank runs as with stock MPICH */
};

enum replay_vm_mode {
  REPLAY_VM_MODE_NONE = 0,     /* cannot give the core away: the job is rigid */
  REPLAY_VM_MODE_PROGRESS = 1, /* ucp_worker_progress is interposed */
  REPLAY_VM_MODE_TEST_LOOP = 2 /* Test loops around the blocking calls */
};

/* The half that the agent writes. */
struct replay_vm_orders {
  uint32_t shared; /* 1: this rank's core is shared with another rank, so give it away while waiting */
  int32_t core;    /* the core's index on this node as the agent counts, for the record */
  uint8_t reserved[56];
};

/* The half that the rank writes. Times are in ns of CLOCK_MONOTONIC. */
struct replay_vm_report {
  uint32_t state; /* enum replay_vm_state; written with release order */
  uint32_t mode;  /* enum replay_vm_mode */
  int32_t pid;
  int32_t world_rank;
  uint64_t pid_start;     /* field 22 of /proc/PID/stat: with pid, names the process for ever */
  uint64_t init_ns;       /* MPI_Init returned */
  uint64_t blocked_ns;    /* in outermost blocking MPI calls since then */
  uint64_t blocked_since; /* start of the blocking call it is in now, 0: in none */
  uint64_t calls;         /* outermost blocking calls */
  uint64_t polls;         /* progress polls that found nothing */
  uint64_t handoffs;      /* times the core was given away */
  uint64_t cpu_ns;        /* CPU time of the rank's main thread when last written (at the latest in MPI_Finalize) */
  uint64_t finalize_ns;   /* MPI_Finalize was entered; 0: not yet. Nothing after it counts as blocked or useful */
  uint8_t reserved[40];
};

struct replay_vm_slot {
  struct replay_vm_orders orders;
  struct replay_vm_report report;
};

struct replay_vm_segment {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes;              /* of the whole segment */
  uint32_t slots;              /* ranks of the job on this node, 1..REPLAY_VM_MAX_RANKS */
  uint32_t polls_before_yield; /* idle polls before the core is given away, >= 1 */
  uint8_t key[REPLAY_VM_KEY_BYTES];
  uint8_t reserved[24];
  /* `slots` of struct replay_vm_slot follow; slot i belongs to the i-th of this node's world ranks, ascending */
};

#ifdef __cplusplus
inline replay_vm_slot* replay_vm_slot_at(replay_vm_segment* segment, uint32_t slot) {
  return static_cast<replay_vm_slot*>(static_cast<void*>(segment + 1)) + slot;
}
#endif

/* Rank -> agent, once, first thing on the stream. */
struct replay_vm_hello {
  uint64_t magic;
  uint32_t version;
  uint32_t mode;
  uint8_t key[REPLAY_VM_KEY_BYTES];
  int32_t world_rank;
  int32_t world_size;
  int32_t pid;
  int32_t reserved;
  uint64_t pid_start;
};

/* Agent -> rank, once. The rank keeps the stream open until it exits: its end is seen at once. */
struct replay_vm_welcome {
  uint64_t magic;
  uint32_t version;
  int32_t slot; /* >= 0: the rank's slot; < 0: refused (-1 key, -2 version, -3 rank or size, -4 already there) */
};

#ifdef __cplusplus
static_assert(sizeof(struct replay_vm_orders) == 64, "one cache line");
static_assert(sizeof(struct replay_vm_report) == 128, "two cache lines");
static_assert(sizeof(struct replay_vm_segment) == 64, "one cache line before the slots");
static_assert(sizeof(struct replay_vm_hello) == 56 && sizeof(struct replay_vm_welcome) == 16, "no padding");
#endif

#endif /* REPLAY_PROTOCOL_WIRE_H */
