# SPDX-License-Identifier: Apache-2.0
"""The command `tollbar`: reads the arguments, runs one verb, prints its rows, gives the exit code."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from tollbar import InvalidArgument, __version__, children, environment
from tollbar.cli import laboratory, suggest, ways
from tollbar.cli.errors import CommandError
from tollbar.cli.table import add_format, write

#: Every verb, in the order of `--help` (why people come, then measuring, then plans), with its line there.
#: Each is a module with add_parser(commands), which sets
#: run(args) -> Table. It is imported when it is asked for, and what is heavy (numpy) inside run().
COMMANDS = {
    "who": "looks at a running program and names the threads or ranks that others wait for.",
    "run": "runs a program with tollbar's barriers in place of those of its MPI, OpenMP or threads.",
    "doctor": "says what works here, what does not, why, and the one command that mends it.",
    "bench": "measures the barriers that run here and prints how long each takes, the fastest first.",
    "check": "runs barriers, tollbar's or anybody's, and names the first rank that leaves too early.",
    "tune": "picks the fastest safe barrier for each situation and stores it for the library.",
    "report": "writes report.html, one page with figures, tables and numbers of stored runs.",
    "plans": "lists the barrier algorithms with their parameters, restrictions and papers.",
    "show": "prints a plan as text, as a drawing (SVG) or as LogGOPSim's GOAL.",
    "verify": "proves that plans are barriers, for every number of ranks in a range.",
    "price": "computes what each plan costs under LogP, without running it.",
    "logp": "finds L, o and g, the numbers from which plans are priced, by measuring or fitting.",
    "simulate": "simulates barriers on machines that are not here.",
    "reproduce": "writes the tables and figures of five papers beside models and local measurements.",
    "nic": "starts, stops and asks the privileged daemon of barriers on network cards.",
    "completion": "prints what makes bash or zsh complete the command's words.",
}

#: Verbs that are nothing without the packages of the extra `bench`; of others, some options are.
_OF_SAMPLES = ("bench", "tune", "report", "reproduce")

#: Nobody means these by another word.
_OF_ALL_VERBS = ("-h", "--help", "--csv", "--json")

#: As for tables.
_WIDTH_OF_A_PIPE = 120

_ABOUT = "Names the ranks that a hanging job waits for; runs, measures, proves and prices barriers."


class _Help(argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of a description as they are, and puts help beside longer options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=22)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """The meaning of a column goes on below its beginning; other lines stay as they are."""
        if not re.search(r"columns:$", text, re.MULTILINE):
            return text
        width = shutil.get_terminal_size((_WIDTH_OF_A_PIPE, 24)).columns
        lines = (_hanging(line, width) if line.startswith(" ") else [line] for line in text.splitlines())
        return "\n".join(itertools.chain.from_iterable(lines))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output FILE` in place of `-o FILE, --output FILE`."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


def _hanging(row: str, width: int) -> list[str]:
    """A row of a name, a gap and what it means, in lines of at most `width` where words allow it."""
    gap = re.match(r" *\S+ +", row)
    begin = gap.end() if gap else 0
    meaning = textwrap.wrap(row[begin:], max(width - begin, 20)) or [""]
    return [row[:begin] + meaning[0], *(" " * begin + line for line in meaning[1:])]


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; argparse alone would print the usage in front of it."""

    def __init__(self, *args: Any, **given: Any) -> None:
        options: dict[str, Any] = {"formatter_class": _Help, "allow_abbrev": False} | given
        super().__init__(*args, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hidden = ("--version", "--help") if isinstance(action, argparse._SubParsersAction) else ()
            problem = f"invalid choice: '{value}'; {suggest.instead(str(value), action.choices, hidden)}"
            raise argparse.ArgumentError(action, problem)

    def format_usage(self) -> str:
        return self._usage_line() + "\n"

    def format_help(self) -> str:
        self.usage = self.usage or self._usage_line().removeprefix("usage: ")
        return super().format_help()

    @property
    def epilog(self) -> str | None:
        """The meaning of each column; a function that tells it, where it takes a while to load."""
        return self._epilog() if callable(self._epilog) else self._epilog

    @epilog.setter
    def epilog(self, text: str | Callable[[], str] | None) -> None:
        self._epilog = text

    def add_subparsers(self, **options: Any) -> Any:
        return super().add_subparsers(prog=self.prog, **options)

    def _usage_line(self) -> str:
        """Positionals and what must be given by name; of the rest, that there are options."""
        if self.usage:
            return f"usage: {self.usage % {'prog': self.prog}}"
        words = [self.prog]
        for action in self._get_positional_actions():
            name = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else action.dest)
            name = name if action.required else f"[{name}]" if action.nargs == argparse.PARSER else name
            forms = {"*": "[{} ...]", "?": "[{}]", argparse.PARSER: "{} ...", argparse.REMAINDER: "{}"}
            words.append(forms.get(str(action.nargs), "{}").format(name))
        words += [
            f"{action.option_strings[-1]} {action.metavar}"
            for action in self._actions
            if action.required and action.option_strings
        ]
        return "usage: " + " ".join([*words, "[options]"])

    def error(self, message: str) -> NoReturn:
        verb = " ".join(self.prog.split()[:2])
        self.exit(2, f"{verb}: {_one_line(message)} (see {self.prog} --help)\n")


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def module_of(verb: str) -> Any:
    """The verb's module."""
    return laboratory.part(verb) if verb in laboratory.VERBS else import_module(f"tollbar.cli.{verb}")


def build_parser(verbs: Collection[str] = tuple(COMMANDS), part: str | None = None) -> Parser:
    """The parser; what `verbs` leaves out is in its help alone, and is not imported. So is what the laboratory adds to
    them, all but `part`, unless that is None. Raises laboratory.Missing where that part is not installed."""
    adds = laboratory.is_here()
    parser = Parser(prog="tollbar", description=_ABOUT)
    parser.add_argument("-V", "--version", action="version", version=f"tollbar {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, about in COMMANDS.items():
        if name in laboratory.VERBS and not adds and part != name:
            continue
        if name not in verbs:
            commands.add_parser(name, help=about)
            continue
        module_of(name).add_parser(commands)
        _add_ways(commands.choices[name], name, adds, part)
        if not _ways_of(commands.choices[name]):
            add_format(commands.choices[name])
    return parser


def _add_ways(parser: Parser, verb: str, adds: bool, part: str | None) -> None:
    """Adds to a verb the laboratory's ways of it."""
    chosen: Any = _chosen(parser)
    for way, about in laboratory.WAYS.get(verb, {}).items():
        name = f"{verb}.{way}"
        if part == name or (part is None and adds):
            ways.add(chosen, way, laboratory.part(name))
        elif adds:
            chosen.add_parser(way, help=about)


class _Ended(KeyboardInterrupt):
    """Told to end, as timeout(1), batch systems and closed terminals tell it."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP are interrupts: hosts and programs that a verb has made end before it. Another one
    cuts short what the first one has begun."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise _Ended(number)

    usual = [ending for ending in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(ending) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        usual = []
    for ending in usual:
        signal.signal(ending, end)
    try:
        yield
    finally:
        for ending in usual:
            signal.signal(ending, signal.SIG_DFL)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command. Gives 0, 1 when a check failed, 2 for wrong use, 3 where the answer cannot be told."""
    try:
        args = _parse(argv)
    except SystemExit as done:  # argparse has printed help, version or an error
        return int(done.code or 0) or _helped()
    except OSError as error:
        return _helped(error)
    except laboratory.Missing as missing:
        return _fail(missing.words, missing, 2)
    environment.warn_about_unknown_values(sys.stderr)
    try:
        if args.command in _OF_SAMPLES and (problem := _without_packages()):
            return _fail(args.command, problem, 2)  # before anything is measured or written
        # The program that `run` becomes inherits nothing of it.
        with _ending_in_order(), contextlib.nullcontext() if args.command == "run" else children.none_left():
            table = args.run(args)
        if sys.stdout is None:
            return _fail(args.command, "the output is closed", 2)
        if problem := _printed(lambda: write(table, args.format, sys.stdout)):
            return _fail(args.command, problem, 2)
    except CommandError as error:
        return _fail(args.command, error, error.exit_code)
    except _Ended as ended:
        return _fail(args.command, f"ended by {signal.Signals(ended.number).name}", 128 + ended.number)
    except KeyboardInterrupt:
        return _fail(args.command, "interrupted", 130)
    except ModuleNotFoundError:
        if not (problem := _without_packages()):
            raise
        return _fail(args.command, problem, 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(args.command, f"{where}{error.strerror or error}", 2)
    except (InvalidArgument, MemoryError) as error:  # in the library's own words
        return _fail(args.command, error or "not enough memory", 2)
    if args.format == "table":
        for note in table.notes:
            print(note, file=sys.stderr)
    return 1 if table.failed else 3 if table.unknown else 0


def _without_packages() -> str:
    """The packages missing of the extra `bench`, and how to get them; empty where none is."""
    from tollbar.machine import extras

    lacking = extras.missing()
    return f"this verb needs {', '.join(lacking)}; remedy: {extras.remedy(lacking)}" if lacking else ""


def _helped(error: OSError | None = None) -> int:
    """The exit code after help was printed, or was kept from it."""

    def end() -> None:
        if error:
            raise error

    problem = _printed(end) if sys.stdout else ""
    if problem:
        print(f"tollbar: {problem}", file=sys.stderr)
    return 2 if problem else 0


def _printed(tell: Callable[[], object]) -> str:
    """Gives what keeps from being printed what is told there. A reader that has seen enough, as in
    `tollbar plans | head -1`, does not."""
    try:
        tell()
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        return f"the output: {error.strerror or error}"
    return ""


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    parser = build_parser([word for word in words if word in COMMANDS][:1], laboratory.named(words))
    return parser.parse_args(_in_order(parser, words))


def _in_order(parser: Parser, words: Sequence[str]) -> list[str]:
    """The words with options before positionals, so that these may stand apart; argparse takes the first of
    them for all. Options that stand before a verb of a verb are its own. A word that is no option of the verb is
    refused before anything else is."""
    options: list[str] = []
    positionals: list[str] = []
    early: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*options, *early, *positionals, word, *left]
        ways = _ways_of(parser)
        if word.startswith("-") and not _negative(word):
            name, value = word.partition("=")[::2] if word.startswith("--") else (word[:2], word[2:])
            action = parser._option_string_actions.get(name)
            takes = left and not value and (_negative(left[0]) or left[0][:1] != "-" or left[0] == "-")
            takes = takes and left[0] not in ways
            if action is None and ways:
                early += [word, left.pop(0)] if takes else [word]
            elif action is None:
                _no_option(parser, name)
            elif takes and action.nargs is None:
                options += [f"{word}={left.pop(0)}"] if name.startswith("--") else [word, left.pop(0)]
            else:
                options.append(word)
        elif ways:
            options.append(word)
            if word not in ways:
                return [*options, *left]  # argparse says what there is
            parser, left, early = ways[word], [*early, *left], []
        elif any(action.nargs == argparse.REMAINDER for action in parser._actions):
            return [*options, word, *left]
        else:
            positionals.append(word)
    usual = parser.get_default("usual")
    if usual and not {"-h", "--help"} & {*options}:
        return [*options, usual, *_in_order(_ways_of(parser)[usual], early)]
    if early:
        _no_option(parser, early[0])
    return [*options, *positionals]


def _no_option(parser: Parser, name: str) -> None:
    own = [word for word in parser._option_string_actions if word not in _OF_ALL_VERBS]
    near = suggest.instead(name, own) if name.startswith("--") else ""
    guess = f"; {near}" if near.startswith("did you mean") else ""
    parser.error(f"{name} is not an option of `{parser.prog}`{guess}")


def _negative(word: str) -> bool:
    return word[:1] == "-" and word[1:2] in tuple("0123456789.")


def _ways_of(parser: argparse.ArgumentParser) -> Mapping[str, Parser]:
    """The parsers of a verb's own verbs."""
    chosen = _chosen(parser)
    return chosen.choices if chosen else {}


def _chosen(parser: argparse.ArgumentParser) -> argparse._SubParsersAction | None:
    """The verb's choice of its own verbs."""
    return next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)


def _discard_output() -> None:
    """Output that could not be written is not tried again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(command: str, error: object, exit_code: int) -> int:
    print(f"tollbar {command}: {_one_line(error)}", file=sys.stderr)
    return exit_code
