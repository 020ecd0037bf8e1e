# SPDX-License-Identifier: Apache-2.0
"""The command `tollbar`: reads the arguments, runs one verb, prints its rows, gives the exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

from tollbar import __version__, environment
from tollbar.cli import (
    bench,
    check,
    completion,
    doctor,
    logp,
    nic,
    plans,
    price,
    report,
    reproduce,
    run,
    show,
    simulate,
    suggest,
    tune,
    verify,
)
from tollbar.cli.errors import CommandError
from tollbar.cli.table import add_format, write

#: Every verb, in the order of `--help`: a module with add_parser(commands), which sets run(args) -> Table.
#: All of them are imported for any of them, so a module imports what is heavy (numpy, rich) inside run().
COMMANDS = (
    plans,
    show,
    verify,
    check,
    price,
    logp,
    simulate,
    bench,
    tune,
    report,
    reproduce,
    run,
    nic,
    doctor,
    completion,
)

_ABOUT = "Barriers for threads, processes and messages: plan, prove, price, measure and choose them."


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; argparse alone would print the usage in front of it."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            problem = f"invalid choice: '{value}'; {suggest.instead(str(value), action.choices)}"
            raise argparse.ArgumentError(action, problem)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_one_line(message)} (see {self.prog} --help)\n")


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tollbar", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"tollbar {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(commands)
    for command in commands.choices.values():
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        add_format(command)
    return parser


class _Ended(KeyboardInterrupt):
    """Told to end, as timeout(1), batch systems and closed terminals tell it."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP are interrupts: hosts and programs that a verb has made end before it."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        signal.signal(number, signal.SIG_DFL)  # whoever insists is obeyed
        raise _Ended(number)

    usual = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        usual = []
    for each in usual:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in usual:
            signal.signal(each, signal.SIG_DFL)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command. Gives 0, 1 when a check failed, 2 for wrong use."""
    try:
        args = _parse(argv)
    except SystemExit as done:  # argparse has printed help, version or an error
        return int(done.code or 0)
    environment.warn_about_unknown_values(sys.stderr)
    try:
        with _ending_in_order():
            table = args.run(args)
        write(table, args.format, sys.stdout)
        sys.stdout.flush()
    except CommandError as error:
        return _fail(args.command, error, error.exit_code)
    except BrokenPipeError:  # the reader has seen enough, as in `tollbar plans | head -1`
        _discard_output()
        return 0
    except _Ended as ended:
        return _fail(args.command, f"ended by {signal.Signals(ended.number).name}", 128 + ended.number)
    except KeyboardInterrupt:
        return _fail(args.command, "interrupted", 130)
    except OSError as error:
        if error.filename is None:
            _discard_output()
        return _fail(args.command, f"{error.filename or 'the output'}: {error.strerror or error}", 2)
    except (ValueError, MemoryError) as error:  # the library's own words for a wrong argument
        return _fail(args.command, error or "not enough memory", 2)
    if args.format == "table":
        for note in table.notes:
            print(note, file=sys.stderr)
    return 1 if table.failed else 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments. What no parser knows is an option of another verb, or of none."""
    parser = build_parser()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        verb = " ".join(["tollbar", args.command, *([args.way] if "way" in args else [])])
        parser.exit(
            2, f"tollbar {args.command}: {unknown[0]} is not an option of `{verb}` (see {verb} --help)\n"
        )
    return args


def _discard_output() -> None:
    """What could not be written is not tried again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(command: str, error: object, exit_code: int) -> int:
    print(f"tollbar {command}: {_one_line(error)}", file=sys.stderr)
    return exit_code
