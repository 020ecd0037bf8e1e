# SPDX-License-Identifier: Apache-2.0
"""The numbers that the papers' texts print: published.toml, read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tollbar.backports import read_toml

from tollbar_lab.models import shmem_published


@dataclass(frozen=True)
class Value:
    paper: str
    exhibit: str
    series: str
    x: float | str
    value: float
    unit: str
    source: str
    bound: bool = False  #: the most that it may be, not what it is


@dataclass(frozen=True)
class Paper:
    name: str  #: as the command spells it
    authors: str
    title: str


@cache
def _file() -> dict:
    return read_toml(Path(__file__).with_name("published.toml"))


def papers() -> dict[str, Paper]:
    """The five papers, by the name that the command takes."""
    return {name: Paper(name, about["authors"], about["title"]) for name, about in _file().items()}


@cache
def values() -> tuple[Value, ...]:
    """Every printed number; the split-mode paper's stand with the experiments that repeat them."""
    printed = []
    for name, paper in _file().items():
        values = [Value(name, **row) for row in paper.get("value", ())]
        printed += values
        for figure, others in paper.get("again", {}).items():
            printed += [replace(value, exhibit=figure) for value in values if value.exhibit in others]
    printed += [
        Value("split-shmem", "Table 1", "time", experiment, seconds, "s", "slide Summary Performance")
        for experiment, seconds in shmem_published.published().items()
    ]
    return tuple(printed)


def values_of(paper: str, exhibit: str) -> list[Value]:
    return [value for value in values() if (value.paper, value.exhibit) == (paper, exhibit)]
