# SPDX-License-Identifier: Apache-2.0
"""Stored looks, made by hand: what tollbar-look would have printed."""

from typing import Any

from tollbar.look import sight

PROGRAM = "a.out"
#: Frames as they end in a thread, and in main.
THREAD = ("libc.so.6:start_thread", "libc.so.6:__clone3")
MAIN = ("a.out:main", "libc.so.6:__libc_start_main@@GLIBC_2.34", "a.out:_start")
GOMP = ("libgomp.so.1:", "libgomp.so.1:")


def frames(*named: str) -> list[dict[str, Any]]:
    """Frames from "module:symbol", or a symbol of the program's own; one behind `!` has another mark."""
    made = []
    for number, each in enumerate(named):
        module, _, symbol = each.rpartition(":") if ".so" in each or "a.out:" in each else (PROGRAM, "", each)
        made.append(
            {"at": 100 + number, "symbol": symbol.lstrip("!"), "module": module, "source": "",
             "mark": hash(symbol) if symbol.startswith("!") else 7}
        )  # fmt: skip
    return made


def barrier(kind: str, arrived: int, expected: int, key: str = "1:4096", turn: int = 0) -> dict[str, Any]:
    return {"kind": kind, "at": 4096, "key": key, "arrived": arrived, "expected": expected, "round": turn}


def thread(number: int, *named: str, at: dict[str, Any] | None = None, runs: bool = False, switches: int = 1):
    return {
        "thread": number, "name": "a.out", "state": "R" if runs else "S", "call": -2 if runs else 202,
        "arguments": [1, 0, 0, 0, 0, 0], "switches": switches, "asleep_ms": None if runs else 500.0,
        "held_us": 15.0 if runs else None, "complete": True, "frames": frames(*named),
        "barriers": [at] if at else [],
    }  # fmt: skip


def sight_of(now: list, before: list | None = None, groups=(), old_groups=None, process: int = 1) -> sight.Sight:
    """A reading of two looks; without `before` nothing has changed."""

    def look(threads, groups):
        return {"processes": [{"process": process, "threads": threads}], "groups": list(groups)}

    first = look(now if before is None else before, groups if old_groups is None else old_groups)
    return sight.read({"looks": [first, look(now, groups)]})
