! The computation of advection.h with `mpif.h`, which declares no MPI function to the compiler.
program advection_mpif
implicit none
include 'mpif.h'
integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
integer(kind=MPI_ADDRESS_KIND) :: address
include 'fortran_advection.inc'
end program
