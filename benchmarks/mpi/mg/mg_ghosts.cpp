// With two ranks both neighbours are the same one; the tag tells the two planes apart.
#include "benchmarks/mpi/mg/mg_ghosts.hpp"

#include <array>

namespace replay::bench {
namespace {

constexpr int kUpwards = 1;  // tags: the last plane to the next rank, the first one to the previous
constexpr int kDownwards = 2;

int as_int(std::int64_t count) { return static_cast<int>(count); }

}  // namespace

void fill_ghosts(Slab& slab, const World& world) {
  const Block planes = slab.planes();
  if (planes.size() == slab.n()) {
    slab.close_period();
    return;
  }
  const int next = (world.rank + 1) % world.size;
  const int previous = (world.rank + world.size - 1) % world.size;
  const int size = as_int(static_cast<std::int64_t>(slab.plane_size()));
  std::array<MPI_Request, 4> requests{};
  MPI_Irecv(slab.row(0, planes.begin - 1), size, MPI_DOUBLE, previous, kUpwards, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(slab.row(0, planes.end), size, MPI_DOUBLE, next, kDownwards, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(slab.row(0, planes.end - 1), size, MPI_DOUBLE, next, kUpwards, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(slab.row(0, planes.begin), size, MPI_DOUBLE, previous, kDownwards, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void gather(Slab& slab, const Level& level) {
  const auto plane = static_cast<std::int64_t>(slab.plane_size());
  std::vector<int> counts;
  std::vector<int> offsets;
  for (const Block& part : level.parts) {
    counts.push_back(as_int(part.size() * plane));
    offsets.push_back(as_int(part.begin * plane));
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, slab.row(0, 0), counts.data(), offsets.data(), MPI_DOUBLE,
                 MPI_COMM_WORLD);
  slab.close_period();
}

}  // namespace replay::bench
