/* The interface for programs that run on emulated cores: a burst of computing, slept while the core's token is held, so
 * that 64 ranks on two real cores take turns as they would on cores of their own. Declared weak: a program that is not
 * run under vmlib finds null pointers, and computes for real. C and C++. */
#ifndef REPLAY_VM_BURST_H
#define REPLAY_VM_BURST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the job was told when it was given its cores. Times are ns. */
/* NOLINTNEXTLINE(readability-identifier-naming): a C interface */
struct vm_emulation {
  uint64_t start_ns;    /* CLOCK_MONOTONIC: the cores were given; the time since then is the cost of launching */
  uint64_t end_cost_ns; /* what ending is expected to cost, from the last work to the last process */
  uint32_t mpl;         /* most ranks of this job on one core at the moment, >= 1 */
  uint32_t quantum_us;  /* longest slice of a burst: a burst no longer than this is never cut */
};

/* Fills `facts` and returns 1 when this rank's core is emulated; else returns 0 and leaves it alone. */
__attribute__((weak)) int vm_emulated(struct vm_emulation* facts);

/* How many times as long this rank's work takes now, beside the jobs on its nodes: what the runtime model of the run says
 * of them, as jobs on emulated cores do not disturb each other by themselves. 1 on real cores. vm_burst() heeds it; a
 * program that waits by the clock for what stands for a part of its work waits that many times as long. */
__attribute__((weak)) double vm_slowdown(void);

/* Does `ns` of work on the emulated core: returns when the core has been this rank's for that long (times vm_slowdown()), in slices of at most
 * the quantum, after each of which the token goes to the next rank that waits. A slice that ended late shortens the next
 * one by at most one slice, so that being stopped is not progress. REQUIRES: vm_emulated(); the thread of MPI_Init. */
__attribute__((weak)) void vm_burst(uint64_t ns);

/* A program that calls vm_burst() exports this symbol (any value but 0); others are refused on emulated cores, where
 * their real computation would disturb all ranks. Define it in the program: `const int vm_fit_for_emulation = 1;`
 * and link with --export-dynamic (CMake: ENABLE_EXPORTS). */
/* NOLINTNEXTLINE(readability-identifier-naming, bugprone-dynamic-static-initializers): a C interface */
extern const int vm_fit_for_emulation;

#ifdef __cplusplus
}
#endif

#endif /* REPLAY_VM_BURST_H */
