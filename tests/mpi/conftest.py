# SPDX-License-Identifier: Apache-2.0
"""The fixtures for programs of MPI."""

from mpi_jobs import door, open_mpi_door, programs, run, start, wheel_door

__all__ = ["door", "open_mpi_door", "programs", "run", "start", "wheel_door"]
