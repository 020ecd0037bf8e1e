# SPDX-License-Identifier: Apache-2.0
"""Where one rank cannot set up its part of a barrier, no rank uses it."""

from __future__ import annotations


def test_all_ranks_use_the_mpis_barrier_where_one_gets_no_channel(run, preload_door):
    said = run(preload_door, 3, "refused_channel", "dissemination", "mcs", "", TOLLBAR_VERBOSE="1").said
    assert said.count("the MPI's own barrier is used") == 3
