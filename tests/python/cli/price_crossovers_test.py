# SPDX-License-Identifier: Apache-2.0
"""tollbar price --crossover."""

import itertools

COLUMNS = "ranks_from,ranks_to,plan,also,priced_at,last_us,runner_up,ratio"


def test_the_columns_are_stable_and_the_stretches_leave_no_gap(tollbar):
    said = tollbar("price", "central", "dissemination:7", "mcs", "--crossover", "--ranks", "2..5000", "--format", "csv")
    assert said.code == 0
    assert ",".join(said.csv[0]) == COLUMNS
    ends = [(int(row["ranks_from"]), int(row["ranks_to"])) for row in said.csv]
    assert (ends[0][0], ends[-1][1]) == (2, 5000)
    assert all(before[1] + 1 == after[0] for before, after in itertools.pairwise(ends))


def test_a_table_ends_with_the_advice(tollbar):
    said = tollbar("price", "mcs", "dissemination", "--crossover", "--ranks", "2..100")
    assert said.err == "From 2 to 100 ranks take dissemination.\n"
