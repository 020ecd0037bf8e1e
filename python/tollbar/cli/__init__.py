# SPDX-License-Identifier: Apache-2.0
"""The command `tollbar`. Without the native module every verb says so, in one line, and how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tollbar import native_problem

if native_problem is None:
    from tollbar.cli.command import COMMANDS, build_parser, main
else:

    def main(argv: Sequence[str] | None = None) -> int:
        print(f"tollbar: {native_problem}", file=sys.stderr)
        return 1


__all__ = ["COMMANDS", "build_parser", "main"]
