# SPDX-License-Identifier: Apache-2.0
"""The content of a native value, to be compared with that of its copy."""

from __future__ import annotations

import enum


def of_parts(value: object) -> object:
    """Lists of our values are equal where these look alike."""
    is_ours = isinstance(value, list) and value and type(value[0]).__module__.startswith("tollbar")
    return [seen(part) for part in value] if is_ours else value


def seen(value: object) -> dict[str, object]:
    """All that can be asked of it without arguments."""
    if isinstance(value, enum.Enum):
        return {"itself": value}
    names = [name for name in dir(value) if not name.startswith("_") and not callable(getattr(value, name))]
    shown = {name: of_parts(getattr(value, name)) for name in names if name != "__traceback__"}
    return shown | (
        {"args": value.args, "text": str(value)}
        if isinstance(value, BaseException)
        else {"repr": repr(value).partition(" object at ")[0]}
    )
