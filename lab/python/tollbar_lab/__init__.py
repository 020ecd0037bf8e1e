# SPDX-License-Identifier: Apache-2.0
"""The laboratory: models of barriers on machines that are not here, and the tables and figures of five papers.

>>> import tollbar, tollbar_lab
>>> logp = tollbar.LogP(L=10, o=5, g=3)
>>> tollbar_lab.closed_form(tollbar.plan("dissemination", 4), logp).full_us
40.0
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import NoReturn

import tollbar

if tollbar.native_problem is None:
    from tollbar_lab._native import (
        ClosedForm,
        CoresMachine,
        CoresOutcome,
        NicOutcome,
        NicParts,
        NicSpan,
        SchedulerApplication,
        SchedulerCompletion,
        SchedulerOutcome,
        SchedulerSpan,
        closed_form,
        cores_contended_add_ns,
        cores_machine,
        cores_machines,
        cores_one_way_ns,
        cores_peers,
        cores_polled_add_ns,
        cores_published,
        loop_period_us,
        nic_applications,
        nic_compute_us,
        nic_loop_us,
        nic_part_ranges,
        nic_parts,
        nic_presets,
        nic_ranges,
        nic_steps,
        simulate_cores,
        simulate_nic,
        simulate_scheduler,
        with_occupancy,
        with_payload,
    )
    from tollbar_lab.pickling import register as _register

    _register()

    __all__ = [
        "ClosedForm",
        "CoresMachine",
        "CoresOutcome",
        "NicOutcome",
        "NicParts",
        "NicSpan",
        "SchedulerApplication",
        "SchedulerCompletion",
        "SchedulerOutcome",
        "SchedulerSpan",
        "closed_form",
        "cores_contended_add_ns",
        "cores_machine",
        "cores_machines",
        "cores_one_way_ns",
        "cores_peers",
        "cores_polled_add_ns",
        "cores_published",
        "loop_period_us",
        "nic_applications",
        "nic_compute_us",
        "nic_loop_us",
        "nic_part_ranges",
        "nic_parts",
        "nic_presets",
        "nic_ranges",
        "nic_steps",
        "simulate_cores",
        "simulate_nic",
        "simulate_scheduler",
        "with_occupancy",
        "with_payload",
    ]
else:

    def __getattr__(name: str) -> NoReturn:
        is_ours = not name.startswith("_") and find_spec(f"tollbar_lab.{name}") is None
        raise ImportError(tollbar.native_problem) if is_ours else AttributeError(name)
