# SPDX-License-Identifier: Apache-2.0
"""The output of measuring programs, as schema.json says it, and a strict reader of their lines.

The C++ programs are compiled against the same file. Fields that the schema does not know are facts for later
readers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollbar import InvalidArgument

_SCHEMA = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))["records"]

PLACEMENTS = ("pinned", "free")


class MalformedRecord(InvalidArgument):
    """A stored line that is not what a measuring program prints; the text names the file and the line."""


@dataclass(frozen=True)
class Launch:
    """The output of one process: the record `environment`, and the others by their kind, in order."""

    environment: dict[str, Any]
    records: dict[str, list[dict[str, Any]]]


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _numbers(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    if set(map(type, value)) == {float}:  # the usual list, 200 values long, without a call for each
        return min(value) >= 0 and not math.isnan(sum(value))
    return all(map(_number, value))


#: By the type's name: what it accepts, and that in words.
_TYPES = {
    "int": (_whole, "a whole number"),
    "int+": (lambda value: _whole(value) and value > 0, "a whole number, at least 1"),
    "float": (_number, "a number, at least 0"),
    "float+": (lambda value: _number(value) and value > 0, "a number above 0"),
    "float|null": (lambda value: value is None or _number(value), "a number, at least 0, or null"),
    "str": (lambda value: isinstance(value, str) and bool(value), "text"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "floats": (_numbers, "a list of numbers, at least 0"),
}
_TYPES["floats+"] = (lambda value: _numbers(value) and bool(value), "a list of numbers that is not empty")


def kinds() -> list[str]:
    """The kinds of records that there are."""
    return list(_SCHEMA)


def fields(kind: str) -> dict[str, str]:
    """The fields of a record and their types, a trailing `?` where a field may be missing."""
    return _SCHEMA[kind]["fields"]


def parse_record(line: str) -> dict[str, Any]:
    """The record of one line. Raises ValueError that says what is wrong with it."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(record, dict) or "record" not in record:
        raise ValueError("not an object with a key 'record'")
    kind = record["record"]
    if kind not in _SCHEMA:
        raise ValueError(f"record '{kind}' is not one of {', '.join(_SCHEMA)}")
    for name, type_name in fields(kind).items():
        accepts, words = _TYPES[type_name.removesuffix("?")]
        if kind == "environment" and type_name.endswith("?"):
            continue  # a fact, in the words of whoever tells it
        if name not in record:
            if not type_name.endswith("?"):
                raise ValueError(f"'{name}' is missing")
        elif not accepts(record[name]):
            raise ValueError(f"'{name}' is {json.dumps(record[name])[:40]}, not {words}")
    if len({len(record[name]) for name in _SCHEMA[kind].get("same_length", ())}) > 1:
        raise ValueError(f"{', '.join(_SCHEMA[kind]['same_length'])} must be of one length")
    if kind == "environment" and record["placement"] not in PLACEMENTS:
        raise ValueError(f"'placement' is not one of {', '.join(PLACEMENTS)}")
    return record


def parse_launch(lines: Iterable[str], source: object) -> Launch:
    """The launch that these lines are. Raises MalformedRecord with `source` and the line's number."""
    records = list(_parsed(lines, source))
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for record in records[1:-1]:
        by_kind.setdefault(record["record"], []).append(record)
    return Launch(records[0], by_kind)


def _parsed(lines: Iterable[str], source: object) -> Iterator[dict[str, Any]]:
    """The records from `environment` to `done`."""
    number, kind = 0, ""
    for number, line in enumerate(lines, 1):
        try:
            if kind == "done":
                raise ValueError("there is a line after the closing record")
            record = parse_record(line)
            kind = record["record"]
            if (kind == "environment") != (number == 1):
                raise ValueError("the environment record comes first, and once")
        except ValueError as error:
            raise MalformedRecord(f"{source}:{number}: {error}") from None
        yield record
    if kind != "done":
        raise MalformedRecord(f"{source}:{number}: ends without the record 'done'")
