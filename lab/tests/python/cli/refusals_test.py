# SPDX-License-Identifier: Apache-2.0
"""Each verb of the laboratory refuses what it cannot do: exit code 2 and one line that says why."""

import shlex

import pytest

#: The words of a command, and what its refusal says among others.
REFUSED = {
    "price turnstile --ranks 17 --logp cray": "there is no machine and no file 'cray'; there are epyc, ",
    "price turnstile --ranks 17 --logp epyc --crossover": "--crossover compares under L,o,g",
    "reproduce errata --quick": "errata writes and measures nothing",
    "reproduce nic --quick --no-measured": "not allowed with argument",
    "reproduce poetry": "there are openmp-mpi",
    "simulate cluster pairwize": "did you mean 'pairwise'?",
    "simulate cores --machine /dev/null": "there is no machine and no file '/dev/null'",
    "simulate cores --machine cray": "no file 'cray'; there are epyc, mesh",
    "simulate cores --rank 8": "did you mean '--ranks'?",
    "simulate cores --nodes 8": "--nodes is not an option of `tollbar simulate cores`",
    "simulate cores --placement here": "'here' is not known; there are compact, spread, shuffled",
    "simulate cores --ranks 1": "has cores for 2 to 128 threads, not 1",
    "simulate cores --ranks 200": "has cores for 2 to 128 threads, not 200",
    "simulate cores --spread -1": "'-1' is not a number of microseconds, at least 0",
    "simulate cores sleepy": "there is no algorithm 'sleepy'; there are tollbar::barrier, ",
    "simulate nic --card lanai9": "'lanai9' is not known; did you mean 'lanai",
    "simulate nic --card recv=nan": "recv=nan: 'nan' is not a number of microseconds",
    "simulate nic --card send=": "send=: '' is not a number of microseconds",
    "simulate nic --card send=-1": "send=-1: '-1' is not a number of microseconds",
    "simulate nic --card send=1,send=2": "send= is given twice",
    "simulate nic --card xmit=3,recv=2": "Xmit of 3 us is longer than Network + Recv of 2 us",
    "simulate nic --compute -3": "'-3' is not a number of microseconds, at least 0",
    "simulate nic --compute 1us": "'1us' is not a number of microseconds",
    "simulate nic --compute 1~2": "'2' is not a share from 0 to 1",
    "simulate nic --compute fast": "'fast' is not a number of microseconds",
    "simulate nic --ranks 0": "'0' is not a number of ranks from 1",
    "simulate nic nonsense": "there is no algorithm 'nonsense'",
    "simulate scheduler --application placement=near": "placement=near: 'near' is neither",
    "simulate scheduler --application ranks": "'ranks' is not KEY=VALUE",
    "simulate scheduler --application ranks=8 --ranks 9": "--ranks: every --application has its own",
    "simulate scheduler --application ranks=few": "ranks=few: 'few' is not a number of threads",
    "simulate scheduler --application speed=1": "speed=: there are ranks, compute",
    "simulate scheduler --compute -1": "'-1' is not a number of microseconds, at least 0",
    "simulate scheduler --compute 1~2": "'2' is not a share from 0 to 1",
    "simulate scheduler --compute x": "'x' is not a number of microseconds, at least 0",
    "simulate scheduler --cpus 0": "'0' is not a number of ranks from 1",
    "simulate scheduler --cpus 17": "17 processors are more than the 16 threads",
    "simulate scheduler --episodes 0": "'0' is not a whole number, at least 1",
    "simulate scheduler --kernel cfs": "'cfs' is not known; there are paper, fair, older-fair",
    "simulate scheduler --kernel fair --policy global": "it knows only the policy partition",
    "simulate scheduler --kernel fair,quantum=0": "the quantum is a time from 0.001",
    "simulate scheduler --kernel paper,own=-1": "own=-1: '-1' is not a number of microseconds",
    "simulate scheduler --kernel paper,quantum=0": "the quantum is a time from 0.001 to 1e12 us, not 0",
    "simulate scheduler --kernel paper,switch=nan": "switch=nan: 'nan' is not a number of microseconds",
    "simulate scheduler --kernel paper,tick=1000": "tick=: there are switch, quantum, access",
    "simulate scheduler --neighbours -1": "'-1' is not a number of neighbours",
    "simulate scheduler --placement 0,1": "the placement names a processor for 2 threads, not for all 16",
    "simulate scheduler --placement near": "'near' is neither cyclic nor block nor a processor for each thread",
    "simulate scheduler --policy fair": "invalid choice: 'fair'",
    "simulate scheduler --ranks -1": "'-1' is not a number of threads from 1",
    "simulate scheduler --seed -1": "'-1' is not a whole number from 0 to 2^64 - 1",
    "simulate scheduler --seed 2": "--seed: nothing is drawn",
    "simulate scheduler --waiting sleep": "'sleep' is not known; there are spin, smart, naive",
    "simulate scheduler --waiting smart:2": "only who waits smart under a fair kernel yields before it sleeps",
    "simulate scheduler --waiting spin:2": "smart alone yields N times",
    "simulate scheduler -o x.png": "'x.png' must end in .svg",
    "simulate scheduler -o x.svg": "-o draws one run, these are 9",
    "simulate scheduler sense": "there is no algorithm 'sense'; there are centralized, tree, combination, ",
    "simulate scheduler turnstyle": "did you mean 'turnstile'?",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_command_is_refused_with_the_reason(tollbar, words):
    assert REFUSED[words] in tollbar(*shlex.split(words)).refusal
