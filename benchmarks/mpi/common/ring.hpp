// Messages to both neighbours on a ring of ranks, each byte of which encodes its sender, direction and exchange. A byte
// that is lost, late or out of place is noticed by the rank that gets it. One rank is its own neighbour.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

/// One exchange at a time: fill(), start(), any number of progress(), wait(), check(). Only start(), progress() and
/// wait() call MPI. With messages of 0 bytes nothing is sent and everything is right.
class Ring {
 public:
  Ring(const World& world, std::size_t message_size, std::uint64_t seed);

  /// Writes the messages of exchange `number`.
  void fill(std::uint64_t number);
  void start();
  /// Lets a message on its way advance; never blocks.
  void progress();
  void wait();
  /// Compares what came since the last check with what the neighbours filled in; after a difference all_right() stays
  /// false. REQUIRES: before the next fill().
  void check();

  /// Spoils one byte of the messages that are filled in, so that a test can see it noticed.
  void corrupt();

  bool all_right() const { return all_right_; }

 private:
  /// To the next rank and to the previous one; also the tag.
  enum Way : int { kNext = 0, kPrevious = 1 };
  std::uint64_t key(int sender, Way way) const;
  int neighbour(Way way) const;

  World world_;
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  bool is_unchecked_ = false;
  bool all_right_ = true;
  std::array<std::vector<std::byte>, 2> sent_;  // by way
  std::array<std::vector<std::byte>, 2> received_;
  std::array<MPI_Request, 4> requests_;
};

}  // namespace replay::bench
