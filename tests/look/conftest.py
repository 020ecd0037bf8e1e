# SPDX-License-Identifier: Apache-2.0
"""Programs that are looked at, and what looks at them."""

from looking import compiled, helper_is_built, look_until, started

__all__ = ["compiled", "helper_is_built", "look_until", "started"]
