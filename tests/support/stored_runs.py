# SPDX-License-Identifier: Apache-2.0
"""Measuring programs and stored runs whose times are known, so that a test decides.

The fixtures are those of tests/python and lab/tests/python, whose conftest.py names them."""

import importlib
import json
import sys
from pathlib import Path

import pytest
import replay as replay_threads

_SUPPORT = Path(replay_threads.__file__).parent
_JOBS = _SUPPORT / "replay_job.py"
_JOB = '#!/bin/sh\nexec {} -S {} {} "$@"\n'
_MPI_PROGRAMS = ("tollbar-bench-mpi-openmpi", "tollbar-bench-mpi-mpich", "tollbar-bench-mpi-mpich5")


@pytest.fixture(scope="session")
def replay():
    """The module that makes up what measuring programs print."""
    return replay_threads


@pytest.fixture(scope="session")
def replay_nic():
    """The module that makes up runs between hosts and on their cards."""
    return importlib.import_module("replay_nic")


@pytest.fixture(scope="session")
def replay_crowd():
    """The same for threads on too few CPUs."""
    return importlib.import_module("replay_crowd")


@pytest.fixture
def crowded(replay_crowd, as_samples):
    """crowded({(candidate, compute_us): what is measured}): samples of 16 threads on 1 processor, three launches."""

    def gathered(measured, launches=3):
        visits = [
            replay_crowd.record(*candidate, compute_us, 0.0, **each)
            for (candidate, compute_us), each in measured.items()
        ]
        lines = list(map(json.loads, replay_crowd.launch(16, 1, visits)))
        return as_samples(*((number, "p", lines) for number in range(launches)))

    return gathered


@pytest.fixture
def programs(tmp_path, monkeypatch, replay):
    """A build folder in which replays lie in place of the measuring programs."""
    folder = tmp_path / "programs" / "bin"
    folder.mkdir(parents=True)
    for name in replay.PROGRAMS:
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} -S {replay.__file__} {name} "$@"\n')
        (folder / name).chmod(0o755)
    monkeypatch.setenv("TOLLBAR_BUILD", str(folder.parent))
    return folder


#: A launcher: takes its own options, tells the ranks how many they are, starts one for all of them.
_LAUNCHER = """#!/bin/sh
while [ "$1" != env ]; do if [ "$1" = -n ]; then export RANKS="$2"; fi; shift; done
test -z "$LD_PRELOAD" || exit 99
exec "$@" 2>/dev/null
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch, make_jobs):
    """Three MPIs whose launchers start replays, and tollbar's doors; gives the folder of the programs."""
    return make_jobs(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def make_jobs():
    """The maker of `jobs`, for longer than one test."""
    return _make_jobs


def _make_jobs(within, monkeypatch) -> Path:
    from tollbar.machine import mpi_hosts, mpis

    build, launchers = within / "build", within / "launchers"
    (build / "bin").mkdir(parents=True)
    launchers.mkdir()
    scripts = {build / "bin" / name: _JOB.format(sys.executable, _JOBS, name) for name in _MPI_PROGRAMS}
    scripts |= {launchers / name: _LAUNCHER for name in ("mpirun", "mpiexec", "mpiexec.hydra")}
    scripts[launchers / "ompi_info"] = "#!/bin/sh\necho mca:coll:tollbar:priority\n"
    for path, text in scripts.items():
        path.write_text(text)
        path.chmod(0o755)
    for name in ("mca_coll_tollbar.so", "libtollbar_mpi_openmpi.so", "libtollbar_mpi_mpich.so"):
        (build / name).touch()
    monkeypatch.setenv("TOLLBAR_BUILD", str(build))
    monkeypatch.setattr(mpi_hosts, "why_no_groups", lambda: None)
    there = [
        mpis.Mpi("openmpi", "4.1.4", launchers / "mpirun"),
        mpis.Mpi("mpich", "4.0.2", launchers / "mpiexec"),
        mpis.Mpi("impi", "2021.19", launchers / "mpiexec.hydra"),
    ]
    monkeypatch.setattr(mpis, "installed", lambda: there)
    return build / "bin"


@pytest.fixture(scope="session")
def as_samples():
    """Samples read of launches: as_samples((number, program, records), ..., kind="mpi")."""
    return _as_samples


def _as_samples(*launches, **environment):
    from tollbar.data import results, samples, schema

    launched = [
        results.Launched(number, program, schema.parse_launch(map(json.dumps, records), "somewhere"))
        for number, program, records in launches
    ]
    return samples.gather([results.Stored(Path("run"), environment, launched)])


def _programs_of(replay, ranks, placement, omit):
    """As a campaign has them."""
    from tollbar.campaigns.threads import SINGLES, Where

    singles = [name for name, single in SINGLES.items() if Where(ranks, placement) in single.situations]
    return [program for program in (*replay.BARRIERS, *singles) if program not in omit]


@pytest.fixture
def stored(tmp_path, replay):
    """Stores a run: stored(ranks=(2, 8), launches=10) -> its folder."""
    return _storing(tmp_path / "results", replay)


@pytest.fixture(scope="session")
def stored_once(tmp_path_factory, replay):
    """The folder of a run that nobody changes."""
    return _storing(tmp_path_factory.mktemp("results"), replay)(launches=12)


@pytest.fixture
def stored_beside(tmp_path, replay):
    """Stores a run beside neighbours: stored_beside(ranks=(8,), only="turnstile") -> its folder."""
    from tollbar.data import results
    from tollbar.machine import facts as machine

    def store(
        ranks=(2, 8), neighbours=("alone", "neighbour"), workloads="0,20~0.5", only="", launches=3,
        kind="threads", began="2025-01-02T00:00:00Z", placements=("free", "pinned"),
    ) -> Path:  # fmt: skip
        run = results.new_run(tmp_path / "results", kind)
        about = {"kind": kind, "began": began, "beside": neighbours, "workloads": workloads.split(",")}
        results.write_environment(run, machine.facts() | about | {"load": [0.1, 0.1, 0.1]})
        there = [(each, placement, beside) for each in ranks for placement in placements for beside in neighbours]
        for group, (each, placement, beside) in enumerate(there * launches):
            runs = [("tollbar-bench-threads", "auto")]
            if not only:
                runs += [("tollbar-bench-threads", wait) for wait in ("spin", "yield", "park")]
                runs += [("tollbar-bench-omp-gomp", "auto"), ("tollbar-bench-omp-omp", "auto")]
            for program, wait in runs:
                names = only or ("tollbar::barrier" if wait != "auto" else "")
                told = replay.turns(program, each, placement, 1, group, names, beside, workloads, wait)
                text = "".join(json.dumps(record) + "\n" for record in told)
                results.write_launch(run, group, program if wait == "auto" else f"{program}.{wait}", text)
        return run

    return store


def _storing(results_folder, replay):
    from tollbar.data import results
    from tollbar.machine import facts as machine

    def store(ranks=(2, 4, 8), launches=10, rounds=3, within=results_folder, omit=()) -> Path:
        run = results.new_run(within, "threads")
        results.write_environment(
            run, machine.facts() | {"seed": 1, "began": "2025-01-01T00:00:00Z", "load": [0.1, 0.1, 0.1]}
        )
        situations = [(each, placement) for each in ranks for placement in ("pinned", "free")] * launches
        for group, (each, placement) in enumerate(situations):
            for program in _programs_of(replay, each, placement, omit):
                text = replay.text(program, each, placement, rounds, group)
                results.write_launch(run, group, program, text)
        return run

    return store
