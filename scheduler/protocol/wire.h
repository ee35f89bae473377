/* What vmlib (inside an MPI rank) and the node agent share: the layout of a job's shared segment, of the node's core
 * segment, and the two messages of a registration. Plain C, fixed sizes, no pointers; docs/formats/vm-segment.md has
 * the byte tables.
 *
 * One segment per job and node: memory that the agent creates, seals in its size and hands to every rank that
 * registers. Each slot has two halves on cache lines of their own: the agent writes the first, the rank the second;
 * neither side writes the other's half, so there is no lock, and a dead writer blocks no reader. Both sides treat what
 * they read as untrusted: sizes and indices are range-checked. Fields that change are read and written with
 * __atomic_load_n/__atomic_store_n, relaxed unless stated.
 *
 * One core segment per node, handed to the ranks of all its jobs: a token for each core, which one rank holds while it
 * computes. On real cores a waiter goes on without the token after 1 ms; on emulated cores the token is the core
 * (docs/adr/0007-tokens-for-cores.md). */
#ifndef REPLAY_PROTOCOL_WIRE_H
#define REPLAY_PROTOCOL_WIRE_H

#include <stdint.h>

#define REPLAY_VM_MAGIC UINT64_C(0x4d562d59414c5052)       /* "RPLAY-VM" in little-endian bytes */
#define REPLAY_VM_CORES_MAGIC UINT64_C(0x4d562d5345524f43) /* "CORES-VM" */
#ifndef REPLAY_VM_VERSION                                  /* a test makes a vmlib of another version */
#define REPLAY_VM_VERSION 3u
#endif
#define REPLAY_VM_FILE_MARK "replay vmlib, wire version " /* in vmlib's file, followed by its version */
#define REPLAY_VM_KEY_BYTES 16
#define REPLAY_VM_MAX_RANKS 4096u
#define REPLAY_VM_MAX_CORES 4096u
#define REPLAY_VM_SEATS 24u   /* ranks that can wait for one core */
#define REPLAY_VM_SEGMENTS 2u /* descriptors that come with a welcome: the job's segment, the node's core segment */
#define REPLAY_VM_NO_SEAT UINT32_C(0xffffffff)

/* The agent's settings for a rank: in mpiexec's environment, which Hydra hands on (every user can read a command line,
 * but not an environment). LD_PRELOAD alone goes by -genv, so that Hydra itself is never preloaded. */
#define REPLAY_VM_ENV_SOCKET "REPLAY_VM_SOCKET" /* path of the agent's Unix stream socket */
#define REPLAY_VM_ENV_KEY "REPLAY_VM_KEY"       /* 32 hex digits: the job's key */
#define REPLAY_VM_ENV_MODE "REPLAY_VM_MODE"     /* "progress", "test-loop" or "none" forces that mode; else the best */
#define REPLAY_VM_ENV_OTHER_LAUNCHER "OMPI_COMM_WORLD_SIZE" /* set by Open MPI's mpirun: its processes have a world */
#define REPLAY_VM_ENV_SHARED "REPLAY_VM_SHARED"             /* the agent's folder in /dev/shm, for the ranks' files */
#define REPLAY_VM_SHARED_FILE "mXXXXXX"                     /* MPICH's there, for mkstemp() */
#define REPLAY_VM_ENV_OFF "REPLAY_VM_OFF" /* set to anything but "0": REPLAY_VM_SHARED counts, and nobody registers */

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

/* How a rank gives its core to another. */
enum replay_vm_back_end {
  REPLAY_VM_YIELD = 0, /* sched_yield */
  REPLAY_VM_TOKEN = 1  /* the core's token, handed over by futex */
};

/* The half that the agent writes. */
struct replay_vm_orders {
  uint32_t shared;   /* 1: another rank, of whatever job, is on this rank's core, so give it away while waiting */
  uint32_t back_end; /* enum replay_vm_back_end */
  uint64_t place;    /* replay_vm_place(): core and seat in the core segment, one word as both change together */
  uint32_t mpl;      /* most ranks of this job on one core, >= 1 */
  /* Emulated cores: how many times as long its work takes beside the jobs on its nodes, in millionths; 0: 1,000,000 */
  uint32_t slowdown;
  uint8_t reserved[40];
};

#define REPLAY_VM_SLOWDOWN_OF_ONE UINT32_C(1000000)
#define REPLAY_VM_LEAST_SLOWDOWN UINT32_C(10000)    /* 0.01 */
#define REPLAY_VM_MOST_SLOWDOWN UINT32_C(100000000) /* 100 */

#ifdef __cplusplus
/* Core index in the upper half, seat (or REPLAY_VM_NO_SEAT: no token, so yield) in the lower one. */
inline uint64_t replay_vm_place(uint32_t core, uint32_t seat) { return uint64_t{core} << 32 | seat; }
inline uint32_t replay_vm_core_of(uint64_t place) { return static_cast<uint32_t>(place >> 32); }
inline uint32_t replay_vm_seat_of(uint64_t place) { return static_cast<uint32_t>(place); }
#endif

/* The half that the rank writes. Times are in ns of CLOCK_MONOTONIC. */
struct replay_vm_report {
  uint32_t state; /* enum replay_vm_state; written with release order */
  uint32_t mode;  /* enum replay_vm_mode */
  int32_t pid;
  int32_t world_rank;
  uint64_t pid_start;     /* field 22 of /proc/PID/stat: with pid, identifies the process for ever */
  uint64_t init_ns;       /* MPI_Init returned */
  uint64_t blocked_ns;    /* in outermost blocking MPI calls since then */
  uint64_t blocked_since; /* start of the blocking call it is in now, 0: in none */
  uint64_t calls;         /* outermost blocking calls */
  uint64_t polls;         /* progress polls that found nothing */
  uint64_t handoffs;      /* times the core was given away */
  uint64_t cpu_ns;        /* CPU time of the rank's main thread when last written (at the latest in MPI_Finalize) */
  uint64_t finalize_ns;   /* MPI_Finalize was entered; 0: not yet. Nothing after it counts as blocked or useful */
  uint64_t naps;          /* times the rank slept because nothing on its core could run */
  uint64_t burst_ns;      /* emulated cores: work done by vm_burst() */
  uint8_t reserved[24];
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
  uint64_t start_ns; /* CLOCK_MONOTONIC: the job was given its cores */
  /* Emulated cores: what ending this job is expected to cost, from its last work to its last process. */
  uint64_t end_cost_ns;
  uint32_t emulated; /* 1: cores are virtual; work is slept through vm_burst() under a token, waiting ranks nap */
  /* Emulated cores: longest stretch that a rank holds a token that another one waits for, >= 100. */
  uint32_t quantum_us;
  /* `slots` of struct replay_vm_slot follow; slot i belongs to the i-th of this node's world ranks, ascending */
};

#ifdef __cplusplus
inline replay_vm_slot* replay_vm_slot_at(replay_vm_segment* segment, uint32_t slot) {
  return static_cast<replay_vm_slot*>(static_cast<void*>(segment + 1)) + slot;
}
#endif

/* One per core of the node. A rank is named by its pid, which is never 0. A rank is at its seat from when it first
 * wants the token until it leaves the core: while it waits, while it has the token, and while it computes without it.
 * So a rank that hands the token over skips the holder's seat, and can see afterwards that the new holder has left. */
struct replay_vm_seat {
  /* Pid of the rank that wants or has the token here; 0: none. Set by that rank, as often as it is found cleared;
   * cleared by it, by the agent (the rank has been moved or stopped, or is gone), and by a rank that overtakes it. */
  uint32_t wanter;
  uint32_t turn; /* futex: changes when the token is handed to this seat */
};

struct replay_vm_core {
  uint32_t holder; /* pid of the rank that has the token; 0: free. Changed by compare-and-swap only */
  uint32_t reserved_0;
  /* CLOCK_MONOTONIC: since when; written by a rank that is about to hand it over or to take it, so a little off when
   * two are about to. */
  uint64_t granted_ns;
  uint64_t handovers; /* how often the token was handed over; statistics only */
  uint8_t reserved[40];
  struct replay_vm_seat seats[REPLAY_VM_SEATS];
};

struct replay_vm_cores {
  uint64_t magic;   /* REPLAY_VM_CORES_MAGIC */
  uint32_t version; /* REPLAY_VM_VERSION */
  uint32_t bytes;   /* of the whole segment */
  uint32_t cores;   /* 1..REPLAY_VM_MAX_CORES */
  uint8_t reserved[44];
  /* `cores` of struct replay_vm_core follow. Physical: index = OS index of the hardware thread; emulated: CoreId */
};

#ifdef __cplusplus
inline replay_vm_core* replay_vm_core_at(replay_vm_cores* cores, uint32_t core) {
  return static_cast<replay_vm_core*>(static_cast<void*>(cores + 1)) + core;
}
#endif

/* replay_vm_hello.flags; only REPLAY_VM_FIT_FOR_EMULATION comes from a rank that wants a slot */
#define REPLAY_VM_FIT_FOR_EMULATION 1u /* the program does its work through vm_burst() */
#define REPLAY_VM_OTHER_MPI 2u         /* no rank: the process starts an MPI that is no relative of MPICH */
#define REPLAY_VM_ENTERS_INIT 4u       /* a rank that does not register (REPLAY_VM_OFF) enters MPI_Init */
#define REPLAY_VM_HAS_LEFT_INIT 8u     /* such a rank has left it */

/* Rank -> agent, once, first thing on the stream. */
struct replay_vm_hello {
  uint64_t magic;
  uint32_t version;
  uint32_t mode;
  uint8_t key[REPLAY_VM_KEY_BYTES];
  int32_t world_rank;
  int32_t world_size;
  int32_t pid;
  uint32_t flags; /* REPLAY_VM_FIT_FOR_EMULATION and so on */
  uint64_t pid_start;
};

/* Agent -> rank, once; with a slot come the segments, as SCM_RIGHTS beside the first byte. The rank keeps the stream
 * open until it exits, so the agent sees its end at once. */
struct replay_vm_welcome {
  uint64_t magic;
  uint32_t version;
  int32_t slot; /* >= 0: the rank's slot; < 0: refused (-1 key, -2 version, -3 rank or size, -4 already there,
                    -5 a program that computes for real on emulated cores, -6 another MPI, -7 does not register) */
};

#ifdef __cplusplus
static_assert(sizeof(struct replay_vm_orders) == 64, "one cache line");
static_assert(sizeof(struct replay_vm_report) == 128, "two cache lines");
static_assert(sizeof(struct replay_vm_segment) == 64, "one cache line before the slots");
static_assert(sizeof(struct replay_vm_hello) == 56 && sizeof(struct replay_vm_welcome) == 16, "no padding");
static_assert(sizeof(struct replay_vm_cores) == 64 && sizeof(struct replay_vm_core) == 256, "whole cache lines");
#endif

#endif /* REPLAY_PROTOCOL_WIRE_H */
