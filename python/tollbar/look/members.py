# SPDX-License-Identifier: Apache-2.0
"""The processes of a job without an MPI: ranks by their launcher's variables, or those that Python's multiprocessing
has started."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tollbar.look import jobs, launchers, processes
from tollbar.look.sight import Thread

#: Programs that run another one as their child, which has inherited the rank.
_WRAPPERS = ("sh", "bash", "dash", "zsh", "ksh", "busybox", "env", "timeout", "time", "nice", "numactl", "strace")
_STARTED = ("multiprocessing/process.py", "_bootstrap")
#: Helpers of multiprocessing that belong to no rank.
_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "multiprocessing.semaphore_tracker")


def ranked(numbers: Iterable[int], there: Mapping[int, processes.Process]) -> dict[int, tuple[int, int | None]]:
    """The ranks of the job to which those processes belong: rank and number of ranks of each. Empty where they have
    none, or where the job cannot be told from another one."""
    own = [(number, variables) for number in numbers if launchers.of_process(variables := processes.variables(number))]
    jobs_of = {launchers.job(variables) for _, variables in own}
    if len(jobs_of) != 1:
        return {}
    [job] = jobs_of
    among = there if job else [number for number, _ in own]
    rank_of = {
        number: rank
        for number in among
        if launchers.job(variables := processes.variables(number)) == job and (rank := launchers.rank(variables))
    }
    tops = {number: rank for number, rank in rank_of.items() if _is_top(number, rank_of, there)}
    return tops if len({rank for rank, _ in tops.values()}) == len(tops) else {}


def _is_top(number: int, rank_of: Mapping[int, tuple[int, int | None]], there: Mapping[int, processes.Process]) -> bool:
    """Whether it is the rank itself: no program that has started the rank, and nothing that the rank has started."""
    if there[number].name in _WRAPPERS:
        return False
    above = there[number].parent
    while above in rank_of and there[above].name in _WRAPPERS:
        above = there[above].parent
    return above not in rank_of


def of_job(
    rank_of: Mapping[int, tuple[int, int | None]], threads: Sequence[Thread], there: Mapping[int, processes.Process]
) -> jobs.Job:
    """The members of a job: its ranks, or else the processes of multiprocessing that one process has started, or those
    of one program."""
    by_process: dict[int, list[Thread]] = defaultdict(list)
    for thread in threads:
        by_process[thread.process].append(thread)
    if rank_of:
        made = [jobs.member(rank, process, by_process[process]) for process, (rank, _) in rank_of.items()]
        sizes = [size for _, size in rank_of.values() if size]
        is_here = any(launchers.is_all_here(processes.variables(process)) for process in rank_of)
        return jobs.Job(tuple(made), True, max([len(made), *sizes]), is_here)
    started = [process for process, own in by_process.items() if _is_started(process, own, there)]
    if not started:
        return _of_one_program(by_process, there)
    parents = {there[process].parent for process in started}
    if len(parents) != 1:
        return jobs.Job((), False)
    [parent] = parents
    made = [jobs.member(process, process, by_process[process]) for process in started]
    first = jobs.member(parent, parent, by_process.get(parent, []))
    members = [*made, *([first] if first.state in (*jobs.BUSY, jobs.WAITS) and not first.looks_after_children else [])]
    ended = _ended(parent)
    return jobs.Job(tuple(members), False, len(members) + len(ended), True, tuple(ended))


def _of_one_program(threads: Mapping[int, Sequence[Thread]], there: Mapping[int, processes.Process]) -> jobs.Job:
    """The processes that run the same program as one that is in a call which returns when all ranks have made it: ranks
    that learn their numbers from arguments, or elsewhere."""
    made = [jobs.member(process, process, own) for process, own in threads.items() if process in there]
    programs = {there[one.process].program for one in made if one.is_together}
    if len(programs) != 1:
        return jobs.Job((), False)
    ranks = (one for one in made if not one.looks_after_children)  # the program may have started itself
    same = tuple(one for one in ranks if there[one.process].program in programs)
    return jobs.Job(same, False, len(same), is_guessed=True)


def _is_started(process: int, own: Sequence[Thread], there: Mapping[int, processes.Process]) -> bool:
    first = next((thread for thread in own if thread.thread == process), None)
    if process not in there or first is None or any(one in " ".join(there[process].words) for one in _HELPERS):
        return False
    return any((frame.module, frame.symbol.rpartition(".")[2]) == _STARTED for frame in first.frames)


def _ended(parent: int) -> list[int]:
    """Children of a process that have ended, and for which it has not waited yet."""
    zombies = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state == "Z" and int(above) == parent:
            zombies.append(int(stat.parent.name))
    return sorted(zombies)
