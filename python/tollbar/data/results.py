# SPDX-License-Identifier: Apache-2.0
"""Stored results: one folder a run, with the environment and one compressed file of JSON lines a launch.

Nothing is averaged before it is stored: every line that a measuring program printed is kept as it was.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from tollbar import environment, files
from tollbar.data import schema
from tollbar.data.schema import MalformedRecord
from tollbar.machine import paths

_LAUNCH = re.compile(r"(\d+)\.(.+)\.jsonl\.gz")


class Launched(NamedTuple):
    """A stored launch. Launches with one number follow each other in one situation."""

    number: int
    program: str
    launch: schema.Launch

    @property
    def environment(self) -> Mapping[str, Any]:
        return self.launch.environment

    @property
    def records(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """By their kind."""
        return self.launch.records


@dataclass(frozen=True)
class Stored:
    """One `tollbar bench`: its folder, the machine, and what was launched."""

    folder: Path
    environment: Mapping[str, Any]
    launches: Sequence[Launched] = field(repr=False)


def read(run: Path) -> Stored:
    """Everything in that folder. Raises MalformedRecord, or FileNotFoundError where there is no such run."""
    return Stored(run, read_environment(run), [_launch(path) for path in sorted(run.glob("*.jsonl.gz"))])


def _launch(path: Path) -> Launched:
    named = _LAUNCH.fullmatch(path.name)
    if not named:
        raise MalformedRecord(f"{path}: is not named GROUP.PROGRAM.jsonl.gz")
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return Launched(int(named[1]), named[2], schema.parse_launch(file, path))
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise MalformedRecord(f"{path}: is damaged ({error})") from None


def write_launch(folder: Path, group: int, program: str, text: str) -> Path:
    """Stores what a program printed; the file appears under its name only when it is whole."""
    path = folder / f"{group:04d}.{program}.jsonl.gz"
    files.write(path, gzip.compress(text.encode()))
    return path


def folder() -> Path:
    """The folder of all runs: TOLLBAR_RESULTS, else build/results of the checkout, else in the cache folder."""
    if named := environment.value("TOLLBAR_RESULTS"):
        return Path(named).expanduser()
    root = paths.checkout()
    return root / "build" / "results" if root else environment.cache_folder() / "results"


def new_run(within: Path, kind: str) -> Path:
    """Makes the folder of a new run, named after its kind and the time."""
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    for name in _numbered(f"{kind}-{stamp}"):
        try:
            (within / name).mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            remedy = "name another folder with -o or TOLLBAR_RESULTS"
            raise OSError(error.errno, f"{error.strerror}; {remedy}", error.filename) from None
        return within / name
    raise AssertionError("names never end")


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 1
    while True:
        number += 1
        yield f"{name}-{number}"


def write_environment(run: Path, environment: Mapping[str, Any]) -> None:
    """Stores the environment of a run, replacing what was known when it began."""
    files.write(run / "environment.json", json.dumps(environment, indent=2) + "\n")


def read_environment(run: Path) -> Mapping[str, Any]:
    """Everything known of a run besides its launches. Raises MalformedRecord or FileNotFoundError."""
    path = run / "environment.json"
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MalformedRecord(f"{path}: not JSON: {error}") from None
    if not isinstance(environment, dict):
        raise MalformedRecord(f"{path}: not an object")
    return environment


def chosen(named: Path | None, kind: str) -> Path | None:
    """The run a user means: that folder if it is a run, else its newest run (by default in folder())."""
    within = named or folder()
    return within if (within / "environment.json").exists() else newest(within, kind)


def newest(within: Path, kind: str) -> Path | None:
    """The newest run of that kind that holds a launch; None when there is none."""
    return next(reversed(by_age(within, kind)), None)


def all_chosen(named: Path | None, kind: str) -> list[Path]:
    """As chosen(), but the newest run about each thing; those that are about least come first."""
    within = named or folder()
    if (within / "environment.json").exists():
        return [within]
    newest_about = {about(_known(run)): run for run in by_age(within, kind)}
    return [newest_about[what] for what in sorted(newest_about)]


class About(NamedTuple):
    """The dimensions in which runs of one kind differ: whether others are beside, on fewer CPUs, computing between."""

    hosts: int
    beside: bool
    kept_to: bool
    computing: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is about programs alone on all CPUs, with nothing between barriers."""
        return not (self.beside or self.kept_to or self.computing)


def about(facts: Mapping[str, Any]) -> About:
    """The dimensions of a run, by the facts that it is stored with."""
    hosts = facts.get("hosts")
    dimensions = (bool(facts.get(name)) for name in ("beside", "kept_to", "workloads"))
    return About(hosts if isinstance(hosts, int) and hosts > 1 else 1, *dimensions)


def by_age(within: Path, kind: str) -> list[Path]:
    """The runs of that kind that hold a launch, the newest last."""
    runs = [run.parent for run in within.glob(f"{kind}-*/environment.json") if any(run.parent.glob("*.jsonl.gz"))]
    return sorted(runs, key=lambda run: (_began(run), (run / "environment.json").stat().st_mtime_ns))


def _began(run: Path) -> str:
    """When it was measured; files that are copied have another time."""
    began = _known(run).get("began")
    return began if isinstance(began, str) else ""


def _known(run: Path) -> Mapping[str, Any]:
    try:
        return read_environment(run)
    except MalformedRecord:
        return {}  # whoever reads the run says what is wrong with it
