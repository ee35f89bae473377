/* The computation of the programs advection*, in five languages and with OpenMP: numbers on a ring, cut into pieces of
 * CELLS per rank, move on by one cell per step. A step hands the last cell of a piece to the right neighbour, by
 * MPI_Sendrecv and by nonblocking calls in turn, and the sum over all ranks is checked. All numbers are integers, so
 * the right answer is known exactly: after s steps, cell c holds what cell c - s held at the start.
 *
 * Argument: a file. Every ROUND steps rank 0 looks for it and tells the others; when it is there, each rank checks its
 * cells, and rank 0 prints "VERIFICATION SUCCESSFUL after s steps" if all were right. fortran_advection.inc is the
 * same in Fortran. */
#ifndef REPLAY_TESTS_ADVECTION_H
#define REPLAY_TESTS_ADVECTION_H

enum { CELLS = 500, ROUND = 16 };

/* The initial value of a cell; 0 <= cell < CELLS x ranks. */
static inline long initial(long cell) { return cell * 7919 % 10007; }

#endif
