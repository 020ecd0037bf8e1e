# SPDX-License-Identifier: Apache-2.0
"""Places of code in lines of tollbar's, as src/missing/places.hpp writes them."""

from __future__ import annotations

import re
import subprocess

_BARE = r"[^\s()]+\+0x[0-9a-f]+"
#: "function (file:line)", "function (FILE+0xADDRESS)", "FILE+0xADDRESS".
PLACE = rf"(?:{_BARE}|\S+ \((?:{_BARE}|[^\s()]+:\d+)\))"
_NAMED = re.compile(r".* \((?P<line>[^()]+:\d+)\)")
_NUMBERED = re.compile(r"(?:.* \()?(?P<file>[^()]+)\+(?P<address>0x[0-9a-f]+)\)?")


def line_of(place: str) -> str:
    """FILE:LINE of a place, by addr2line where it has no names."""
    if named := _NAMED.fullmatch(place):
        return named["line"]
    numbered = _NUMBERED.fullmatch(place)
    assert numbered, place
    words = ["addr2line", "-e", numbered["file"], numbered["address"]]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.partition(" (discriminator")[0].strip()
