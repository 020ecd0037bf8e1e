# SPDX-License-Identifier: Apache-2.0
"""tollbar run: runs a program with tollbar's barriers in place of those of its MPI, OpenMP or threads."""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar import environment
from tollbar.cli import arguments, on_hang, table
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns
from tollbar.data import accounts
from tollbar.look import gathered
from tollbar.machine import cpus, doors, extras, launching, mpis, openmp, paths

_ABOUT = """
An MPI program gets the Open MPI component where it fits, else a preload. Any other gets that of its OpenMP
runtime, of pthread_barrier_wait, or both where its file does not tell; what its other waits need is set
unless you have (TOLLBAR_VERBOSE=1 says it). All ranks have each TOLLBAR_ variable; the exit code is theirs.

  tollbar run --timeout 10 -- mpirun -n 4 ./program   names the ranks that keep others waiting for 10 s
"""

#: The name for programs without an MPI.
THREADS = "threads"

#: The endings of files of reports that are more than lines.
_FORMS = (".html", ".json", ".csv")

_LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|srun)(\.\w+)?")


@dataclass(frozen=True)
class Opened:
    mpi: str = column(
        "whose programs are served: openmpi, mpich (Intel MPI too), abi (the standard's); threads: no MPI"
    )
    door: str = column("component or preload")
    library: str = column("the file that is loaded, several with a colon between")
    command: str = column("what is run, as a shell takes it")


@dataclass(frozen=True)
class Waited:
    """All waits for one rank, at one call in one place."""

    call: str = column("the collective call")
    communicator: str = column("on which, and its ranks")
    at: str = column("where it was called: FILE+OFFSET, as addr2line takes it")
    late: str = column("who came last")
    ranks: int = column("how many waited for it there")
    waits: int = column("how often, all of them together")
    waited_s: float = column("for how long, all together")
    longest_s: float | None = column("the longest of these waits")
    by: str = column("the ranks that waited", detail=True)


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
        metavar="COMMAND",
        help=f"two time-outs later, with the same missing: `kill` (exit code {on_hang.HUNG}), or a shell command: "
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
    launcher = find_launcher(words)
    mpi = mpis.of_launcher(words[launcher]) if launcher is not None else None
    named = args.door if args.door in doors.PRELOADS else None
    is_threads = args.door in doors.THREADS or (launcher is None and named is None and has_no_mpi(words))
    interface = THREADS if is_threads else named or interface_of(words[0 if launcher is None else launcher + 1 :], mpi)
    if is_threads:
        door, library, variables = "preload", *open_for_threads(words, args.door)
    else:
        door, library, variables = open_door(interface, mpi, args.door)
        if report or _timeout(args):
            library, variables = watched(interface, library, variables)
    is_watched = launcher is not None and interface in doors.WATCHES and doors.WATCHES[interface] in library
    if args.report and not is_watched:
        raise WrongUse("--report is about the ranks of an MPI, which a launcher starts")
    if report.endswith(".html") and (lacking := extras.missing()):
        raise WrongUse(f"a page needs {', '.join(lacking)}; remedy: {extras.remedy(lacking)}")
    if is_watched and (environment.value("TOLLBAR_REPORT") or "").endswith(_FORMS):
        os.environ.update(TOLLBAR_REPORT="-")  # lines of missing ranks would spoil it
    say(variables)
    if args.timeout is not None:
        variables["TOLLBAR_TIMEOUT"] = f"{args.timeout:g}"
    command, given = pass_on(variables, words, launcher, mpi)
    if args.dry_run:
        shown = shlex.join([*(f"{name}={value}" for name, value in given.items()), *command])
        return Table([Opened(interface, door, library, shown)], text=shown)
    if launcher is not None and mpi is not None and mpi.family == "openmpi":
        explain(words[launcher + 1 :])
    sys.stdout.flush()
    timeout_s = _timeout(args)
    if args.on_hang is not None and not timeout_s:
        raise WrongUse("--on-hang needs to know when a wait is too long: --timeout S")
    secret = None
    if is_watched and launcher is not None:
        secret = gathered.Secret(accounts=bool(report))
        given[secret.VARIABLE] = secret.value
        if mpi is not None and mpi.family == "openmpi":  # by its name alone: others may read a command
            command[launcher + 1 : launcher + 1] = ["-x", secret.VARIABLE]
    if args.on_hang is not None or secret:
        code, lines = on_hang.supervise(command, given, timeout_s, args.on_hang, launcher is not None, secret)
        if report:
            write_account(lines, report, args.format, shlex.join(words))
        raise SystemExit(code)
    try:
        os.execvpe(command[0], command, {**os.environ, **given})
    except OSError as error:
        raise WrongUse(f"{command[0]}: {error.strerror}") from None


def _timeout(args: argparse.Namespace) -> float:
    return args.timeout or float(environment.value("TOLLBAR_TIMEOUT") or 0)


def write_account(lines: Sequence[str], file: str, form: str, command: str) -> None:
    """Writes what the ranks have told at their end, in the form that the file's name asks for, else in this one."""
    account = accounts.read(lines)
    if account is None:
        print("tollbar run: nothing to report: the ranks have not come to MPI_Finalize", file=sys.stderr)
        return
    rows = [
        Waited(
            *total.place, accounts.name_of(total.late), len(total.by), total.waits, total.waited_s, total.longest_s,
            " ".join(map(str, total.by)),
        )
        for total in account.sums
    ]  # fmt: skip
    if file.endswith(_FORMS):
        form = Path(file).suffix.removeprefix(".")
    text = io.StringIO()
    if form == "html":
        from tollbar.report import waits

        text.write(waits.of(account, command))
    else:
        table.write(Table(rows, Waited, digits=3), form, text)
    if file == "-":
        print(text.getvalue(), end="", file=sys.stderr)
    else:
        with Path(file).open("w" if file.endswith(_FORMS) else "a", encoding="utf-8") as out:
            out.write(text.getvalue())
    worst = next(iter(account.late().items()), None)
    said = f"{account.waited_s:.3g} s of all ranks in waiting for others"
    said += f", {worst[1]:.3g} s of it for {accounts.name_of(worst[0])}" if worst else ""
    print(f"tollbar run: {said}", file=sys.stderr)


def explain(options: Sequence[str]) -> None:
    """Says what Open MPI will not do, and which of its options changes that."""
    if refusal := launching.refused_as_root(options, os.environ, os.geteuid()):
        raise WrongUse(refusal)
    if hint := launching.too_few_slots(options, os.environ, launching.usable_cores()):
        print(f"tollbar run: {hint}", file=sys.stderr)


def find_launcher(words: Sequence[str]) -> int | None:
    """The place of the launcher in the command, perhaps behind `timeout 60`; None without any."""
    return next((at for at, word in enumerate(words) if _LAUNCHER.fullmatch(Path(word).name)), None)


def has_no_mpi(words: Sequence[str]) -> bool:
    """Whether the command is there and none of its words is a program that is linked with an MPI."""
    return shutil.which(words[0]) is not None and not any(map(mpis.interface_of, words))


def interface_of(words: Sequence[str], mpi: mpis.Mpi | None) -> str:
    """The binary interface of the first of the words that is linked with an MPI, else the launcher's."""
    known = ((word, interface) for word in words if (interface := mpis.interface_of(word)))
    program, linked = next(known, (None, None))
    if linked is None and mpi is not None:
        return mpi.interface
    if linked is None and shutil.which(words[0]) is None:
        raise WrongUse(f"there is no program {words[0]}")
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


def open_for_threads(words: Sequence[str], wanted: str | None) -> tuple[str, dict[str, str]]:
    """The libraries for a program's threads, and the variables that make it load them and suit the CPUs."""
    linked = next((runtimes for word in words if (runtimes := openmp.of_program(word))), [])
    for word in words:
        if why := openmp.out_of_reach(word):
            print(f"tollbar run: {word} keeps its own barriers: {why}", file=sys.stderr)
    ways = [wanted] if wanted in doors.THREADS else linked or list(doors.THREADS)
    libraries = doors.of_threads(ways)
    if not libraries:
        names = " and ".join(doors.THREADS["pthread" if way == "pthread" else "openmp"] for way in ways)
        raise WrongUse(f"{names} is not built; remedy: {paths.mend()}")
    variables = preloaded(libraries)
    if ways != ["pthread"]:
        variables |= openmp.settings(os.environ, cpus.usable())
    return ":".join(map(str, libraries)), variables


def preloaded(libraries: Sequence[Path]) -> dict[str, str]:
    """The variable that loads them in front of what the user has loaded."""
    others = os.environ.get("LD_PRELOAD")
    return {"LD_PRELOAD": ":".join([*map(str, libraries), *([others] if others else [])])}


def say(variables: Mapping[str, str]) -> None:
    """Tells what the program's environment gets, where TOLLBAR_VERBOSE asks for it."""
    if variables and environment.value("TOLLBAR_VERBOSE") in ("1", "2"):
        set_ = " ".join(f"{name}={value}" for name, value in variables.items())
        print(f"tollbar run: {set_}", file=sys.stderr)


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
    return "preload", str(library), preloaded([library])


def watched(interface: str, library: str, variables: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The same with the library in front that watches every collective call, where it is built."""
    watch = doors.watch(interface)
    if watch is None:
        print(f"tollbar run: {doors.WATCHES[interface]} is not built: only barriers are watched", file=sys.stderr)
        return library, dict(variables)
    others = variables.get("LD_PRELOAD") or os.environ.get("LD_PRELOAD")
    loaded = ":".join([str(watch), *([others] if others else [])])
    return f"{watch}:{library}", {**variables, "LD_PRELOAD": loaded}


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
