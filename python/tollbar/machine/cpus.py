# SPDX-License-Identifier: Apache-2.0
"""How many CPUs this process may use, and why: affinity mask, and cgroup quotas as the library reads them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from tollbar import _native


@dataclass(frozen=True)
class Usable:
    online: int
    affinity: int
    quota: float | None  #: CPU time a second that the control groups grant, in CPUs

    @property
    def cpus(self) -> int:
        """The CPUs that threads can count on; a part of a CPU does not count, as in the library (quota_cpus())."""
        return max(1, min(self.affinity, math.floor(self.quota) if self.quota else self.affinity))

    @property
    def why(self) -> str:
        quota = f"a cgroup quota of {self.quota:g}" if self.quota else "no cgroup quota"
        return f"{self.online} online, {self.affinity} in the affinity mask, {quota}"


def usable() -> Usable:
    return Usable(os.cpu_count() or 1, len(os.sched_getaffinity(0)), _native.cpu_quota())
