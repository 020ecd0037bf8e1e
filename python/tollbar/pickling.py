# SPDX-License-Identifier: Apache-2.0
"""Sends native values to other processes, and copies them: by what makes them again."""

from __future__ import annotations

import copyreg
from typing import Any

from tollbar import _native


def _parsed(name: str, words: str) -> _native.Plan:
    return _native.parse_plan(name, words)


def _plan(plan: _native.Plan) -> Any:
    return _parsed, (plan.name, plan.text)


def _logp(logp: _native.LogP) -> Any:
    o_r = None if logp.o_r == logp.o else logp.o_r
    return _native.LogP, (logp.L, logp.o, logp.g, o_r)


def _family(name: str) -> _native.Algorithm:
    return next(family for family in _native.catalogue() if family.name == name)


def _algorithm(family: _native.Algorithm) -> Any:
    return _family, (family.name,)


def register() -> None:
    """Lets pickle and copy know how."""
    copyreg.pickle(_native.Plan, _plan)
    copyreg.pickle(_native.LogP, _logp)
    copyreg.pickle(_native.Algorithm, _algorithm)
