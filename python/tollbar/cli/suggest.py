# SPDX-License-Identifier: Apache-2.0
"""What to say of a name that is not known: the one that was probably meant, else all that are."""

from __future__ import annotations

from collections.abc import Iterable


def instead(word: str, known: Iterable[str]) -> str:
    """The end of a line that refuses the word."""
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(word, names, n=1)
    return f"did you mean '{close[0]}'?" if close else f"there are {', '.join(names)}"
