# SPDX-License-Identifier: Apache-2.0
"""What the measuring programs print, line by line, and a strict reader of it. Times are nanoseconds.

The reader names the line of whatever it does not accept; keys that it does not know are left to later
readers.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from tollbar.data.schema import MalformedRecord
from tollbar.data.shmem_records import Away, Exchange, Overlap

PLACEMENTS = ("pinned", "free")


@dataclass(frozen=True)
class Environment:
    """What a measuring program says about itself and the machine; `facts` is the whole record."""

    ranks: int
    placement: str
    usable: int
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Floor:
    """What the machine cannot go below, measured in the same process and round; None where it cannot be."""

    round: int
    one_way_ns: float | None
    yield_switch_ns: float | None
    exchange_ns: float | None


@dataclass(frozen=True)
class Batch:
    """Episodes back to back: elapsed_ns / episodes is the loop period."""

    round: int
    name: str
    kind: str
    wait: str
    episodes: int
    elapsed_ns: float
    cpu_ns: float
    voluntary: int
    involuntary: int
    cut: bool
    rank_cpu_ns: tuple[float, ...] = ()  #: of each rank, where ranks are processes


@dataclass(frozen=True)
class Episodes:
    """Stamped episodes back to back, one value each.

    Latency is last entry to last exit, skew first exit to last exit, span first entry to last exit; call is
    what rank 0 spends in its call, where ranks are processes.
    """

    round: int
    name: str
    kind: str
    wait: str
    latency_ns: tuple[float, ...]
    skew_ns: tuple[float, ...]
    span_ns: tuple[float, ...]
    call_ns: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.latency_ns) == len(self.skew_ns) == len(self.span_ns):
            raise ValueError("latency_ns, skew_ns and span_ns must be of one length")


@dataclass(frozen=True)
class Isolated(Episodes):
    """Stamped episodes before each of which all ranks have met elsewhere."""


@dataclass(frozen=True)
class Skipped:
    """A candidate that was not measured under this policy, and why."""

    name: str
    why: str
    wait: str = "auto"


@dataclass(frozen=True)
class Processes:
    """Episodes back to back, as a Batch, of a barrier between processes that are apart in the way named."""

    round: int
    name: str
    kind: str
    wait: str
    apart: str
    episodes: int
    elapsed_ns: float
    cut: bool


@dataclass(frozen=True)
class Idle:
    """One long wait of many for one: the CPU time is that of all threads together."""

    round: int
    name: str
    kind: str
    wait: str
    waiters: int
    waited_ns: float
    cpu_ns: float


@dataclass(frozen=True)
class Unused:
    """Loop periods of short batches in turns: by participants, and by bare runners of the same program."""

    round: int
    name: str
    kind: str
    wait: str
    participant_ns: tuple[float, ...]
    bare_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.participant_ns or not self.bare_ns:
            raise ValueError("participant_ns and bare_ns must not be empty")


@dataclass(frozen=True)
class SetUp:
    """New communicators, each from the first entry into MPI_Comm_dup to the last exit from a barrier."""

    round: int
    name: str
    kind: str
    wait: str
    set_up_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.set_up_ns:
            raise ValueError("set_up_ns must not be empty")


@dataclass(frozen=True)
class Late:
    """One rank was late once: CPU time of each of the others, and the last entry to the last exit."""

    round: int
    name: str
    kind: str
    wait: str
    waited_ns: float
    waiter_cpu_ns: tuple[float, ...]
    wake_ns: float

    def __post_init__(self) -> None:
        if not self.waiter_cpu_ns or self.waited_ns <= 0:
            raise ValueError("somebody must have waited")


@dataclass(frozen=True)
class RoundTrips:
    """Messages between two ranks, one after another, and one back: the time of each trip, a value a batch.

    With delays between the messages, also what the delays of a trip take alone.
    """

    round: int
    name: str
    messages: int
    trip_ns: tuple[float, ...]
    delays_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.messages < 1 or not self.trip_ns:
            raise ValueError("a trip has messages and takes time")


@dataclass(frozen=True)
class Working:
    """Runs of a workload, back to back: all its phases, each of them computing and then an episode.

    Of one run, computing is what a rank computes in the mean, and longest the least that the run can take
    whatever the barrier: in each phase the computing of the rank that has most to do.
    """

    round: int
    name: str
    kind: str
    wait: str
    workload: str
    phases: int
    runs: int
    elapsed_ns: float
    computing_ns: float
    longest_ns: float

    def __post_init__(self) -> None:
        if self.phases < 1 or self.runs < 1 or self.elapsed_ns <= 0:
            raise ValueError("a workload has at least one phase, is run at least once and takes time")


@dataclass(frozen=True)
class Crowd:
    """Episodes with computing before each, of more ranks than processors as a rule.

    A period runs from the last entry of an episode to that of the next. With long computing rank 0 may leave
    long before or after the others, so elapsed_ns, its own time, says little about a few episodes.
    """

    round: int
    name: str
    kind: str
    wait: str
    compute_ns: float
    variation: float
    episodes: int
    elapsed_ns: float
    cpu_ns: float
    voluntary: int
    involuntary: int
    period_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.episodes < 1 or self.elapsed_ns <= 0 or self.compute_ns <= 0 or not self.period_ns:
            raise ValueError("crowded episodes are at least one, take time and compute")


@dataclass(frozen=True)
class Scheduling:
    """Stretches that a thread had its processor while others wanted it; what a switch by waking takes."""

    round: int
    quantum_ns: tuple[float, ...]
    sleep_switch_ns: float


#: What is measured besides loops of episodes.
Single = Processes | Idle | Unused | SetUp | Late | Working | Crowd | Exchange | Away | Overlap


@dataclass(frozen=True)
class Launch:
    """One process that measured. Launches of one group ran right after each other, in one situation."""

    group: int
    program: str
    environment: Environment
    floors: Mapping[int, Floor]
    batches: tuple[Batch, ...]
    episodes: tuple[Episodes, ...]
    skipped: tuple[Skipped, ...]
    singles: tuple[Single, ...] = ()
    isolated: tuple[Isolated, ...] = ()
    round_trips: tuple[RoundTrips, ...] = ()
    scheduling: tuple[Scheduling, ...] = ()


_RECORDS = {
    "floor": Floor,
    "batch": Batch,
    "episodes": Episodes,
    "isolated": Isolated,
    "processes": Processes,
    "idle": Idle,
    "unused": Unused,
    "set_up": SetUp,
    "late": Late,
    "work": Working,
    "dsde": Exchange,
    "away": Away,
    "overlap": Overlap,
    "crowd": Crowd,
    "scheduling": Scheduling,
    "round_trips": RoundTrips,
    "skipped": Skipped,
}


def _number(value: Any, optional: bool = False) -> bool:
    if value is None:
        return optional
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


_ACCEPTS = {
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "float": _number,
    "float | None": lambda value: _number(value, optional=True),
    "str": lambda value: isinstance(value, str) and bool(value),
    "bool": lambda value: isinstance(value, bool),
    "tuple[float, ...]": lambda value: isinstance(value, list) and all(map(_number, value)),
}
_WORDS = {
    "int": "a whole number",
    "float": "a number, at least 0",
    "float | None": "a number, at least 0, or null",
    "str": "text",
    "bool": "true or false",
    "tuple[float, ...]": "a list of numbers, at least 0",
}


def parse_record(
    line: str,
) -> Environment | Floor | Batch | Episodes | Skipped | Single | RoundTrips | Scheduling | None:
    """The record of one line; None for the closing one. Raises ValueError that says what is wrong with it."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(record, dict) or "record" not in record:
        raise ValueError("not an object with a key 'record'")
    kind = record["record"]
    if kind == "done":
        return None
    if kind == "environment":
        return _environment(record)
    if kind not in _RECORDS:
        raise ValueError(f"record '{kind}' is not one of environment, {', '.join(_RECORDS)}, done")
    made = _RECORDS[kind](**_fields(_RECORDS[kind], record))
    if isinstance(made, Batch | Processes) and (made.episodes < 1 or made.elapsed_ns <= 0):
        raise ValueError("a batch has at least one episode and takes time")
    if isinstance(made, Idle) and made.waited_ns <= 0:
        raise ValueError("waiting takes time")
    return made


def _fields(kind: type, record: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for wanted in dataclasses.fields(kind):
        type_name = str(wanted.type)
        if wanted.name not in record:
            if wanted.default is not dataclasses.MISSING:
                continue
            raise ValueError(f"'{wanted.name}' is missing")
        value = record[wanted.name]
        if not _ACCEPTS[type_name](value):
            raise ValueError(f"'{wanted.name}' is {json.dumps(value)[:40]}, not {_WORDS[type_name]}")
        values[wanted.name] = tuple(value) if isinstance(value, list) else value
    return values


def _environment(record: Mapping[str, Any]) -> Environment:
    facts = {key: value for key, value in record.items() if key != "record"}
    for key in ("ranks", "usable"):
        if not _ACCEPTS["int"](facts.get(key)) or facts[key] < 1:
            raise ValueError(f"'{key}' is missing or not a whole number, at least 1")
    if facts.get("placement") not in PLACEMENTS:
        raise ValueError(f"'placement' is missing or not one of {', '.join(PLACEMENTS)}")
    return Environment(facts["ranks"], facts["placement"], facts["usable"], facts)


def parse_launch(lines: Iterable[str], source: object, group: int = 0, program: str = "") -> Launch:
    """The launch that printed these lines. Raises MalformedRecord with `source` and the line's number."""
    records: list[Any] = []
    number = 0
    done = False
    for number, line in enumerate(lines, 1):
        try:
            if done:
                raise ValueError("there is a line after the closing record")
            record = parse_record(line)
            if isinstance(record, Environment) != (number == 1):
                raise ValueError("the environment record comes first, and once")
        except ValueError as error:
            raise MalformedRecord(f"{source}:{number}: {error}") from None
        done = record is None
        if record is not None:
            records.append(record)
    if not done:
        raise MalformedRecord(f"{source}:{number}: ends without the record 'done'")
    kinds: dict[type, list[Any]] = {kind: [] for kind in (Environment, *_RECORDS.values())}
    for record in records:
        kinds[type(record)].append(record)
    return Launch(
        group,
        program,
        kinds[Environment][0],
        {floor.round: floor for floor in kinds[Floor]},
        tuple(kinds[Batch]),
        tuple(kinds[Episodes]),
        tuple(kinds[Skipped]),
        tuple(each for kind in get_args(Single) for each in kinds[kind]),
        tuple(kinds[Isolated]),
        tuple(kinds[RoundTrips]),
        scheduling=tuple(kinds[Scheduling]),
    )
