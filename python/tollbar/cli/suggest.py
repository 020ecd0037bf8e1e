# SPDX-License-Identifier: Apache-2.0
"""The answer to a name that is not known: the one that was probably meant, else all that are."""

from __future__ import annotations

from collections.abc import Iterable


def instead(word: str, known: Iterable[str], hidden: Iterable[str] = ()) -> str:
    """The end of a line that refuses the word. `hidden` names may be meant, but are not listed."""
    from difflib import get_close_matches

    names = list(known)
    by_small_letters = {name.lower(): name for name in (*hidden, *names)}
    close = get_close_matches(word.lower(), by_small_letters, n=1)
    return f"did you mean '{by_small_letters[close[0]]}'?" if close else f"there are {', '.join(names)}"
