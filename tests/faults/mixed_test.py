# SPDX-License-Identifier: Apache-2.0
"""Jobs of which only some ranks have tollbar: everybody uses the MPI's barrier.

Nobody waits for who cannot answer.
"""

import pytest

RANKS = 4
#: Rank 0, which decides where all have it; another one; all but one.
WHO = [{0}, {2}, {0, 1, 3}, {1, 2, 3}]


def opened_on(door, ranks: set[int]) -> list[str]:
    """The door as those ranks alone have it."""
    chosen = "|".join(map(str, sorted(ranks)))
    shut = "export OMPI_MCA_coll=^tollbar" if door.name == "component" else ":"
    words = [word for word in door.opened if word != "env"]
    return [
        "sh",
        "-c",
        f'case ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} in {chosen}) exec env {" ".join(words)} "$@";; esac;'
        f' {shut}; exec "$@"',
        "sh",
    ]


@pytest.mark.parametrize("who", WHO, ids=lambda who: "".join(map(str, sorted(who))))
def test_ranks_without_tollbar_and_ranks_with_it_have_barriers_in_common(run, every_door, who):
    run(every_door, RANKS, "late_rank", "2,3,4", "", opened=opened_on(every_door, who), TOLLBAR_VERBOSE="1")
