# SPDX-License-Identifier: Apache-2.0
"""Which words of a command are its launcher and its programs."""

import shlex

import pytest
from tollbar.machine import commands

#: A command, its launcher, its programs.
CASES = [
    ("./program", None, ["./program"]),
    ("python3 train.py --launcher mpirun -n 4", None, ["python3"]),
    ("./my_mpirun_test input", None, ["./my_mpirun_test"]),
    ("/opt/bin/mpiexec.hydra -n 2 ./p", "/opt/bin/mpiexec.hydra", ["./p"]),
    ("env", None, ["env"]),
    ("env -i A=1 B=2 ./p C=3", None, ["./p"]),
    ("A=1 ./p", None, ["A=1"]),
    ("env -S 'mpirun -n 2' ./p", None, ["env"]),
    ("nice -n 5 timeout -k 3 -s KILL 60 mpirun -n 2 ./p", "mpirun", ["./p"]),
    ("nice -5 ./p", None, ["./p"]),
    ("timeout --signal=INT 5s ./p -k mpirun", None, ["./p"]),
    ("taskset -c 0-1 numactl -N 0 --membind=0 setsid -w ./p", None, ["./p"]),
    ("stdbuf -o L time -f %e -o times ./p", None, ["./p"]),
    ("chrt -f 10 ionice -c 2 -n 0 nohup ./p", None, ["./p"]),
    ("setpriv --reuid 1000 --regid=1000 --clear-groups ./p", None, ["./p"]),
    ("sudo -u other A=1 mpirun ./p", "mpirun", ["./p"]),
    ("timeout 5", None, ["timeout"]),
    ("mpirun -x A -x B=1 --mca btl self,sm -np 4 --host a,b ./p mpirun -n 3", "mpirun", ["./p"]),
    ("mpirun -n 2 env A=1 numactl -l ./p -x", "mpirun", ["./p"]),
    ("mpirun --oversubscribe ./p", "mpirun", ["./p"]),
    ("mpirun --an-option-of-tomorrow value true ./p", "mpirun", ["true"]),
    ("mpirun -n 1 ./a x : -n 2 -x C ./b : nice ./c", "mpirun", ["./a", "./b", "./c"]),
    ("mpiexec -genv A 1 -env B 2 -ppn 2 -n 4 ./p", "mpiexec", ["./p"]),
    ("srun -N 2 -c 4 --export ALL -l ./p srun", "srun", ["./p"]),
    ("srun --mpi=pmix -- ./p", "srun", ["./p"]),
    ("mpirun", "mpirun", []),
]


@pytest.mark.parametrize(("line", "launcher", "programs"), CASES)
def test_a_launcher_and_programs_are_found_by_their_place(line, launcher, programs):
    parts = commands.parse(shlex.split(line))
    assert (None if parts.launcher is None else parts.words[parts.launcher], parts.names) == (launcher, programs)


def test_options_are_given_to_each_program_of_a_launcher():
    parts = commands.parse(shlex.split("nice mpirun -n 1 ./a : -n 2 ./b"))
    assert shlex.join(parts.with_options(["-x", "A"])) == "nice mpirun -x A -n 1 ./a : -x A -n 2 ./b"
    assert parts.options == ["-n", "1", ":"]
