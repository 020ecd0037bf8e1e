# SPDX-License-Identifier: Apache-2.0
"""tollbar nic: starts, stops and asks the privileged daemon of barriers on network cards."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from tollbar import _native
from tollbar.cli import arguments, ways
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.nic_checks import default_interface
from tollbar.cli.table import Table, column, verb
from tollbar.machine import nic_daemon

_MOST_GROUPS = 1024
_GROUPS = arguments.number(int, 1, _MOST_GROUPS, "number of groups")


@dataclass(frozen=True)
class NicGroup:
    """One member of a group that runs on this host's NIC."""

    group: int = column("its number")
    rank: int = column("of the member on this NIC")
    ranks: int = column("of the group")
    shape: str = column("plan, gather (a NIC counts) or switch")
    user: int = column("whose it is")
    process: int = column("that joined")
    episode: int = column("the latest its process has entered")
    step: int = column("the step the NIC is at; the number of steps when the episode is over")
    steps: int = column("how many there are")


@dataclass(frozen=True)
class Daemon:
    """The daemon after a command."""

    daemon: str = column("its socket")
    state: str = column("up or down")
    interface: str | None = column("that the daemon serves", default=None)
    mode: str | None = column("native: in the driver; generic: in the kernel's receive path", default=None)
    process: int | None = column("its number", default=None)


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "nic", __doc__, "VERB", {"up": Up, "down": Down, "status": Status})


def _default_socket() -> str:
    return f"its socket is {_native.nicd_socket()} (TOLLBAR_NICD)"


class Up:
    """Starts the daemon for good."""

    @staticmethod
    def add_parser(verbs: argparse._SubParsersAction) -> None:
        parser = verb(verbs, "up", f"tollbar nic up: starts the daemon; {_default_socket()}", Daemon)
        parser.add_argument("--interface", metavar="NAME", help="default: that of the default route, or the only one")
        parser.add_argument("--mode", choices=("auto", "native", "generic"), default="auto")
        parser.add_argument(
            "--groups",
            type=_GROUPS,
            metavar="N",
            help=f"most groups of all users together (default: 256, at most {_MOST_GROUPS})",
        )
        parser.add_argument("--per-user", type=_GROUPS, metavar="N", help="of one user (default: 64)")
        parser.add_argument("--switch-key", metavar="FILE", help="of a switch that counts, 32 hexadecimal digits")

    @staticmethod
    def run(args: argparse.Namespace) -> Table:
        interface = args.interface or default_interface()
        if interface is None:
            raise WrongUse("which interface? There is no default route, and there are several: give --interface NAME")
        options = [("--groups", args.groups), ("--per-user", args.per_user), ("--switch-key", args.switch_key)]
        words = [word for name, value in options if value is not None for word in (name, str(value))]
        path = _native.nicd_socket()
        with _failures():
            process = nic_daemon.start(interface, args.mode, path, words)
            state = nic_daemon.status(path)
        return Table([Daemon(path, "up", state["interface"], state["mode"], process)])


class Down:
    """Ends the daemon."""

    @staticmethod
    def add_parser(verbs: argparse._SubParsersAction) -> None:
        verb(verbs, "down", f"tollbar nic down: stops the daemon; {_default_socket()}", Daemon)

    @staticmethod
    def run(args: argparse.Namespace) -> Table:
        path = _native.found_nicd_socket()
        with _failures():
            nic_daemon.stop(path)
        return Table([Daemon(path, "down")])


class Status:
    """Asks the daemon for its groups."""

    @staticmethod
    def add_parser(verbs: argparse._SubParsersAction) -> None:
        about = "lists the groups on this host's NIC, as the daemon tells them"
        verb(verbs, "status", f"tollbar nic status: {about}; {_default_socket()}", NicGroup)

    @staticmethod
    def run(args: argparse.Namespace) -> Table:
        with _failures():
            state = nic_daemon.status(_native.found_nicd_socket())
        counts = ", ".join(f"{name} {count}" for name, count in state["counts"].items() if count)
        notes = [f"{state['interface']}, {state['mode']} mode: {counts or 'no frames yet'}"]
        if others := state["held"] - len(state["groups"]):
            notes.append(f"{others} more groups: of other users, still answered for, or too many for this list")
        return Table([NicGroup(**group) for group in state["groups"]], row_type=NicGroup, notes=notes)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except nic_daemon.DaemonError as error:
        raise CheckFailed(str(error)) from None
