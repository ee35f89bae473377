/* The library of another MPI, as far as other_mpi_program needs it. It does not speak Hydra's protocol, so that each
 * process of a job is a world of its own. */
int MPI_Init(int* argc, char*** argv);
int MPI_Comm_size(int comm, int* size);
int MPI_Finalize(void);

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return 0;
}

int MPI_Comm_size(int comm, int* size) {
  (void)comm;
  *size = 1;
  return 0;
}

int MPI_Finalize(void) { return 0; }
