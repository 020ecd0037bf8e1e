! SPDX-License-Identifier: Apache-2.0
! A Fortran program that knows nothing of tollbar, by each of the three interfaces of MPI: compiled with F08, with
! MODULE, or with neither, which is mpif.h. Its MPI_Ibarriers are the MPI's.
program barriers
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
    integer :: comm, first, several(2)
#else
    type(MPI_Comm) :: comm
    type(MPI_Request) :: first, several(2)
#endif
    integer :: error, rank, i, which, calls
    logical :: over

    calls = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    do i = 1, 10
        call MPI_Barrier(comm, error)
        if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, error)
        calls = calls + 1
    end do
    do i = 1, 5
        call MPI_Ibarrier(comm, first, error)
        call MPI_Wait(first, MPI_STATUS_IGNORE, error)
        call MPI_Ibarrier(comm, first, error)
        over = .false.
        do while (.not. over)
            call MPI_Test(first, over, MPI_STATUS_IGNORE, error)
        end do
        if (first /= MPI_REQUEST_NULL) call MPI_Abort(MPI_COMM_WORLD, 1, error)
        call MPI_Ibarrier(comm, several(1), error)
        call MPI_Ibarrier(comm, several(2), error)
        call MPI_Waitall(2, several, MPI_STATUSES_IGNORE, error)
        call MPI_Ibarrier(comm, several(1), error)
        call MPI_Ibarrier(comm, several(2), error)
        call MPI_Waitany(2, several, which, MPI_STATUS_IGNORE, error)
        call MPI_Waitany(2, several, which, MPI_STATUS_IGNORE, error)
    end do
    call MPI_Comm_free(comm, error)
    print '(a, i0, a, i0, a)', 'rank ', rank, ' made ', calls, ' barriers'
    call MPI_Finalize(error)
end program barriers
