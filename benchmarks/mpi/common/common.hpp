// The frame of every benchmark program. A program ends with the same exit code on all ranks, after MPI_Finalize, so
// that mpiexec reports it unchanged; the one exception is a rank that breaks, which takes the job down by MPI_Abort.
#pragma once

#include <cstdint>

namespace replay::bench {

/// Exit codes of the programs, and so of their mpiexec.
enum ExitCode : int { kVerified = 0, kBroken = 1, kWrongUsage = 2, kFailedOnPurpose = 3, kNotVerified = 4 };

/// This process's place in MPI_COMM_WORLD.
struct World {
  int rank;
  int size;
  bool is_root() const { return rank == 0; }
};

/// A contiguous part [begin, end) of some items.
struct Block {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size() const { return end - begin; }
};

/// Rank `rank`'s part of `items`; parts differ in size by at most one item. O(1). REQUIRES: 0 <= rank < size.
Block block_of(std::int64_t items, int rank, int size);

/// Collective. Whether `here` holds on every rank; the same answer everywhere.
bool holds_everywhere(bool here);

/// Collective. The sum of `here` over all ranks; the same bits everywhere.
double sum_over_ranks(double here);

/// Starts MPI, runs `body` on every rank, ends MPI; returns the exit code for main(). `body` returns the same code on
/// all ranks. A UsageError, which all ranks meet as they read the same arguments, is printed once, by rank 0.
int run(int argc, char** argv, int (*body)(const World& world, int argc, char** argv));

}  // namespace replay::bench
