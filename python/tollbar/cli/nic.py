# SPDX-License-Identifier: Apache-2.0
"""tollbar nic: starts, stops and checks the privileged daemon of barriers on network cards."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from tollbar import _native
from tollbar.cli import nic_checks
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.findings import OK, WRONG, Finding
from tollbar.cli.table import Table, column, describe_columns
from tollbar.machine import nic_daemon


@dataclass(frozen=True)
class Group:
    """One member of a group that runs on this host's card."""

    group: int = column("its number")
    rank: int = column("of the member on this card")
    ranks: int = column("of the group")
    shape: str = column("plan, gather (a card counts) or switch")
    user: int = column("whose it is")
    process: int = column("that joined")
    episode: int = column("the latest its process has entered")
    step: int = column("the step the card is at; the number of steps when the episode is over")
    steps: int = column("how many there are")


@dataclass(frozen=True)
class Daemon:
    """The daemon after a command."""

    daemon: str = column("its socket")
    state: str = column("up or down")
    interface: str | None = column("that the daemon serves")
    mode: str | None = column("native: in the driver; generic: in the kernel's receive path")
    process: int | None = column("its number")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "nic", help=__doc__.partition(": ")[2], description=__doc__, epilog=describe_columns(Group)
    )
    parser.add_argument("verb", choices=("up", "down", "check", "status"))
    parser.add_argument(
        "addresses",
        nargs="*",
        metavar="ADDRESS",
        help="check: addresses of other hosts' network cards, each of which must answer",
    )
    parser.add_argument(
        "--interface",
        metavar="NAME",
        help="up, check (default: the interface of the default route, or the only one)",
    )
    parser.add_argument(
        "--mode", choices=("auto", "native", "generic"), default="auto", help="up: (default: auto)"
    )
    parser.add_argument(
        "--groups",
        type=int,
        metavar="N",
        help="up: most groups of all users together (default: 256, at most 1024)",
    )
    parser.add_argument("--per-user", type=int, metavar="N", help="up: of one user (default: 64)")
    parser.add_argument(
        "--switch-key", metavar="FILE", help="up: of a switch that counts, 32 hexadecimal digits"
    )
    parser.add_argument("--socket", metavar="FILE", help=f"default: {_native.nicd_socket()} (TOLLBAR_NICD)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    if args.addresses and args.verb != "check":
        raise WrongUse(f"nic {args.verb} takes no addresses")
    path = args.socket or (_native.nicd_socket() if args.verb == "up" else _native.found_nicd_socket())
    try:
        return {"up": _up, "down": _down, "check": _check, "status": _status}[args.verb](args, path)
    except nic_daemon.DaemonError as error:
        raise CheckFailed(str(error)) from None


def _up(args: argparse.Namespace, path: str) -> Table:
    interface = args.interface or default_interface()
    if interface is None:
        raise WrongUse(
            "which interface? There is no default route, and there are several: give --interface NAME"
        )
    options = [("--groups", args.groups), ("--per-user", args.per_user), ("--switch-key", args.switch_key)]
    words = [word for name, value in options if value is not None for word in (name, str(value))]
    process = nic_daemon.start(interface, args.mode, path, words)
    state = nic_daemon.status(path)
    return Table([Daemon(path, "up", state["interface"], state["mode"], process)])


def _down(args: argparse.Namespace, path: str) -> Table:
    nic_daemon.stop(path)
    return Table([Daemon(path, "down", None, None, None)])


def _status(args: argparse.Namespace, path: str) -> Table:
    state = nic_daemon.status(path)
    counts = ", ".join(f"{name} {count}" for name, count in state["counts"].items() if count)
    notes = [f"{state['interface']}, {state['mode']} mode: {counts or 'no frames yet'}"]
    if others := state["held"] - len(state["groups"]):
        notes.append(f"{others} more groups: of other users, still answered for, or too many for this list")
    return Table([Group(**group) for group in state["groups"]], row_type=Group, notes=notes)


def _check(args: argparse.Namespace, path: str) -> Table:
    rows = list(nic_checks.findings(path, args.interface or default_interface()))
    rows += [_echo(address) for address in args.addresses]
    return Table(rows, failed=any(row.state != OK for row in rows))


def _echo(address: str) -> Finding:
    """Proves that a card executes its program and that what it sends gets out."""
    took = nic_daemon.echo_us(address)
    if took is not None:
        return Finding(f"card {address}", OK, f"its program answered in {took:.0f} us", None)
    why = "its program does not answer: no daemon there, another network, or its frames are lost"
    remedy = "on that host: sudo tollbar nic up; in native mode on veth: sudo tollbar nic up --mode generic"
    return Finding(f"card {address}", WRONG, why, remedy)


def default_interface() -> str | None:
    """That of the default route; else the only one beside the loopback."""
    for line in Path("/proc/net/route").read_text().splitlines()[1:]:
        interface, target = line.split()[:2]
        if target == "00000000":
            return interface
    others = [entry.name for entry in Path("/sys/class/net").iterdir() if entry.name != "lo"]
    return others[0] if len(others) == 1 else None
