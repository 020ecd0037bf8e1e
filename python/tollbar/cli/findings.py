# SPDX-License-Identifier: Apache-2.0
"""One thing that `tollbar doctor` looked at, and the four states it may be in."""

from __future__ import annotations

from dataclasses import dataclass

from tollbar.cli.table import column

OK, ABSENT, WRONG, BROKEN = "ok", "absent", "wrong", "broken"


@dataclass(frozen=True)
class Finding:
    what: str = column("what was looked at")
    state: str = column("ok; absent: optional; wrong: should be mended; broken: tollbar cannot work (exit code 1)")
    why: str = column("what was found")
    remedy: str | None = column("the one command that mends it")
