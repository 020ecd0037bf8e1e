# SPDX-License-Identifier: Apache-2.0
"""tollbar run: runs a program with tollbar's barriers in place of those of its MPI, OpenMP or threads."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar import environment
from tollbar.cli import accounting, arguments, on_hang, step_runs
from tollbar.cli.accounting import Waited
from tollbar.cli.errors import WrongUse
from tollbar.cli.step_runs import Company
from tollbar.cli.table import Table, column, describe_columns
from tollbar.look import gathered
from tollbar.machine import (
    child,
    commands,
    cpus,
    doors,
    extras,
    keeper,
    launching,
    mpis,
    openmp,
    paths,
    programs,
    steps,
)

_ABOUT = """
An MPI program gets the Open MPI component where it fits, else a preload. Any other gets that of its OpenMP
runtime, of pthread_barrier_wait, or both where its file does not tell; what its other waits need is set
unless you have (TOLLBAR_VERBOSE=1 says it). All ranks have each TOLLBAR_ variable; the exit code is theirs.

  tollbar run --timeout 10 -- mpirun -n 4 ./program   names the ranks that keep others waiting for 10 s
"""

#: The name for programs without an MPI.
THREADS = "threads"

#: The runtimes of sanitizers, which want to be the first libraries of a process.
_SANITIZER = re.compile(r"lib(?:a|t|l|ub|hwa)san\.so|libclang_rt\.\w+san")
#: The root folder, behind the folder of glibc itself: its loader finds it, and musl's knows no $LIB.
_FOR_GLIBC_ALONE = "/$LIB/../../.."


@dataclass(frozen=True)
class Opened:
    mpi: str = column(
        "whose programs are served: openmpi, mpich (Intel MPI too), abi (the standard's); threads: no MPI"
    )
    door: str = column("component or preload; none where none fits the program")
    library: str = column("the file that is loaded, several with a colon between")
    command: str = column("what is run, as a shell takes it")


def _something(command: str) -> str:
    if not command.strip():
        raise argparse.ArgumentTypeError("it is `kill` or a shell command, and not empty")
    return command


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "run",
        help=__doc__.partition(": ")[2],
        description=__doc__ + "\n" + _ABOUT,
        epilog=describe_columns(Opened) + "\n\n--report has these " + describe_columns(Waited),
        usage="%(prog)s [options] -- COMMAND...",
    )
    parser.add_argument(
        "--timeout",
        type=arguments.number(float, arguments.ABOVE_0, what="number of seconds"),
        metavar="S",
        help="name who is missing for so many seconds (TOLLBAR_TIMEOUT)",
    )
    parser.add_argument(
        "--on-hang",
        type=_something,
        metavar="COMMAND",
        help=f"two time-outs later, the same missing: `kill` (exit code {on_hang.HUNG}), or a shell command: "
        "report on stdin, PID as $1",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="who waited how long for whom, at an MPI job's end: a page (.html), .json, .csv, else a table (-: stderr)",
    )
    parser.add_argument(
        "--door", choices=("component", "preload", *doors.PRELOADS, *doors.THREADS), metavar="DOOR",
        help="component, preload, or the preload of openmpi, mpich, abi, openmp or pthread "
        "(default: what fits best)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="print what would be run, and do not run it")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="a launcher or a program")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        raise WrongUse("a command is missing, such as: tollbar run -- mpirun -n 4 ./program")
    report = args.report or environment.value("TOLLBAR_REPORT") or ""
    watches = bool(report or _timeout(args))
    parts = commands.parse(words)
    launcher = parts.launcher
    mpi = mpis.of_launcher(words[launcher]) if launcher is not None else None
    interface = interface_of(parts, mpi, args.door)
    shut = next(filter(None, (programs.shut(word, bool(args.door)) for word in [words[0], *parts.names])), "")
    libraries: list[Path] = []
    door, library = "none", ""
    variables: dict[str, str] = {}
    if shut:
        tell(shut)
    elif interface == THREADS:
        door = "preload"
        libraries, variables = open_for_threads(parts.names, args.door)
        library = ":".join(map(str, libraries))
    else:
        door, library, variables = open_door(interface, mpi, args.door)
        libraries = [Path(library)] if door == "preload" else []
        if door == "component" and watches and (watch := watched(interface)):
            libraries = [watch]
            library = f"{watch}:{library}"
    variables = preloaded(libraries, interface != THREADS) | variables
    is_preloaded = interface in doors.PRELOADS and doors.PRELOADS[interface] in library
    place = place_in_step(parts) if is_preloaded else None
    is_watched = is_preloaded and (launcher is not None or place is not None) and watches
    if args.report and not is_watched:
        raise WrongUse("--report is about the ranks of an MPI, which a launcher starts")
    is_writer = place is None or place.rank == 0
    if args.report and is_writer and (problem := accounting.unwritable(args.report)):
        raise WrongUse(problem)
    if report.endswith(".html") and (lacking := extras.missing()):
        raise WrongUse(f"a page needs {', '.join(lacking)}; remedy: {extras.remedy(lacking)}")
    if is_watched and (environment.value("TOLLBAR_REPORT") or "").endswith(accounting.FORMS):
        os.environ.update(TOLLBAR_REPORT="-")  # lines of missing ranks would spoil it
    tell(" ".join(f"{name}={value}" for name, value in variables.items()))
    if _timeout(args) and args.on_hang is None:
        tell(scope_of(interface, library))
    if args.timeout is not None:
        variables["TOLLBAR_TIMEOUT"] = f"{args.timeout:g}"
    command, given = pass_on(variables, parts, mpi)
    if args.dry_run:
        shown = shlex.join([*(f"{name}={value}" for name, value in given.items()), *command])
        return Table([Opened(interface, door, library, shown)], text=shown)
    if mpi is not None and mpi.family == "openmpi":
        explain(parts.options)
    sys.stdout.flush()
    timeout_s = _timeout(args)
    if args.on_hang is not None and not timeout_s:
        raise WrongUse("--on-hang needs to know when a wait is too long: --timeout S")
    accounts = is_watched and bool(report)
    secret = gathered.Secret(accounts) if is_watched or args.on_hang is not None else None
    together: contextlib.AbstractContextManager[Company]
    if place:
        together = step_runs.company(place, secret, args.on_hang is not None)
    else:
        together = contextlib.nullcontext(step_runs.alone(kept_for(parts, mpi) if is_preloaded else None, secret))
    with together as others:
        tell(others.problem)
        given.update(others.variables)
        is_watched = is_watched and not others.problem
        if others.secret and mpi is not None and mpi.family == "openmpi":  # by its name: others may read a command
            command = commands.parse(command).with_options(["-x", others.secret.VARIABLE])
        kind = on_hang.Kind(by_launcher=launcher is not None or place is not None, of_ranks=is_watched)
        code, lines = start(command, given, others, kind, timeout_s, args.on_hang)
        if is_watched and report and not others.joined:
            accounting.write(lines, report, args.format, shlex.join(words))
    child.end_as(code)


def start(
    command: Sequence[str], given: dict[str, str], others: Company, kind: on_hang.Kind, timeout_s: float,
    wanted: str | None,
) -> tuple[int, list[str]]:  # fmt: skip
    """Runs the command in that company; gives its exit code, negative for a signal, and the lines of its account."""
    try:
        if others.joined and others.secret:
            return on_hang.pass_on(command, given, others.secret, others.joined), []
        if others.secret:
            return on_hang.supervise(command, given, timeout_s, wanted, kind, others.secret, others.kept)
        if others.kept:
            return keeper.run(command, given, others.kept), []
        child.execute(command, given)
    except OSError as error:
        raise WrongUse(programs.refusal(command[0], error.strerror or "")) from None


def place_in_step(parts: commands.Command) -> steps.Place | None:
    """The place of this run where each rank of a step of Slurm may have its own; None where a run is around it, or
    where its command starts ranks."""
    is_one_rank = parts.launcher is None and keeper.Keeper.VARIABLE not in os.environ
    return steps.place(os.environ) if is_one_rank else None


def kept_for(parts: commands.Command, mpi: mpis.Mpi | None) -> keeper.Keeper | None:
    """A keeper where the command may have srun start ranks; None where they need none, or none can be had."""
    if not keeper.is_wanted(parts, mpi, os.environ):
        return None
    try:
        return keeper.Keeper()
    except OSError as error:
        tell(f"ranks of srun cannot ask this run whether all have the library: {error.strerror}")
        return None


def _timeout(args: argparse.Namespace) -> float:
    return args.timeout or float(environment.value("TOLLBAR_TIMEOUT") or 0)


def explain(options: Sequence[str]) -> None:
    """Says what Open MPI will not do, and which of its options changes that."""
    if refusal := launching.refused_as_root(options, os.environ, os.geteuid()):
        raise WrongUse(refusal)
    if hint := launching.too_few_slots(options, os.environ, launching.usable_cores()):
        print(f"tollbar run: {hint}", file=sys.stderr)


def interface_of(parts: commands.Command, mpi: mpis.Mpi | None, wanted: str | None) -> str:
    """The binary interface of the door that the user wants, else of the first program that is linked with an MPI, else
    the launcher's; THREADS where there is none."""
    if wanted in doors.THREADS:
        return THREADS
    if wanted in doors.PRELOADS:
        return wanted
    known = ((word, interface) for word in parts.names if (interface := mpis.interface_of(word)))
    program, linked = next(known, (None, None))
    first = parts.words[0]
    if linked is None and mpi is not None:
        return mpi.interface
    if linked is None and shutil.which(first) is None:
        raise WrongUse(programs.refusal(first))
    if linked is None and parts.launcher is None:
        return THREADS
    if linked is None:
        raise WrongUse(
            f"which MPI? no program in the command is linked with one; give --door {'|'.join(doors.PRELOADS)}"
        )
    if mpi and {linked, mpi.interface} == {"openmpi", "mpich"}:
        raise WrongUse(
            f"{program} is linked with {linked}, and {mpi.launcher.name} starts ranks of {mpi.name}: each "
            f"would run alone; take the launcher of {linked}"
        )
    return linked


def open_for_threads(names: Sequence[str], wanted: str | None) -> tuple[list[Path], dict[str, str]]:
    """The libraries for a program's threads, and the variables that suit the CPUs."""
    linked = next((runtimes for name in names if (runtimes := openmp.of_program(name))), [])
    for name in names:
        if why := openmp.out_of_reach(name):
            tell(f"{name} keeps its own barriers: {why}")
    ways = [wanted] if wanted in doors.THREADS else linked or list(doors.THREADS)
    libraries = doors.of_threads(ways)
    if not libraries:
        missing = " and ".join(doors.THREADS["pthread" if way == "pthread" else "openmp"] for way in ways)
        raise WrongUse(f"{missing} is not built; remedy: {paths.mend()}")
    return libraries, openmp.settings(os.environ, cpus.usable()) if ways != ["pthread"] else {}


def preloaded(libraries: Sequence[Path], are_first: bool) -> dict[str, str]:
    """The variable that loads them beside what the user has loaded: behind it, so that a tool of the user's sees all
    calls and passes them on to us. Tools for MPI pass them on to the MPI, so those of an MPI are first; a sanitizer's
    runtime is in front of everything."""
    if not libraries:
        return {}
    others = [word for word in re.split(r"[: ]", os.environ.get("LD_PRELOAD", "")) if word]
    ours = [f"{_FOR_GLIBC_ALONE}{path}" if programs.has_musl() else str(path) for path in libraries]
    front = [word for word in others if not are_first or _SANITIZER.search(word)]
    return {"LD_PRELOAD": ":".join([*front, *ours, *(word for word in others if word not in front)])}


def tell(text: str) -> None:
    """Tells it where TOLLBAR_VERBOSE asks for that: the output of a program is its own."""
    if text and environment.value("TOLLBAR_VERBOSE") in ("1", "2"):
        print(f"tollbar run: {text}", file=sys.stderr)


def scope_of(interface: str, library: str) -> str:
    """The waits that a time-out is about."""
    seen = {"pthread": "pthread_barrier_wait", "openmp": "OpenMP's barriers inside of regions"}
    called = [what for way, what in seen.items() if doors.THREADS[way] in library]
    if interface != THREADS:
        called = ["the calls of the MPI" if "libtollbar_mpi_" in library else "MPI_Barrier"] if library else []
    what = ", ".join([*called, "barriers of tollbar"])
    return f"the time-out is for {what}; `tollbar who` looks at any other wait"


def open_door(interface: str, mpi: mpis.Mpi | None, wanted: str | None) -> tuple[str, str, dict[str, str]]:
    """The door, its library, and the variables that make programs of that interface load it."""
    if interface == "openmpi" and mpi is not None and wanted in (None, "component"):
        component = doors.component(mpi)
        if component is not None:
            return "component", str(component), {doors.COMPONENT_PATH: doors.component_path(mpi, component)}
    if wanted == "component":
        whose = mpi.name if mpi else "a program without mpirun"
        raise WrongUse(f"there is no {doors.COMPONENT} for {whose}; tollbar run --door preload needs none")
    library = doors.preload(interface)
    if library is None:
        raise WrongUse(f"{doors.PRELOADS[interface]} is not built; remedy: {paths.mend()}")
    return "preload", str(library), {}


def watched(interface: str) -> Path | None:
    """The preload, where it is built: beside the component it leaves the barriers to that, and watches every call."""
    watch = doors.preload(interface)
    if watch is None:
        print(f"tollbar run: {doors.PRELOADS[interface]} is not built: only barriers are watched", file=sys.stderr)
    return watch


def pass_on(
    variables: Mapping[str, str], parts: commands.Command, mpi: mpis.Mpi | None
) -> tuple[list[str], dict[str, str]]:
    """The command and what its environment has besides ours, so that the ranks get the variables."""
    if parts.launcher is None or mpi is None:  # srun gives its own environment to the ranks
        return list(parts.words), dict(variables)
    ours = {name: value for name, value in sorted(os.environ.items()) if name.startswith("TOLLBAR_")}
    every = {**ours, **variables}
    if mpi.family == "openmpi":
        return parts.with_options([word for name, value in every.items() for word in ("-x", f"{name}={value}")]), {}
    options = [word for name, value in every.items() for word in ("-genv", name, value)]
    behind = parts.launcher + 1
    return [*parts.words[:behind], *options, *parts.words[behind:]], {}
