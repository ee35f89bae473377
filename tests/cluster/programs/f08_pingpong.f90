! A ping-pong with `use mpi_f08`: its blocking calls bypass the C functions that vmlib wraps.
program f08_pingpong
use mpi_f08
implicit none
include 'fortran_pingpong.inc'
end program
