/* The library of another MPI, as far as the programs of the tests and vmlib need it. It does not speak Hydra's
 * protocol, so that each process of a job is a world of its own. */
int MPI_Init(int* argc, char*** argv);
int MPI_Comm_size(int comm, int* size);
int MPI_Finalize(void);
int PMPI_Get_library_version(char* version, int* length);

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

int PMPI_Get_library_version(char* version, int* length) {
  const char text[] = "Open MPI v4.1.4, a part of it for tests";
  *length = (int)(sizeof text - 1);
  for (unsigned i = 0; i < sizeof text; ++i) version[i] = text[i];
  return 0;
}
