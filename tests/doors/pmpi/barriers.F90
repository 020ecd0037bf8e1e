! SPDX-License-Identifier: Apache-2.0
! A Fortran program that knows nothing of tollbar, by each of the three interfaces of MPI: compiled with F08, with
! MODULE, or with neither, which is mpif.h. With BARRIER_INIT, which is what the MPI calls MPI_Barrier_init, it has
! persistent barriers; with EXTENSION they are one of Open MPI's. No MPI does these by itself: Open MPI 4 crashes when the
! communicator goes, MPICH 4 does not have a handle started again that MPI_Testall has found over.
program barriers
#ifdef F08
    use mpi_f08
#ifdef EXTENSION
    use mpi_f08_ext
#endif
#endif
#ifdef MODULE
    use mpi
#endif
    implicit none
#ifndef F08
#ifndef MODULE
    include 'mpif.h'
#endif
    integer :: comm, first, several(2), handles(2), left(2), status(MPI_STATUS_SIZE)
#else
    type(MPI_Comm) :: comm
    type(MPI_Request) :: first, several(2), handles(2), left(2)
    type(MPI_Status) :: status
#endif
    integer :: error, rank, i, which, some, indices(2)
    integer :: calls(3)
    logical :: over

    calls = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    do i = 1, 10
        call MPI_Barrier(comm, error)
        if (error /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, error)
        calls(1) = calls(1) + 1
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
        calls(2) = calls(2) + 6
    end do
#ifdef BARRIER_INIT
    call BARRIER_INIT(comm, MPI_INFO_NULL, handles(1), error)
    call BARRIER_INIT(comm, MPI_INFO_NULL, handles(2), error)
    do i = 1, 14
        call MPI_Start(handles(1), error)
        calls(3) = calls(3) + 1
        call MPI_Wait(handles(1), MPI_STATUS_IGNORE, error)
        call MPI_Startall(2, handles, error)
        calls(3) = calls(3) + 2
        left = handles
        select case (mod(i + rank, 7))
        case (0)
            call MPI_Waitall(2, left, MPI_STATUSES_IGNORE, error)
        case (1)
            call MPI_Waitany(2, left, which, MPI_STATUS_IGNORE, error)
            call MPI_Waitany(2, left, which, MPI_STATUS_IGNORE, error)
        case (2)
            which = 0
            do while (which < 2)
                call MPI_Waitsome(2, left, some, indices, MPI_STATUSES_IGNORE, error)
                which = which + some
            end do
        case (3)
            over = .false.
            do while (.not. over)
                call MPI_Testall(2, left, over, MPI_STATUSES_IGNORE, error)
            end do
        case (4)
            some = 0
            do while (some < 2)
                call MPI_Testany(2, left, which, over, MPI_STATUS_IGNORE, error)
                if (over) some = some + 1
            end do
        case (5)
            which = 0
            do while (which < 2)
                call MPI_Testsome(2, left, some, indices, MPI_STATUSES_IGNORE, error)
                which = which + some
            end do
        case (6)
            over = .false.
            do while (.not. over)
                call MPI_Request_get_status(left(2), over, status, error) ! Open MPI always says no without a status
            end do
            over = .false.
            do while (.not. over)
                call MPI_Test(left(1), over, MPI_STATUS_IGNORE, error)
            end do
            call MPI_Wait(left(2), MPI_STATUS_IGNORE, error)
        end select
    end do
    call MPI_Comm_free(comm, error)
    call MPI_Start(handles(2), error)
    calls(3) = calls(3) + 1
    call MPI_Wait(handles(2), MPI_STATUS_IGNORE, error)
    call MPI_Request_free(handles(1), error)
    call MPI_Request_free(handles(2), error)
    if (handles(2) /= MPI_REQUEST_NULL) call MPI_Abort(MPI_COMM_WORLD, 1, error)
#else
    call MPI_Comm_free(comm, error)
#endif
    print '(a, i0, a, i0, a, i0, a, i0, a)', 'rank ', rank, ' made ', calls(1), ' barriers, ', calls(2), ' ibarriers, ', &
        calls(3), ' persistent'
    call MPI_Finalize(error)
end program barriers
