/* An interpreter's module for another MPI, as mpi4py is one. */
int MPI_Init(int* argc, char*** argv);
int start_mpi(void);

int start_mpi(void) { return MPI_Init(0, 0); }
