! A ping-pong with `use mpi`: its calls go through the C functions.
program mpif_pingpong
use mpi
implicit none
include 'fortran_pingpong.inc'
end program
