# SPDX-License-Identifier: Apache-2.0
"""tollbar completion: prints what makes bash or zsh complete the command's words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, verb

_NAMES = " ".join(arguments.CATALOGUE)
_PREAMBLE = {
    "bash": f'_tollbar_plans() {{ compgen -W "{_NAMES}" -- "$1"; }}',
    "zsh": f"_tollbar_plans() {{ compadd -- {_NAMES} }}",
}
_PLANS = dict.fromkeys(_PREAMBLE, "_tollbar_plans")


@dataclass(frozen=True)
class Script:
    shell: str = column("bash or zsh")
    script: str = column("what the shell has to read")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = verb(commands, "completion", __doc__, Script)
    parser.add_argument("shell", choices=tuple(_PREAMBLE))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar.cli.command import build_parser

    try:
        import shtab
    except ImportError:
        raise WrongUse("shtab is missing; remedy: pip install shtab") from None
    parser = build_parser()
    for action in _actions(parser):
        if isinstance(action.metavar, str) and action.metavar.startswith("PLAN"):
            action.complete = _PLANS  # type: ignore[attr-defined]  # where shtab looks for it
        elif action.type is Path:
            file = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
            action.complete = file  # type: ignore[attr-defined]  # as above
    text = shtab.complete(parser, args.shell, preamble=_PREAMBLE[args.shell])
    return Table([Script(args.shell, text)], text=text)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The commands of the parser and of all verbs below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from _actions(verb)
