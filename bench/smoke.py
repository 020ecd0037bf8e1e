# SPDX-License-Identifier: Apache-2.0
"""Runs a measuring program for a moment: it ends well, says what the schema says, and leaves nothing over.

    smoke.py CASE [LAUNCHER ...] PROGRAM [FLAG ...]

No number decides, but a time is not negative and a run lasts as long as its computing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

LIMIT_S = 220
Record = dict[str, Any]
DATA = Path(__file__).parents[1] / "python" / "tollbar" / "data"
SCHEMA = json.loads((DATA / "schema.json").read_text())["records"]
#: The launchers of Open MPI refuse root and more ranks than processors unless they are told. UCX fails when a network
#: device that it has listed vanishes.
LAUNCHERS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "UCX_NET_DEVICES": "lo",
}
ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "int": lambda value: type(value) is int and value >= 0,
    "float": lambda value: type(value) in (int, float) and value >= 0,
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "floats": lambda value: isinstance(value, list) and all(map(ACCEPTS["float"], value)),
}
#: Besides what the schema marks by a plus: none of these values is nothing.
POSITIVE = {"participant_ns", "bare_ns", "period_ns", "trip_ns"}
#: The fields that tell records of one kind and name apart; others by the waiting policy.
APART = {"processes": "apart", "work": "workload", "turns": "workload", "round_trips": "messages", "idle": ""}


def fail(why: str) -> NoReturn:
    sys.exit(f"smoke run: {why}")


@dataclass(frozen=True)
class Run:
    """The program under its launcher, and what it printed."""

    launcher: list[str]
    program: str
    flags: list[str]  #: besides those of the case
    records: list[Record] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        return int(self.launcher[-1])

    def of(self, kind: str) -> list[Record]:
        return [record for record in self.records if record["record"] == kind]

    def subjects(self, kind: str) -> set[tuple[str, str]]:
        by = APART.get(kind, "wait")
        return {(record["name"], str(record[by]) if by else "") for record in self.of(kind)}


def knows_its_mpi(run: Run) -> None:
    told = run.records[0]
    if told["ranks"] != run.ranks or told["mpi"].endswith("?") or told["hosts"] != "1":
        fail(f"it does not know where it runs: {told}")
    for once in ("floor", "set_up", "late"):
        if len(run.of(once)) != 1:
            fail(f"{len(run.of(once))} records '{once}' in one round")
    late = run.of("late")[0]
    if len(late["waiter_cpu_ns"]) != run.ranks - 1 or late["waited_ns"] < 100e6:
        fail(f"nobody waited for 100 ms: {late}")


def knows_its_threads(run: Run) -> None:
    told = run.records[0]
    if told["ranks"] != 2 or told["threads"] != "2" or told["level"] != "serialized":
        fail(f"it does not know what it runs: {told}")
    if any(len(batch["rank_cpu_ns"]) != 2 for batch in run.of("batch")):
        fail("the CPU time is not that of two ranks")


def knows_its_shmem(run: Run) -> None:
    if run.records[0]["ranks"] != run.ranks or not run.records[0]["shmem"]:
        fail(f"it does not know where it runs: {run.records[0]}")
    for away in run.of("away"):
        if away["name"] == "default" and min(away["released_ns"]) >= away["away_ns"]:
            fail(f"a posted PE that is away holds the others up: {away}")


def computed(run: Run) -> None:
    for work in run.of("work"):
        # Rank 0 may have begun to count when the others were in the first phase already.
        if work["elapsed_ns"] < 0.99 * (work["runs"] - 1) * work["longest_ns"]:
            fail(f"runs that are shorter than their computing: {work}")
    if run.of("batch"):
        fail("bare episodes were measured too")


def kept_its_time(run: Run) -> None:
    for turns in run.of("turns"):
        if turns["elapsed_ns"] < TURNS_MS * 1e6:
            fail(f"turns that were not timed for {TURNS_MS} ms: {turns}")
    if run.of("batch") or run.of("floor"):
        fail("more than turns was measured")
    ends_when_asked(run)


def times_few_turns_by_their_entries(run: Run) -> None:
    for turns in run.of("turns"):
        if turns["turns"] < 3:
            fail(f"fewer turns than say anything: {turns}")
        if turns["turns"] < FEW_TURNS and not turns.get("between_ns"):
            fail(f"few turns without the time between their last entries: {turns}")


def ends_when_asked(run: Run) -> None:
    """In the midst of a long measurement; nobody who was started for it stays."""
    started = start(run, "--turns", "600000", *run.flags)
    said = started.stdout.readline() if started.stdout else ""
    if '"environment"' not in said:
        fail(f"it begins with {said!r}")
    pids = [started.pid, json.loads(said)["pid"], *children(started.pid)]
    started.terminate()
    finish(started)
    limit = time.monotonic() + LIMIT_S
    while any(map(runs, pids)):
        if time.monotonic() > limit:
            fail(f"some of {pids} have not ended")
        time.sleep(0.01)
    if stayed := left_over(started.pid):
        fail(f"it left {stayed} behind when it was asked to end")


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    """Whether it does anything; one that has ended may not have been waited for yet."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def four_kinds_of_trips(run: Run) -> None:
    kinds = {(1, False, "nobody"), (16, False, "nobody"), (16, True, "sender"), (16, True, "receiver")}
    for name in {trips["name"] for trips in run.of("round_trips")}:
        found = [
            (each["messages"], bool(each["delays_ns"]), each["delayed"])
            for each in run.of("round_trips")
            if each["name"] == name
        ]
        if len(found) != 4 or set(found) != kinds:
            fail(f"round trips of {found}")


Subjects = set[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """How a program is run, and which subjects the records of each kind must have; none: any, but some."""

    flags: str
    records: dict[str, Subjects]
    wrong: str = "--only nobody's"
    check: Callable[[Run], None] = lambda run: None


def alone(*names: str) -> Subjects:
    return {(name, "") for name in names}


def waiting(*names: str) -> Subjects:
    """NAME+WAIT, or NAME for the policy auto."""
    return {(name, wait or "auto") for name, _, wait in (each.partition("+") for each in names)}


def visited(flags: str, *names: str, **more: Any) -> Case:
    """A loop over these candidates and no others."""
    records = dict.fromkeys(("batch", "episodes", "isolated"), waiting(*names))
    return Case(f"--batch-us 200 {flags} --only {','.join(names)}", records, **more)


def working(*names: str) -> Case:
    loads = ("0", "100", "100~0.5", "360us")
    wanted = {(each.partition("+")[0], load) for each in names for load in loads}
    flags = f"--batch-us 2000 --only {','.join(names)} --workload {','.join(loads)}"
    return Case(flags, {"work": wanted}, check=computed)


OF_SHMEM = ("shmem_barrier_all", "MPI_Ibarrier", "default", "dissemination+puts", "dissemination+amo32")
BOTH_WAYS = {(name, apart) for name in ("turnstile", "pthread_barrier") for apart in ("one session", "sessions")}
OURS_AND_PEERS = alone("turnstile", "tollbar::barrier", "std::barrier", "pthread_barrier")
TURNS_MS, FEW_TURNS = 20, 20
#: Not everybody may make control groups.
NO_GROUPS = re.compile("cpu controller|cannot (make|enter|set a quota)")
BESIDE_NEIGHBOURS = ("tollbar::barrier", "group", "std::barrier", "pthread_barrier")
CROWDED = ("turnstile+spin", "mcs+park", "combination", "std::barrier")
CASES = {
    "loops": Case("--batch-us 200", {"floor": set(), "batch": set(), "episodes": set()}, "--ranks 0"),
    "work-udp": working("pairwise+park", "dissemination+park"),
    "work-shmem": working("default", "shmem_barrier_all"),
    "processes": Case("--ranks 3 --batch-us 500", {"processes": BOTH_WAYS}, "--ranks 0"),
    "idle": Case("--ranks 3", {"idle": OURS_AND_PEERS}, "--only mcs"),
    "crowd": Case(
        f"--ranks 5 --placement pinned --turns {TURNS_MS} --scheduling --workload 50,300~0.5 "
        f"--only {','.join(CROWDED)}",
        {
            "turns": {(name.partition("+")[0], load) for name in CROWDED for load in ("50", "300~0.5")},
            "scheduling": set(),
            "floor": set(),
        },
        "--scheduling",
        times_few_turns_by_their_entries,
    ),
    "turns": Case(
        f"--turns {TURNS_MS} --workload 0,20~0.5 --only {','.join(BESIDE_NEIGHBOURS)}",
        {"turns": {(name, load) for name in BESIDE_NEIGHBOURS for load in ("0", "20~0.5")}},
        "--turns 0",
        kept_its_time,
    ),
    "trips": Case(
        "--batch-us 200 --placement pinned", {"round_trips": set()}, "--rounds 0", four_kinds_of_trips
    ),
    "mpi": visited(
        "--late-ms 200 --communicators 2",
        "MPI_Barrier", "MPI_Ibarrier", "turnstile",
        "dissemination", "dissemination+messages", "mcs:2,2+messages",
        check=knows_its_mpi,
    ),
    "hybrid": visited(
        "--threads 2",
        "omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier",
        "turnstile/mcs", "dissemination/mcs:2,2",
        wrong="--threads none",
        check=knows_its_threads,
    ),
    "shmem": visited("--away-ms 20 --skew-us 100", *OF_SHMEM, check=knows_its_shmem),
    "dsde": Case(
        f"--batch-us 200 --iterations 50 --only {','.join(OF_SHMEM)},MPI NBX",
        {"dsde": waiting(*OF_SHMEM, "MPI NBX")},
        check=knows_its_shmem,
    ),
}  # fmt: skip


def words(flags: str) -> list[str]:
    """Flags begin with dashes; everything up to the next one is the value."""
    return [word for each in f" {flags}".split(" --")[1:] for word in ("--" + each).split(" ", 1)]


def start(run: Run, *flags: str) -> subprocess.Popen[str]:
    command = [*run.launcher, run.program, *flags]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | LAUNCHERS, stdout=pipe, stderr=pipe, text=True)


def finish(started: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return started.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        started.kill()
        fail(f"it has not ended after {LIMIT_S} s")


def left_over(pid: int) -> set[Path]:
    tops = (Path("/sys/fs/cgroup", top) for top in ("cpu", "cpu,cpuacct", ""))
    found = {path for top in tops for path in top.glob(f"**/tollbar-bench-{pid}-*")}
    for names in ("tollbar.bench.*", f"tollbar.*.bench.{pid}"):
        found.update(Path("/dev/shm").glob(names))
    return found


def check_schema(record: Record) -> None:
    kind = record["record"]
    fields = SCHEMA.get(kind, {}).get("fields")
    if fields is None or (unknown := record.keys() - fields.keys() - {"record"}):
        fail(f"the schema does not have this: {unknown if fields else kind}")
    for name, spelled in fields.items():
        if name not in record:
            if not spelled.endswith("?"):
                fail(f"'{name}' of '{kind}' is missing")
            continue
        base, _, null = spelled.removesuffix("?").partition("|")
        value = record[name]
        if not (value is None and null) and not ACCEPTS[base.removesuffix("+")](value):
            fail(f"'{name}' of '{kind}' is {value}, not {spelled}")
        if (base.endswith("+") and not value) or (name in POSITIVE and min(value) <= 0):
            fail(f"'{name}' of '{kind}' is nothing: {record}")
    if "span_ns" in record:
        pairs = list(zip(record["span_ns"], record["latency_ns"], strict=True))
        if not pairs or any(span < latency for span, latency in pairs):
            fail(f"a latency of {record['name']} is longer than its span")


def check_wrong_use(run: Run, case: Case) -> None:
    wrong = start(run, *words(case.wrong))
    output, errors = finish(wrong)
    said = [line for line in errors.splitlines() if line.startswith("tollbar-bench-") and ": " in line]
    expected = (2,) if not run.launcher else range(1, 256)  # some launchers have a status of their own
    if wrong.returncode not in expected or len(said) != 1 or output.strip():
        fail(f"wrong use gave status {wrong.returncode} and {errors!r}")


def main(name: str, *command: str) -> None:
    case = CASES[name]
    at = next(i for i, word in enumerate(command) if Path(word).name.startswith("tollbar-bench-"))
    run = Run(list(command[:at]), command[at], list(command[at + 1 :]))
    before = left_over(0)
    started = start(run, "--rounds", "1", *words(case.flags), *run.flags)
    output, errors = finish(started)
    if started.returncode == 1 and {"cgroup", "quota"} & set(command) and NO_GROUPS.search(errors):
        print(f"smoke run: left out, {errors.strip()}")
        return
    if started.returncode != 0:
        fail(f"exit status {started.returncode}: {errors.strip()}")
    run.records.extend(json.loads(line) for line in output.splitlines())
    for record in run.records:
        check_schema(record)
    kinds = [record["record"] for record in run.records]
    if kinds[0] != "environment" or kinds[-1] != "done":
        fail(f"it begins with {kinds[0]} and ends with {kinds[-1]}")
    for kind, wanted in case.records.items():
        # Not everybody may make control groups.
        found = {subject for subject in run.subjects(kind) if subject[1] != "cgroups"} if wanted else wanted
        if kind not in kinds or found != wanted:
            fail(f"records '{kind}' of {found}, not {wanted}")
    if kinds.count("floor") > 1:
        fail(f"{kinds.count('floor')} floors in one round")
    if run.subjects("batch") != run.subjects("episodes"):
        fail("there is a batch without episodes")
    case.check(run)
    if stayed := left_over(started.pid) - before:
        time.sleep(1)  # another launch has its name for a moment
        if stayed := stayed & left_over(started.pid):
            fail(f"it left {stayed} behind")
    check_wrong_use(run, case)


if __name__ == "__main__":
    main(*sys.argv[1:])
