! The computation of advection.h with `use mpi`.
program advection_use_mpi
use mpi
implicit none
integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
integer(kind=MPI_ADDRESS_KIND) :: address
include 'fortran_advection.inc'
end program
