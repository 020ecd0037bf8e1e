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
        ClosedForm,
        CoresMachine,
        CoresOutcome,
        Group,
        InvalidArgument,
        LogP,
        Message,
        NicOutcome,
        NicParts,
        NicSpan,
        Participant,
        Plan,
        Price,
        Receive,
        SchedulerApplication,
        SchedulerCompletion,
        SchedulerOutcome,
        SchedulerSpan,
        Verdict,
        __version__,
        catalogue,
        closed_form,
        combine,
        cores_contended_add_ns,
        cores_machine,
        cores_machines,
        cores_one_way_ns,
        cores_peers,
        cores_polled_add_ns,
        cores_published,
        draw_svg,
        is_rooted,
        loop_period_us,
        max_ranks,
        messages,
        nic_applications,
        nic_compute_us,
        nic_loop_us,
        nic_part_ranges,
        nic_parts,
        nic_presets,
        nic_ranges,
        nic_steps,
        parse_plan,
        parse_workload,
        plan,
        price,
        runs_on,
        simulate_cores,
        simulate_nic,
        simulate_scheduler,
        to_goal,
        unheard,
        verify,
        with_occupancy,
        with_payload,
    )
    from tollbar.barriers import Barrier, BarrierTimeout, process_barrier
except ImportError as error:
    from tollbar.machine import paths

    native_problem = f"the native module cannot be imported ({error}); remedy: {paths.mend()}"

    def __getattr__(name: str) -> NoReturn:
        raise ImportError(native_problem) if name in __all__ else AttributeError(name)


__all__ = [
    "Algorithm",
    "Barrier",
    "BarrierTimeout",
    "ClosedForm",
    "CoresMachine",
    "CoresOutcome",
    "Group",
    "InvalidArgument",
    "LogP",
    "Message",
    "NicOutcome",
    "NicParts",
    "NicSpan",
    "Participant",
    "Plan",
    "Price",
    "Receive",
    "SchedulerApplication",
    "SchedulerCompletion",
    "SchedulerOutcome",
    "SchedulerSpan",
    "Verdict",
    "__version__",
    "catalogue",
    "closed_form",
    "combine",
    "cores_contended_add_ns",
    "cores_machine",
    "cores_machines",
    "cores_one_way_ns",
    "cores_peers",
    "cores_polled_add_ns",
    "cores_published",
    "draw_svg",
    "is_rooted",
    "loop_period_us",
    "max_ranks",
    "messages",
    "nic_applications",
    "nic_compute_us",
    "nic_loop_us",
    "nic_part_ranges",
    "nic_parts",
    "nic_presets",
    "nic_ranges",
    "nic_steps",
    "parse_plan",
    "parse_workload",
    "plan",
    "price",
    "process_barrier",
    "runs_on",
    "simulate_cores",
    "simulate_nic",
    "simulate_scheduler",
    "to_goal",
    "unheard",
    "verify",
    "with_occupancy",
    "with_payload",
]
