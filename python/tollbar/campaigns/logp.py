# SPDX-License-Identifier: Apache-2.0
"""Measures L, o_s, o_r and g of a transport on this machine, by parametrized round trips.

Hoefler et al. 2007, "Low-overhead LogGP parameter assessment for modern interconnection networks": rank 0
sends n messages, d apart, and rank 1 answers them by one. PRTT(n, d) is the time until the answer is there.
In RPRTT(n, d) the delays are the receiver's, all of them after the first message, when the others are under
way; they are there when it looks for them, and cost it their overhead alone.

    PRTT(1, 0) = 2 (o_s + L + o_r)    PRTT(n, 0) = PRTT(1, 0) + (n - 1) max(o_s, o_r, g)
                                      PRTT(n, d) = PRTT(1, 0) + (n - 1) (o_s + d)     for d above these
                                      RPRTT(n, d) = PRTT(1, 0) + (n - 1) (o_r + d)

Only the largest of the three can be seen, so a gap below the overheads is reported as the larger one is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tollbar
from tollbar import InvalidArgument
from tollbar.campaigns import mpi_settings, passes
from tollbar.campaigns.campaign import Campaign, Request
from tollbar.campaigns.passes import Outcome, Report
from tollbar.data import results, schema, statistics
from tollbar.data.results import Stored
from tollbar.data.statistics import Interval
from tollbar.machine import mpis, paths


@dataclass(frozen=True, eq=False)
class Target:
    """A measuring program as it is started for two ranks; its output is kept under `name`."""

    name: str
    what: str  #: in words
    command: tuple[str, ...]


#: The transports whose ranks are threads of one process: the measuring program, and that in words.
_OF_THREADS = {
    "threads": ("tollbar-bench-logp", "two threads"),
    "udp": ("tollbar-bench-logp-udp", "two sockets on the loopback"),
}
TRANSPORTS = (*_OF_THREADS, "mpi")


def _mpi(wanted: Sequence[str]) -> list[Target]:
    known = mpi_settings.some(*mpi_settings.programs(mpis.named(wanted)))
    targets = [
        Target(
            mpi.key, f"two ranks of {mpi.name}", (*mpi_settings.job(mpi, 2), str(program), "--measure", "round-trips")
        )
        for mpi, program in known.items()
    ]
    return targets[: None if wanted else 1]


def _targets(transport: str, wanted: Sequence[str]) -> list[Target]:
    """The programs that measure it, of the MPIs wanted or of the first that is here. Raises FileNotFoundError
    that says what is missing."""
    if transport == "mpi":
        return _mpi(wanted)
    name, what = _OF_THREADS[transport]
    return [Target(name, what, (str(paths.program(name)),))]


def measure(transport: str, request: Request, within: Path, report: Report) -> Outcome:
    """Runs the programs of that transport and stores what they print in a new folder in `within`.

    Raises FileNotFoundError when there is nothing to measure with.
    """
    return passes.measure(_RoundTrips(transport, _targets(transport, request.mpis), request), [], within, report)


class _RoundTrips(Campaign):
    """The situations are the programs: nothing is compared."""

    def __init__(self, transport: str, targets: Sequence[Target], request: Request) -> None:
        super().__init__(request)
        self.kind, self._targets = f"logp-{transport}", list(targets)

    @property
    def situations(self) -> Sequence[Target]:
        return self._targets

    def facts(self) -> dict[str, Any]:
        return {"programs": {target.name: target.what for target in self._targets}}

    def say(self, situation: Target) -> str:
        return situation.what

    def programs(self, situation: Target) -> list[str]:
        return [situation.name]

    def command(self, program: str, situation: Target, rounds: int, seed: int) -> list[str]:
        return [*situation.command, "--rounds", str(rounds), "--placement", "pinned"]


@dataclass(frozen=True)
class Link:
    """The cost of a message between two ranks by one of a transport's ways, in microseconds."""

    program: str
    name: str  #: words, messages or frames
    o: Interval  #: o_s
    g: Interval  #: max(o_s, o_r, g)
    path: Interval  #: o_s + L + o_r: one message on the longest path
    floor: Interval | None  #: one cache-line transfer in the same processes
    o_r: Interval | None = None  #: of runs that were stored before it was measured: as o_s

    @property
    def L(self) -> Interval:
        """The part of the path that the overheads leave; its interval joins the ends of theirs."""
        path, o, o_r = self.path, self.o, self.o_r or self.o
        lows = [part.low for part in (path, o, o_r) if part.low is not None]
        highs = [part.high for part in (path, o, o_r) if part.high is not None]
        low, high = None, None
        if len(lows) == len(highs) == 3:
            low, high = lows[0] - highs[1] - highs[2], highs[0] - lows[1] - lows[2]
        count = min(path.count, o.count, o_r.count)
        return _at_least_0(Interval(path.value - o.value - o_r.value, low, high, count))

    @property
    def overlaps(self) -> bool:
        """Whether the overheads are more than the path, because they overlap the transfer."""
        return self.o.value + (self.o_r or self.o).value > self.path.value

    @property
    def logp(self) -> tollbar.LogP:
        """The parameters that price a message on the longest path as measured, whatever its parts seem to take."""
        both = self.o.value + (self.o_r or self.o).value
        part = self.path.value / both if self.overlaps else 1.0
        L = 0.0 if self.overlaps else self.path.value - both
        o_r = self.o_r.value * part if self.o_r else None
        return tollbar.LogP(L=L, o=self.o.value * part, g=self.g.value, o_r=o_r)


def _at_least_0(interval: Interval) -> Interval:
    """A time that is hidden behind another may seem to be less than none."""

    def bound(us: float | None) -> float | None:
        return None if us is None else max(us, 0.0)

    return Interval(max(interval.value, 0.0), bound(interval.low), bound(interval.high), interval.count)


def links(run: Stored) -> list[Link]:
    """The links that its launches measured, one for each program and way."""
    series: dict[tuple[str, str], dict[str, dict[int, dict[int, float]]]] = {}
    for group, program, launch in run.launches:
        for way in {record["name"] for record in launch.records.get("round_trips", ())}:
            of_way = series.setdefault((program, way), {})
            for number, values in _rounds(launch, way).items():
                for name, value in values.items():
                    of_way.setdefault(name, {}).setdefault(group, {})[number] = value / 1e3
    return [_link(*key, times) for key, times in sorted(series.items())]


def _rounds(launch: schema.Launch, way: str) -> dict[int, dict[str, float]]:
    """The parameters by round, in nanoseconds; a round that lacks a kind of trip gives none."""
    parameters = {}
    floors = {floor["round"]: floor["one_way_ns"] for floor in launch.records.get("floor", ())}
    there = [record for record in launch.records["round_trips"] if record["name"] == way]
    for number in sorted({record["round"] for record in there}):
        trips = [record for record in there if record["round"] == number]
        one = next((trip for trip in trips if trip["messages"] == 1), None)
        many = next((trip for trip in trips if trip["messages"] > 1 and not trip["delays_ns"]), None)
        delayed = {trip.get("delayed", "sender"): trip for trip in trips if trip["messages"] > 1 and trip["delays_ns"]}
        if one and many and "sender" in delayed:
            parameters[number] = _parameters(one, many, delayed["sender"], delayed.get("receiver"))
            if floors.get(number) is not None:
                parameters[number]["floor"] = floors[number]
    return parameters


def _parameters(
    one: Mapping[str, Any], many: Mapping[str, Any], sender: Mapping[str, Any], receiver: Mapping[str, Any] | None
) -> dict[str, float]:
    trip = float(np.median(one["trip_ns"]))

    def further(trips: Mapping[str, Any]) -> float:
        """The time that a further message adds to a trip, without its delay."""
        delays = float(np.median(trips["delays_ns"])) if trips["delays_ns"] else 0.0
        return (float(np.median(trips["trip_ns"])) - delays - trip) / (trips["messages"] - 1)

    parameters = {"path": trip / 2, "g": further(many), "o": further(sender)}
    return parameters | ({"o_r": further(receiver)} if receiver else {})


def _link(program: str, name: str, series: Mapping[str, Mapping[int, Mapping[int, float]]]) -> Link:
    medians = {key: _at_least_0(statistics.summary(times)) for key, times in series.items()}
    return Link(program, name, medians["o"], medians["g"], medians["path"], medians.get("floor"), medians.get("o_r"))


def stored(spelling: str, within: Path | None = None) -> Link:
    """The newest measurement of a transport, TRANSPORT[:PROGRAM][:WAY]: `threads`, `mpi`, `mpi:mpich:words`.

    The messages of an MPI are meant if no way is named. Raises InvalidArgument
    that says what there is, or how to measure it.
    """
    transport, *parts = spelling.split(":")
    run = results.chosen(within, f"logp-{transport}") if transport in TRANSPORTS else None
    if run is None:
        raise InvalidArgument(f"nothing is stored of '{transport}'; `tollbar logp measure {transport}` measures it")
    there = links(results.read(run))
    meant = there
    for part in parts:
        meant = [link for link in meant if link.name == part or link.program.startswith(part)]
    meant = [link for link in meant if link.name == "messages"] or meant
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(f"{transport}:{link.program}:{link.name}" for link in there) or "nothing"
    raise InvalidArgument(f"'{spelling}' is {'several' if meant else 'none'} of what is stored: {names}")
