# SPDX-License-Identifier: Apache-2.0
"""The launcher and the programs among the words of a command. Arguments of programs are never read."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)(\.\w+)?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

#: Programs that start another one: their options that have a value, and how many words come before the program.
_PREFIXES = {
    "chrt": ("T P D sched-runtime sched-period sched-deadline", 1),
    "env": ("u unset C chdir", 0),
    "gosu": ("", 1),
    "ionice": ("c class n classdata", 0),
    "nice": ("n adjustment", 0),
    "nohup": ("", 0),
    "numactl": (
        "i interleave w weighted-interleave p preferred P preferred-many m membind N cpunodebind C physcpubind",
        0,
    ),
    "setpriv": (
        "reuid regid ruid euid rgid egid groups bounding-set inh-caps ambient-caps securebits pdeathsig "
        "selinux-label apparmor-profile",
        0,
    ),
    "setsid": ("", 0),
    "stdbuf": ("i input o output e error", 0),
    "sudo": ("u user g group h host p prompt C close-from D chdir r role t type T command-timeout U R chroot", 0),
    "taskset": ("", 1),
    "time": ("f format o output", 0),
    "timeout": ("k kill-after s signal", 1),
}  # fmt: skip
_WITH_ASSIGNMENTS = ("env", "sudo")
_UNKNOWN = {"env": ("-S", "--split-string")}  #: options behind which nothing is known

#: Options of launchers that have values: Open MPI's, PRRTE's, Hydra's and Intel MPI's; srun's.
_VALUES_OF_MPIS = (
    "n np c N npernode npersocket ppn perhost host H hosts hostfile default-hostfile machinefile machine f "
    "rankfile rf x map-by rank-by bind-to cpus-per-proc cpus-per-rank cpu-set cpu-list wd wdir path prefix output "
    "output-filename stdin timeout report-uri app tune am dvm dvm-uri ompi-server server-wait-time personality "
    "display runtime-options max-restarts with-ft preload-files launch-agent mpi-signal-abort xml-file pset "
    "envlist genvlist launcher launcher-exec bootstrap bootstrap-exec rmk iface configfile outfile-pattern "
    "errfile-pattern pmi-port usize prepend-pattern regexp gtool gtoolfile tmpdir localhost order-nodes topolib "
    "ckpoint-interval demux profile trace"
)
_PAIRS_OF_MPIS = "mca gmca omca prtemca pmixmca gpmixmca opmca env genv"
_VALUES_OF_SRUN = (
    "A account acctg-freq b begin B extra-node-info bb bbf bcast c cpus-per-task C constraint cluster-constraint "
    "comment container cpu-bind cpu-freq cpus-per-gpu d dependency D chdir delay-boot e error export gpu-bind "
    "gpu-freq gpus G gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint i input J job-name jobid K "
    "kill-on-bad-exit L licenses m distribution M clusters mail-type mail-user mcs-label mem mem-bind mem-per-cpu "
    "mem-per-gpu mincpus mpi msg-timeout n ntasks N nodes nice o output open-mode p partition power priority "
    "profile prolog q qos r relative R reservation S core-spec signal slurmd-debug sockets-per-node t time T "
    "threads task-epilog task-prolog thread-spec threads-per-core tmp time-min ntasks-per-core ntasks-per-gpu "
    "ntasks-per-node ntasks-per-socket tree-width uid gid w nodelist W wait wckey x exclude epilog"
)
_OPTIONS_OF_MPIS = dict.fromkeys(_VALUES_OF_MPIS.split(), 1) | dict.fromkeys(_PAIRS_OF_MPIS.split(), 2)
_OPTIONS_OF_SRUN = dict.fromkeys(_VALUES_OF_SRUN.split(), 1)


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    launcher: int | None  #: its place
    starts: tuple[int, ...]  #: the places at which the options of the launcher's programs begin
    programs: tuple[int, ...]  #: the places of the programs

    @property
    def names(self) -> list[str]:
        """The programs, and before them all that starts them."""
        return [self.words[at] for at in self.programs]

    @property
    def options(self) -> list[str]:
        """The launcher's words before its first program, and a colon where there are several."""
        if self.launcher is None:
            return []
        end = self.programs[0] if self.programs else len(self.words)
        return [*self.words[self.launcher + 1 : end], *(":" for _ in self.starts[1:])]

    def with_options(self, options: Sequence[str]) -> list[str]:
        """The command where the launcher gets these options for each of its programs."""
        words = list(self.words)
        for start in reversed(self.starts):
            words[start:start] = options
        return words


def parse(words: Sequence[str]) -> Command:
    """The parts of a command."""
    at = _behind_prefixes(words, 0, len(words))
    if not _LAUNCHER.fullmatch(os.path.basename(words[at])):
        return Command(words, None, (), (at,))
    values = _OPTIONS_OF_SRUN if is_srun(words[at]) else _OPTIONS_OF_MPIS
    starts, programs = [], []
    for start, end in _parts(words, at + 1):
        starts.append(start)
        program = _behind_options(words, start, end, values)
        if program < end:
            programs.append(_behind_prefixes(words, program, end))
    return Command(words, at, tuple(starts), tuple(programs))


def is_srun(launcher: str) -> bool:
    return os.path.basename(launcher).startswith("srun")


def _parts(words: Sequence[str], at: int) -> Iterator[tuple[int, int]]:
    """The places from which and up to which a launcher reads a program, its options and its arguments."""
    for end in [*(place for place in range(at, len(words)) if words[place] == ":"), len(words)]:
        yield at, end
        at = end + 1


def _behind_prefixes(words: Sequence[str], at: int, end: int) -> int:
    """The place of the first word that is no known prefix, or of the last one where nothing follows it."""
    while at < end:
        name = os.path.basename(words[at])
        if name not in _PREFIXES:
            return at
        values, count = _PREFIXES[name]
        behind = _behind_options(words, at + 1, end, dict.fromkeys(values.split(), 1), is_strict=True)
        if any(word.startswith(_UNKNOWN.get(name, ())) for word in words[at + 1 : behind]):
            return at
        while name in _WITH_ASSIGNMENTS and behind < end and _ASSIGNMENT.match(words[behind]):
            behind += 1
        if behind + count >= end:
            return at
        at = behind + count
    return at


def _behind_options(words: Sequence[str], at: int, end: int, values: Mapping[str, int], is_strict: bool = False) -> int:
    """The place behind options. A word behind an option that is not known here, and that is no program, is taken for
    its value, unless it `is_strict`."""
    while at < end and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            return at
        name = word.lstrip("-")
        if "=" in word:
            continue
        if name in values:
            at += values[name]
        elif not is_strict and at < end and _is_value(words[at]):
            at += 1
    return min(at, end)


def _is_value(word: str) -> bool:
    return word[:1] != "-" and "/" not in word and word not in _PREFIXES and shutil.which(word) is None
