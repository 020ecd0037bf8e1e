! SPDX-License-Identifier: Apache-2.0
! The last rank does not come to the third collective call of a communicator called "the solvers", by each of the three
! interfaces of MPI: compiled with F08, with MODULE, or with neither, which is mpif.h.
program watched
#ifdef F08
    use mpi_f08
#endif
#ifdef MODULE
    use mpi
#endif
    implicit none
#ifndef F08
#ifndef MODULE
    include 'mpif.h'
#endif
    integer :: comm, request
#else
    type(MPI_Comm) :: comm
    type(MPI_Request) :: request
#endif
    integer :: error, rank, ranks
    double precision :: in(4), out(4)

    in = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, comm, error)
    call MPI_Comm_set_name(comm, "the solvers", error)
    call MPI_Bcast(in, 4, MPI_DOUBLE_PRECISION, 0, comm, error)
    call MPI_Iallreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    if (rank == ranks - 1) then
        call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    end if
    call MPI_Allreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, error)
    call MPI_Finalize(error)
end program watched
