# SPDX-License-Identifier: Apache-2.0
"""Parts of the command that the laboratory adds by entry points: verbs, ways of a verb, and models.

The laboratory is the package tollbar_lab, which imports this one and may be missing:
laboratory.part("logp.fit")     # its module; raises Missing where there is none
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from tollbar import InvalidArgument
from tollbar.backports import entry_points

GROUP = "tollbar.verbs"
VERBS = ("simulate", "reproduce")
#: Ways of the house's verbs, with their lines in the help of the verb.
WAYS = {
    "bench": {"cores": "measures what cache lines cost between the CPUs here, as a machine to simulate."},
    "logp": {"fit": "fits LogP parameters to a table of measured barriers; names those it cannot identify."},
}
_REMEDY = (
    "it is part of tollbar-lab, which is not installed; remedy: sudo apt-get install tollbar-lab, or `make install` "
    "in a checkout"
)


class Missing(InvalidArgument):
    """A part that is not installed; the text is how to get it."""

    def __init__(self, name: str) -> None:
        super().__init__(_REMEDY)
        self.words = name.replace(".", " ")


def is_here() -> bool:
    """Whether the package can be imported. Entry points are not looked through, which takes longer."""
    return find_spec("tollbar_lab") is not None


def part(name: str) -> Any:
    """The module of a verb, of a way as VERB.WAY, or of a model. Raises Missing where it is not installed."""
    for entry in entry_points(GROUP, name) if is_here() else ():
        return entry.load()
    raise Missing(name)


def named(words: Sequence[str]) -> str:
    """The part that the words of a command are about; empty where they are about none."""
    for number, word in enumerate(words):
        if word in VERBS:
            return word
        if word in WAYS:
            return next((f"{word}.{way}" for way in words[number + 1 :] if way in WAYS[word]), "")
    return ""
