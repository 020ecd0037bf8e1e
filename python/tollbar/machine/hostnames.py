# SPDX-License-Identifier: Apache-2.0
"""Names of hosts as batch systems write many of them: n[1-3,7]."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

MOST = 10_000  #: more of them are a mistake
_PART = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)")


def expanded(text: str) -> list[str]:
    """The names, each once: `n[1-3,7],login`. Raises ValueError where it is no such list."""
    if not re.fullmatch(rf"{_PART.pattern}(?:,{_PART.pattern})*", text):
        raise ValueError(f"{text} is no list of hosts, such as n[1-64] or n1,n2")
    return list(dict.fromkeys(name for part in _PART.findall(text) for name in _of_part(part, text)))


def _of_part(part: str, text: str) -> Iterable[str]:
    pieces = re.split(r"\[(.*?)\]", part)  # every other one was in brackets
    choices = [_numbers(piece, text) if at % 2 else [piece] for at, piece in enumerate(pieces)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise ValueError(f"{text} are more than {MOST} hosts")
    return map("".join, itertools.product(*choices))


def _numbers(ranges: str, text: str) -> list[str]:
    """The numbers of `1-3,07`, as long as their first one is written."""
    numbers: list[str] = []
    for one in ranges.split(","):
        bounds = _RANGE.fullmatch(one)
        if not bounds:
            raise ValueError(f"{text} is no list of hosts: [{ranges}] is no list of numbers")
        first, last = bounds[1], bounds[2] or bounds[1]
        if int(last) - int(first) >= MOST or len(first) > len(str(MOST)) + 8:
            raise ValueError(f"{text} are more than {MOST} hosts")
        numbers += [f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return numbers


def folded(names: Iterable[str]) -> str:
    """The names in one word, each once; numbers that begin with a zero stand beside those of their length."""
    parts = ((name, _NUMBERED.fullmatch(name)) for name in dict.fromkeys(names))
    split = [part.groups() if part else (name, "", "") for name, part in parts]
    padded = {(before, behind, len(number)) for before, number, behind in split if number.startswith("0")}
    alike: dict[tuple[str, str, int], list[str]] = {}
    for before, number, behind in split:
        key = (before, behind, len(number))
        alike.setdefault(key if key in padded else (before, behind, 0), []).append(number)
    return ",".join(f"{before}{_folded(numbers)}{behind}" for (before, behind, _), numbers in alike.items())


def _folded(numbers: Sequence[str]) -> str:
    if len(numbers) == 1:
        return numbers[0]
    runs: list[list[str]] = []
    for number in sorted(numbers, key=int):
        if runs and int(number) == int(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return "[" + ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs) + "]"
