# SPDX-License-Identifier: Apache-2.0
"""The meaning of a table's columns, said where a row is made: any layer's dataclass may be a row of the command."""

from __future__ import annotations

import dataclasses
from typing import Any


def column(meaning: str, detail: bool = False, ends: bool = False, **options: Any) -> Any:
    """A field of a row, with the meaning that `--help` shows. A detail is for CSV and JSON only.

    One with `ends` is an estimate: the columns NAME_low and NAME_high are the ends of its interval, which a table shows
    behind it. Options are those of dataclasses.field.
    """
    return dataclasses.field(metadata={"meaning": meaning, "detail": detail, "ends": ends}, **options)
