# SPDX-License-Identifier: Apache-2.0
"""tollbar doctor: says what works here, what does not, why, and the one command that mends it."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import tollbar
from tollbar import _native, environment
from tollbar.cli import doctor_mpi, doctor_shmem, nic_checks
from tollbar.cli.findings import ABSENT, BROKEN, OK, WRONG, Finding
from tollbar.cli.table import Table, verb
from tollbar.data import tuning
from tollbar.look import helper, processes
from tollbar.machine import cpus, doors, extras, kernel, openmp, paths

_TOOLS = {"g++": "g++", "clang++": "clang", "cmake": "cmake", "ninja": "ninja-build"}

#: The barriers that `tollbar bench threads` compares with: package, and files one of which must be there.
_PEERS = {
    "Concurrency Kit": ("libck-dev", ("usr/include/ck_barrier.h", "usr/local/include/ck_barrier.h")),
    "boost::barrier": (
        "libboost-thread-dev",
        ("usr/include/boost/thread/barrier.hpp", "usr/local/include/boost/thread/barrier.hpp"),
    ),
    "libgomp": ("libgomp1", ("usr/lib/*/libgomp.so.1", "usr/lib*/libgomp.so.1")),
    "libomp": ("libomp-14-dev", ("usr/lib/llvm-*/lib/libomp.so*", "usr/lib*/libomp.so*")),
}

_PROGRAMS = (
    "tollbar-bench-threads",
    "tollbar-bench-omp-gomp",
    "tollbar-bench-omp-omp",
    "tollbar-bench-processes",
    "tollbar-bench-cores",
    "tollbar-bench-idle",
)


def add_parser(commands) -> None:
    parser = verb(commands, "doctor", __doc__, Finding)
    parser.add_argument(
        "addresses",
        nargs="*",
        metavar="ADDRESS",
        help="of another host's network card, which must answer as those of barriers do (else exit code 1)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    answers = [nic_checks.answer(address) for address in args.addresses]
    rows = [
        _module(),
        *_libraries(),
        _packages(),
        *_processors(),
        *_calls(),
        _shared_memory(Path("/dev/shm")),
        *_tools(),
        *_programs(),
        *_peers(Path("/")),
        *_openmp(Path("/"), doors.THREADS["openmp"]),
        *doctor_mpi.findings(),
        *doctor_shmem.findings(),
        _looking(),
        _hosts(),
        *nic_checks.findings(_native.found_nicd_socket(), nic_checks.default_interface()),
        *answers,
        *_stored(),
        *_variables(),
    ]
    failed = any(row.state == BROKEN for row in rows) or any(row.state != OK for row in answers)
    return Table(rows, failed=failed)


def _module() -> Finding:
    name, native = "native module", tollbar.__version__
    built = f"version {native}, built by {tollbar._native.__compiler__}"
    from importlib import metadata  # slow to load, and nobody else needs it

    try:
        package = metadata.version("tollbar")
    except metadata.PackageNotFoundError:
        return Finding(name, OK, built + ", not installed as a package", None)
    if package != native:
        return Finding(name, BROKEN, f"{built}, but the package is version {package}", "make")
    return Finding(name, OK, built, None)


def _libraries() -> Iterator[Finding]:
    """The libraries that programs link or preload; the command itself needs none of them."""
    for name, file, loses in (
        ("libtollbar", "libtollbar.so", "programs cannot link it"),
        ("pthread barriers", doors.THREADS["pthread"], "programs keep glibc's barriers"),
    ):
        if path := paths.find_library(file):
            yield Finding(name, OK, f"LD_PRELOAD={path}" if file in doors.THREADS.values() else str(path), None)
        else:
            yield Finding(name, ABSENT, f"{file} is not built: {loses}", paths.mend())


def _packages() -> Finding:
    lacking = extras.missing()
    if lacking:
        why = f"{', '.join(lacking)} cannot be imported: no statistics, no report"
        return Finding("Python packages", ABSENT, why, extras.remedy(lacking))
    return Finding("Python packages", OK, ", ".join(extras.BENCH), None)


def _processors() -> Iterator[Finding]:
    usable = cpus.usable()
    yield Finding("usable CPUs", OK, f"{usable.cpus}: {usable.why}", None)
    try:
        grouped = Path("/proc/sys/kernel/sched_autogroup_enabled").read_text().strip() == "1"
    except OSError:
        grouped = False
    if grouped:
        why = "on: yielding does not reach threads of other sessions, so tollbar sleeps instead"
        yield Finding("autogroup", OK, why, None)
    else:
        yield Finding("autogroup", OK, "off", None)


def _calls() -> Iterator[Finding]:
    remedy = "allow the call {} in the sandbox or container, or run outside it"
    if problem := _native.futex_problem():
        yield Finding("futex", BROKEN, problem, remedy.format("futex"))
    else:
        yield Finding("futex", OK, "threads can sleep", None)
    if problem := _native.membarrier_problem():
        why = f"{problem}; each wake-up pays a memory fence instead"
        yield Finding("membarrier", ABSENT, why, remedy.format("membarrier"))
    else:
        yield Finding("membarrier", OK, "wake-ups need no memory fence", None)


def _shared_memory(folder: Path) -> Finding:
    name = "shared memory"
    if not os.access(folder, os.W_OK | os.X_OK):
        why = f"{folder} is missing or not writable: no groups between processes"
        return Finding(name, WRONG, why, f"sudo mount -t tmpfs -o mode=1777 tmpfs {folder}")
    usage = shutil.disk_usage(folder)
    room = f"{folder}: {usage.free >> 20} of {usage.total >> 20} MiB free"
    if usage.free < 1 << 20:
        return Finding(name, WRONG, room, f"sudo mount -o remount,size={(usage.total >> 20) + 64}M {folder}")
    return Finding(name, OK, room, None)


def _tools() -> Iterator[Finding]:
    for tool, package in _TOOLS.items():
        path = shutil.which(tool)
        remedy = f"sudo apt-get install -y {package}"
        yield Finding(tool, OK if path else ABSENT, path or "only needed to build", None if path else remedy)


def _programs() -> Iterator[Finding]:
    for name in _PROGRAMS:
        try:
            yield Finding(name, OK, str(paths.program(name)), None)
        except FileNotFoundError:
            yield Finding(name, ABSENT, "not built: what it measures is skipped", paths.mend())


def _peers(root: Path) -> Iterator[Finding]:
    for name, (package, patterns) in _PEERS.items():
        path = next((path for pattern in patterns for path in root.glob(pattern)), None)
        if path:
            yield Finding(name, OK, str(path), None)
        else:
            why = "not found: skipped in comparisons"
            yield Finding(name, ABSENT, why, f"sudo apt-get install -y {package}")


def _looking() -> Finding:
    """The finding about what `tollbar who` stands on."""
    name = "looking at programs"
    if remedy := helper.available():
        return Finding(name, ABSENT, "tollbar-look is not built: no tollbar who", remedy)
    scope = processes.scope()
    if os.geteuid() != 0 and scope:
        why = f"kernel.yama.ptrace_scope is {scope}: tollbar who sees programs only as root"
        return Finding(name, ABSENT, why, "sudo sysctl kernel.yama.ptrace_scope=0")
    if refused := helper.trial():
        return Finding(name, ABSENT, refused, None)
    whose = "of all users" if os.geteuid() == 0 else "of this user"
    return Finding(name, OK, f"tollbar who may look at programs {whose}", None)


def _openmp(root: Path, library: str) -> Iterator[Finding]:
    """A finding for each runtime of this machine: whether the preload serves it."""
    door = paths.find_library(library)
    if door is None:
        yield Finding("OpenMP programs", ABSENT, f"{library} is not built", paths.mend())
        return
    for runtime in ("libgomp", "libomp"):
        files = (path for pattern in _PEERS[runtime][1] for path in root.glob(pattern))
        if path := next(files, None):
            refusal = openmp.refusal(door, path)
            why = f"{path} keeps its own barriers: {refusal}" if refusal else f"{path} is served by {door}"
            yield Finding(f"OpenMP on {runtime}", ABSENT if refusal else OK, why, None)


def _hosts() -> Finding:
    """The ground on which `scripts/hosts` stands."""
    name = "network namespaces"
    if shutil.which("ip") is None:
        why = "the command ip is missing: no hosts made of network namespaces"
        return Finding(name, ABSENT, why, "sudo apt-get install -y iproute2")
    if kernel.lacking(*kernel.NAMESPACES):
        why = "no permission to create them: messages between hosts are not measured"
        return Finding(name, ABSENT, why, "run it as root, in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN")
    return Finding(name, OK, "can be created", None)


def _stored() -> Iterator[Finding]:
    """The folder and the file in which choices are stored."""
    try:
        yield _cache(environment.cache_folder())
        yield _tuning(environment.tuning_file())
    except _native.InvalidArgument as error:
        yield Finding("cache folder", WRONG, str(error), "export HOME=FOLDER, or TOLLBAR_TUNING=FILE")


def _cache(folder: Path) -> Finding:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        place = str(folder) + ("" if existing == folder else " (not created yet)")
        return Finding("cache folder", OK, place, None)
    why = f"{folder} is not writable: choices cannot be stored"
    return Finding("cache folder", WRONG, why, "export TOLLBAR_TUNING=FILE with a file you may write")


def _tuning(file: Path) -> Finding:
    name = "tuning file"
    if not file.exists():
        return Finding(name, ABSENT, f"{file} does not exist: the default plan is used", "tollbar tune")
    if not file.is_file():
        return Finding(name, WRONG, f"{file} is no file", "unset TOLLBAR_TUNING, or name a file")
    if not os.access(file, os.R_OK):
        return Finding(name, WRONG, f"{file} cannot be read", f"chmod u+rw {file}")
    try:
        tuning.read(file)
    except ValueError as error:
        return Finding(name, WRONG, f"{file}: {error}", f"rm {file} && tollbar tune")
    if not os.access(file, os.W_OK):
        return Finding(name, WRONG, f"{file} is read-only: `tollbar tune` cannot store", f"chmod u+w {file}")
    return Finding(name, OK, str(file), None)


def _variables() -> Iterator[Finding]:
    for setting in environment.settings():
        if setting.complaint:
            yield Finding(setting.name, WRONG, setting.complaint, f"unset {setting.name}")
        else:
            yield Finding(setting.name, OK, setting.value, None)
