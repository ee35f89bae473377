// The computation of advection.h in C++, with MPI's C functions.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <vector>

#include "tests/cluster/programs/advection.h"

namespace {

class World {
 public:
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int left() const { return (rank_ + size_ - 1) % size_; }
  int right() const { return (rank_ + 1) % size_; }

  template <class T>
  T reduce(T mine, MPI_Datatype type, MPI_Op op) const {
    T all{};
    MPI_Allreduce(&mine, &all, 1, type, op, MPI_COMM_WORLD);
    return all;
  }

 private:
  int rank_ = 0, size_ = 1;
};

class Piece {
 public:
  explicit Piece(const World& world) : world_(world), cells_(CELLS) {
    for (int i = 0; i < CELLS; ++i) cells_[static_cast<std::size_t>(i)] = initial(cell_at(i));
  }

  /// The sum of the cells after the step.
  long step() {
    const long first = exchange(cells_.back());
    std::move_backward(cells_.begin(), cells_.end() - 1, cells_.end());
    cells_.front() = first;
    ++steps_;
    return std::accumulate(cells_.begin(), cells_.end(), 0L);
  }

  bool is_right() const {
    const long all = static_cast<long>(CELLS) * world_.size();
    for (int i = 0; i < CELLS; ++i)
      if (cells_[static_cast<std::size_t>(i)] != initial(((cell_at(i) - steps_) % all + all) % all)) return false;
    return true;
  }
  long steps() const { return steps_; }

 private:
  long cell_at(int i) const { return static_cast<long>(world_.rank()) * CELLS + i; }

  long exchange(long last) const {
    long first = -1;
    if (steps_ % 2 == 0) {
      MPI_Sendrecv(&last, 1, MPI_LONG, world_.right(), 1, &first, 1, MPI_LONG, world_.left(), 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    } else {
      std::array<MPI_Request, 2> requests{};
      std::array<MPI_Status, 2> statuses{};
      MPI_Irecv(&first, 1, MPI_LONG, world_.left(), 2, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&last, 1, MPI_LONG, world_.right(), 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests.data(), statuses.data());
    }
    return first;
  }

  const World& world_;
  std::vector<long> cells_;
  long steps_ = 0;
};

bool compute(const World& world, const std::filesystem::path& stop_file) {
  Piece piece{world};
  long expected = 0;
  for (long cell = 0; cell < static_cast<long>(CELLS) * world.size(); ++cell) expected += initial(cell);
  bool is_right = true;
  for (int stop = 0; stop == 0;) {
    for (int i = 0; i < ROUND; ++i) is_right &= world.reduce(piece.step(), MPI_LONG, MPI_SUM) == expected;
    if (world.rank() == 0) stop = std::filesystem::exists(stop_file) ? 1 : 0;
    MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const int mine = is_right && piece.is_right() ? 1 : 0;
  const bool all_right = world.reduce(mine, MPI_INT, MPI_MIN) == 1;
  if (world.rank() == 0 && all_right) std::cout << "VERIFICATION SUCCESSFUL after " << piece.steps() << " steps\n";
  return all_right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  const bool is_right = compute(World{}, argv[1]);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
