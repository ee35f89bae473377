! The computation of advection.h with `use mpi_f08`.
program advection_f08
use mpi_f08
implicit none
type(MPI_Request) :: requests(2)
type(MPI_Status) :: statuses(2)
integer(kind=MPI_ADDRESS_KIND) :: address
include 'fortran_advection.inc'
end program
