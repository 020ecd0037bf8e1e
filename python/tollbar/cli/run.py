# SPDX-License-Identifier: Apache-2.0
"""tollbar run: runs an MPI program with tollbar's barriers in place of the MPI's."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns
from tollbar.machine import doors, launching, mpis, paths

_ABOUT = """
The MPI is the one whose library the program is linked with, else that of the launcher (mpirun, mpiexec).
The door is tollbar's Open MPI component if it was built for that Open MPI, else the library to preload.
The exit code is the command's. Every TOLLBAR_ variable reaches all ranks, also those on other hosts; there
tollbar must be installed in the same folder.

  tollbar run -- mpirun -n 4 ./program
  tollbar run --timeout 10 -- mpirun -n 4 ./program   names the ranks that keep a barrier waiting for 10 s

Open MPI starts no more ranks than there are cores unless it is given --oversubscribe, and none as root unless
it is given --allow-run-as-root: tollbar run -- mpirun --oversubscribe -n 4 ./program
"""

_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|srun)(\.\w+)?")


@dataclass(frozen=True)
class Opened:
    mpi: str = column("whose programs are served: openmpi, mpich (Intel MPI too) or abi (the standard's)")
    door: str = column("component or preload")
    library: str = column("the file that is loaded")
    command: str = column("what is run, as a shell takes it")


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "run",
        help=__doc__.partition(": ")[2],
        description=__doc__ + "\n" + _ABOUT,
        epilog=describe_columns(Opened),
        usage="%(prog)s [options] -- COMMAND...",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help="name the missing ranks after a barrier has waited so many seconds (sets TOLLBAR_TIMEOUT)",
    )
    parser.add_argument("--mpi", choices=tuple(doors.PRELOADS), help="the MPI, where it cannot be recognized")
    parser.add_argument("--door", choices=("component", "preload"), help="the door (default: what fits best)")
    parser.add_argument("--dry-run", action="store_true", help="print what would be run, and do not run it")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="a launcher or a program")
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def run(args: argparse.Namespace) -> Table:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        raise WrongUse("a command is missing, such as: tollbar run -- mpirun -n 4 ./program")
    launcher = find_launcher(words)
    mpi = mpis.of_launcher(words[launcher]) if launcher is not None else None
    interface = args.mpi or interface_of(words[0 if launcher is None else launcher + 1 :], mpi)
    door, library, variables = open_door(interface, mpi, args.door)
    if args.timeout is not None:
        variables["TOLLBAR_TIMEOUT"] = f"{args.timeout:g}"
    command, environment = pass_on(variables, words, launcher, mpi)
    if args.dry_run:
        shown = shlex.join([*(f"{name}={value}" for name, value in environment.items()), *command])
        return Table([Opened(interface, door, str(library), shown)], text=shown)
    if launcher is not None and mpi is not None and mpi.family == "openmpi":
        explain(words[launcher + 1 :])
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, {**os.environ, **environment})
    except OSError as error:
        raise WrongUse(f"{command[0]}: {error.strerror}") from None


def explain(options: Sequence[str]) -> None:
    """Says what Open MPI will not do, and which of its options changes that."""
    if refusal := launching.refused_as_root(options, os.environ, os.geteuid()):
        raise WrongUse(refusal)
    if hint := launching.too_few_slots(options, os.environ, launching.usable_cores()):
        print(f"tollbar run: {hint}", file=sys.stderr)


def find_launcher(words: Sequence[str]) -> int | None:
    """Where in the command the launcher stands, perhaps behind `timeout 60`; None without any."""
    return next((at for at, word in enumerate(words) if _LAUNCHER.fullmatch(Path(word).name)), None)


def interface_of(words: Sequence[str], mpi: mpis.Mpi | None) -> str:
    """The binary interface of the first of the words that is linked with an MPI, else the launcher's."""
    linked = next(filter(None, map(mpis.interface_of, words)), None)
    if linked is None and mpi is None:
        raise WrongUse(
            f"which MPI? no program in the command is linked with one; give --mpi {'|'.join(doors.PRELOADS)}"
        )
    return linked or mpi.interface


def open_door(interface: str, mpi: mpis.Mpi | None, wanted: str | None) -> tuple[str, Path, dict[str, str]]:
    """The door, its library, and the variables that make programs of that interface load it."""
    component = None
    if interface == "openmpi" and mpi is not None and wanted != "preload":
        component = doors.component(mpi)
    if component is not None:
        return "component", component, {doors.COMPONENT_PATH: doors.component_path(mpi, component)}
    if wanted == "component":
        whose = mpi.name if mpi else "a program without mpirun"
        raise WrongUse(f"there is no {doors.COMPONENT} for {whose}; tollbar run --door preload needs none")
    library = doors.preload(interface)
    if library is None:
        raise WrongUse(f"{doors.PRELOADS[interface]} is not built; remedy: {paths.mend()}")
    others = os.environ.get("LD_PRELOAD")
    return "preload", library, {"LD_PRELOAD": f"{library}:{others}" if others else str(library)}


def pass_on(
    variables: Mapping[str, str], words: Sequence[str], launcher: int | None, mpi: mpis.Mpi | None
) -> tuple[list[str], dict[str, str]]:
    """The command and what its environment has besides ours, so that the ranks get the variables."""
    if launcher is None or mpi is None:  # srun gives its own environment to the ranks
        return list(words), dict(variables)
    ours = {name: value for name, value in sorted(os.environ.items()) if name.startswith("TOLLBAR_")}
    options = []
    for name, value in {**ours, **variables}.items():
        options += ["-x", f"{name}={value}"] if mpi.family == "openmpi" else ["-genv", name, value]
    return [*words[: launcher + 1], *options, *words[launcher + 1 :]], {}
