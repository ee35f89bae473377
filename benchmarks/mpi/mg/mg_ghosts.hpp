// The messages of NAS MG: they fill ghost planes, and bring a coarse level to all ranks. Planes go to the two
// neighbours in the ring of ranks that the period along z makes of the slabs.
#pragma once

#include <mpi.h>

#include "benchmarks/mpi/mg/mg_problem.hpp"
#include "benchmarks/mpi/mg/mg_slab.hpp"

namespace replay::bench {

/// Fills the ghost planes of `slab`: by one message to and one from each neighbour, or without messages if all planes
/// are here. Collective. REQUIRES: no rank has an empty slab.
void fill_ghosts(Slab& slab, const World& world);

/// Fills `slab` on all ranks of a gathered level, of which each rank has computed its part; ghost planes too.
/// Collective.
void gather(Slab& slab, const Level& level);

}  // namespace replay::bench
