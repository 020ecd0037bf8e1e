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
    from tollbar_lab import _native
    from tollbar_lab._native import *  # noqa: F403  # its public names are this package's
    from tollbar_lab.pickling import register as _register

    _register()

    __all__ = vars(_native)["__all__"]
else:

    def __getattr__(name: str) -> NoReturn:
        is_ours = not name.startswith("_") and find_spec(f"tollbar_lab.{name}") is None
        raise ImportError(tollbar.native_problem) if is_ours else AttributeError(name)
