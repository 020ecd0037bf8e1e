# SPDX-License-Identifier: Apache-2.0
"""Barriers as plans: make them, prove them, price them under LogP, draw them.

>>> import tollbar
>>> plan = tollbar.plan("dissemination", 4)
>>> print(plan.text, end="")
0: !1 ?3 !2 ?2
1: !2 ?0 !3 ?3
2: !3 ?1 !0 ?0
3: !0 ?2 !1 ?1
>>> tollbar.verify(plan).holds
True
>>> tollbar.price(plan, tollbar.LogP(L=10, o=5, g=3)).last_us
40.0

Names that end in `_us` and `_ns` are times in microseconds and nanoseconds; time-outs are in seconds.
A wrong argument raises InvalidArgument, which is a ValueError.
Memory order: what a thread or process did before it arrived at a barrier or in a group happens before any
wait of the same episode returns.
"""

from __future__ import annotations

from typing import NoReturn

#: One line that says why the native module cannot be imported and what would mend it; None when it can.
native_problem: str | None = None

try:
    from tollbar._native import (
        Algorithm,
        Group,
        InvalidArgument,
        LogP,
        Message,
        Participant,
        Plan,
        Price,
        Receive,
        Verdict,
        __version__,
        catalogue,
        combine,
        is_rooted,
        max_ranks,
        messages,
        parse_plan,
        parse_workload,
        plan,
        price,
        runs_on,
        unheard,
        verify,
    )
    from tollbar.barriers import Barrier, BarrierTimeout, process_barrier
    from tollbar.drawing import draw_svg, to_goal
    from tollbar.pickling import register as _register

    _register()

    __all__ = [
        "Algorithm",
        "Barrier",
        "BarrierTimeout",
        "Group",
        "InvalidArgument",
        "LogP",
        "Message",
        "Participant",
        "Plan",
        "Price",
        "Receive",
        "Verdict",
        "__version__",
        "catalogue",
        "combine",
        "draw_svg",
        "is_rooted",
        "max_ranks",
        "messages",
        "parse_plan",
        "parse_workload",
        "plan",
        "price",
        "process_barrier",
        "runs_on",
        "to_goal",
        "unheard",
        "verify",
    ]
except ImportError as error:
    from importlib.util import find_spec

    from tollbar.machine import paths

    native_problem = f"the native module cannot be imported ({error}); remedy: {paths.mend()}"

    def __getattr__(name: str) -> NoReturn:
        is_ours = not name.startswith("_") and find_spec(f"tollbar.{name}") is None
        raise ImportError(native_problem) if is_ours else AttributeError(name)
