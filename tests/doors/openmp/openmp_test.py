# SPDX-License-Identifier: Apache-2.0
"""Programs on libgomp (GCC) and on libomp (clang) give the same results with tollbar's preload as without."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from code_places import PLACE
from needs import left_out
from tollbar.campaigns import passes
from tollbar.campaigns import threads as campaign
from tollbar.campaigns.campaign import Request
from tollbar.cli import doctor
from tollbar.data import results
from tollbar.machine import doors, paths

HERE = Path(__file__).resolve().parent
DOOR = paths.find_library(doors.THREADS["openmp"])
RUNTIMES = {"libgomp": ("g++",), "libomp": ("clang++-14", "clang++")}
LIBGOMP = next(iter(sorted(Path("/usr/lib").glob("*/libgomp.so.1"))), None)

pytestmark = pytest.mark.needs(DOOR, "libtollbar_openmp.so is not built")

ROWS = re.findall(r'\{"(\w+)", ', (HERE / "rows.cpp").read_text())
LATE_S = 60


class Programs:
    """The programs of one runtime, each compiled once."""

    def __init__(self, runtime: str, folder: Path) -> None:
        self.runtime, self.folder = runtime, folder
        self.compiler = next(filter(None, map(shutil.which, RUNTIMES[runtime])), None)
        if self.compiler is None:
            left_out(f"no compiler for {runtime}")
        library = self.folder / "probe"
        library.write_text("#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n")
        probe = [self.compiler, "-x", "c++", "-fopenmp", library, "-o", self.folder / "probed"]
        if subprocess.run(probe, capture_output=True).returncode != 0:
            left_out(f"{runtime} is not installed")

    def made(self, source: str, *words: str | Path, name: str = "") -> Path:
        program = self.folder / (name or Path(source).stem)
        if not program.exists():
            flags = [self.compiler, "-std=c++20", "-O2", f"-I{HERE}"]
            subprocess.run([*flags, HERE / source, "-o", program, *(words or ["-fopenmp"])], check=True)
        return program

    def library(self) -> Path:
        """The runtime's file."""
        linked = subprocess.run(["ldd", self.made("rows.cpp")], capture_output=True, text=True).stdout
        return Path(re.search(rf"{self.runtime}\S* => (\S+)", linked)[1])


def variables(door: Path | None, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_", "TOLLBAR_"))}
    # Other tests run on the same CPUs.
    return {**kept, "OMP_WAIT_POLICY": "passive", **({"LD_PRELOAD": str(door)} if door else {}), **more}


def result(door: Path | None, program: Path, *words: object, **more: str) -> tuple[int, str]:
    done = subprocess.run(
        [program, *map(str, words)], env=variables(door, **more), capture_output=True, text=True, timeout=LATE_S
    )
    return done.returncode, done.stdout


def said(program: Path, *words: object, **more: str) -> str:
    done = subprocess.run(
        [program, *map(str, words)], env=variables(DOOR, TOLLBAR_VERBOSE="1", **more), capture_output=True,
        text=True, timeout=LATE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module", params=RUNTIMES)
def programs(request, tmp_path_factory) -> Programs:
    return Programs(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def gomp(tmp_path_factory) -> Programs:
    return Programs("libgomp", tmp_path_factory.mktemp("gomp"))


@pytest.fixture(scope="module")
def llvm(tmp_path_factory) -> Programs:
    return Programs("libomp", tmp_path_factory.mktemp("llvm"))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("row", ROWS)
def test_a_construct_has_the_same_result_and_nobody_leaves_it_early(programs, row, threads):
    program = programs.made("rows.cpp")
    with_door = result(DOOR, program, row, threads)
    assert with_door[0] == 0, with_door[1]
    assert with_door == result(None, program, row, threads)


@pytest.mark.parametrize("policy", ["spin", "yield", "park"])
def test_threads_wait_as_they_are_told(programs, policy):
    assert result(DOOR, programs.made("rows.cpp"), "barrier", 2, TOLLBAR_WAIT=policy) == (0, "0 early, 0\n")


@pytest.mark.parametrize("threads", [2, 4])
def test_thirty_random_programs_have_the_same_results(programs, threads):
    words = (programs.made("random.cpp"), 1, 30, threads)
    with_door = result(DOOR, *words)
    assert with_door[0] == 0, with_door[1]
    assert with_door == result(None, *words)


@pytest.mark.deep
@pytest.mark.parametrize("threads", [2, 3, 4, 8])
@pytest.mark.parametrize("first", range(1000, 2000, 100))
def test_a_thousand_random_programs_have_the_same_results(programs, first, threads):
    words = (programs.made("random.cpp"), first, 100, threads)
    with_door = result(DOOR, *words)
    assert with_door[0] == 0, with_door[1]
    assert with_door == result(None, *words)


def test_where_regions_can_be_cancelled_the_runtime_keeps_its_barriers(programs):
    words = (programs.made("random.cpp"), 1, 20, 3)
    assert "OMP_CANCELLATION is on" in said(*words, OMP_CANCELLATION="true")
    assert result(DOOR, *words, OMP_CANCELLATION="true") == result(None, *words, OMP_CANCELLATION="true")


def test_with_tools_that_follow_its_events_libomp_keeps_its_barriers(llvm):
    line = said(llvm.made("rows.cpp"), "barrier", 2, OMP_TOOL_LIBRARIES="/nowhere/tool.so")
    assert "keeps its own barriers: OMP_TOOL_LIBRARIES names tools" in line


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_each_thread_gets_the_share_of_a_static_loop_that_libomp_gives_it(llvm, threads):
    code, line = result(DOOR, llvm.made("loops.cpp"), threads)
    assert (code, re.sub(r"\d{6}", "all", line)) == (0, "0 of all differ, dealt out by tollbar\n")


@pytest.mark.parametrize(("name", "value"), [("KMP_SCHEDULE", "static,greedy"), ("KMP_CONSISTENCY_CHECK", "all")])
def test_libomp_deals_out_static_loops_where_its_variables_concern_them(llvm, name, value):
    line = result(DOOR, llvm.made("loops.cpp"), 3, "who", **{name: value})[1]
    assert line == "0 of 0 differ, dealt out by the runtime\n"


def test_each_runtime_that_is_served_is_named_once(programs):
    lines = said(programs.made("rows.cpp"), "barrier", 2).splitlines()
    assert len(lines) == 1
    assert re.search(rf"{programs.runtime}\S* inside parallel regions are tollbar's$", lines[0])


def test_a_program_without_openmp_is_left_alone():
    done = subprocess.run(["/bin/echo", "all"], env=variables(DOOR, TOLLBAR_VERBOSE="2"), capture_output=True)
    assert (done.stdout, done.stderr) == (b"all\n", b"")


def test_regions_of_old_compilers_are_served(gomp, llvm):
    for programs in (gomp, llvm):
        program = programs.made("older.cpp")
        assert result(DOOR, program) == (0, "0 early, 1000\n")


def test_code_of_gcc_on_libomp_is_served(gomp, llvm, tmp_path):
    part = gomp.made("rows.cpp", "-fopenmp", "-c", name="rows.o")
    program = tmp_path / "rows"
    subprocess.run(["g++", part, llvm.library(), "-o", program], check=True)
    for row in ("barrier", "copyprivate", "loop_dynamic", "sections", "tasks_of_single", "nested"):
        assert result(DOOR, program, row, 3) == result(None, program, row, 3)
    assert "libomp" in said(program, "barrier", 2)


@pytest.mark.parametrize("threads_of_child", [1, 3])
def test_a_child_of_fork_works_as_without_the_door(programs, threads_of_child):
    if programs.runtime == "libgomp" and threads_of_child > 1:
        pytest.skip("libgomp hangs in a child of fork, with and without the door")
    program = programs.made("forks.cpp")
    assert result(DOOR, program, threads_of_child) == result(None, program, threads_of_child) == (0, "0 early\n")


@pytest.fixture
def plugins(gomp) -> list[Path]:
    """Each with a copy of libgomp that has another name, as wheels bring it."""
    if LIBGOMP is None:
        left_out("libgomp.so.1 is not installed")
    words = ("-fopenmp", "-fPIC", "-fno-gnu-unique", "-c")  # or else a plugin could not be unloaded
    part = gomp.made("plugin.cpp", *words, name="plugin.o")
    made = []
    for name in (b"libg0mp.so.1", b"libg1mp.so.1"):
        copy = gomp.folder / name.decode()
        copy.write_bytes(LIBGOMP.resolve().read_bytes().replace(b"\0libgomp.so.1\0", b"\0" + name + b"\0"))
        made.append(gomp.folder / f"plugin_{copy.stem}")
        subprocess.run(["g++", "-shared", part, copy, "-Wl,-rpath,$ORIGIN", "-o", made[-1]], check=True)
    return made


def test_plugins_with_runtimes_of_their_own_are_served_by_those(gomp, plugins):
    host = gomp.made("host.cpp", "-ldl", name="host")
    assert result(DOOR, host, *plugins) == result(None, host, *plugins) == (0, "0 missing\n")
    lines = said(host, *plugins)
    assert "libg0mp.so.1 inside parallel regions are tollbar's" in lines
    assert "libg1mp.so.1 inside parallel regions are tollbar's" in lines


def test_plugins_of_a_program_with_a_runtime_are_served_by_that_one(gomp, plugins):
    host = gomp.made("host.cpp", "-ldl", "-fopenmp", name="host_with_openmp")
    lines = said(host, plugins[0], plugins[0], TOLLBAR_WAIT="park")
    assert re.fullmatch(r"tollbar: the barriers of \S*libgomp.so.1 inside parallel regions are tollbar's\n", lines)


@pytest.fixture
def plugins_of_two_compilers(gomp, llvm) -> list[Path]:
    words = ("-fopenmp", "-fPIC", "-shared")
    return [programs.made("plugin.cpp", *words, name="own_plugin") for programs in (gomp, llvm)]


def test_a_plugin_that_takes_the_place_of_another_is_served_by_its_own_runtime(gomp, plugins):
    program = gomp.made("many.cpp", "-ldl", name="many")
    assert result(DOOR, program, "closed", *plugins * 3) == (0, "0 missing\n")


def test_three_hundred_plugins_are_served(gomp, plugins):
    copies = [gomp.folder / f"plugin_{number}" for number in range(300)]
    for copy in copies:
        if not copy.exists():
            shutil.copy(plugins[0], copy)
    program = gomp.made("many.cpp", "-ldl", name="many")
    assert result(DOOR, program, "kept", *copies) == (0, "0 missing\n")


def test_a_league_gets_all_that_its_teams_have_captured(llvm):
    program = llvm.made("leagues.cpp")
    assert result(DOOR, program) == result(None, program) == (0, "0 wrong\n")


def test_both_runtimes_are_served_in_one_process(gomp, plugins_of_two_compilers):
    host = gomp.made("host.cpp", "-ldl", name="host")
    for words in (plugins_of_two_compilers, plugins_of_two_compilers[::-1]):
        assert result(DOOR, host, *words) == result(None, host, *words) == (0, "0 missing\n")
        lines = said(host, *words)
        for runtime in RUNTIMES:
            assert re.search(rf"{runtime}\S* inside parallel regions are tollbar's", lines)


def test_code_of_another_runtime_inside_a_region_keeps_nobody_who_is_watched(gomp, plugins_of_two_compilers):
    host = gomp.made("host.cpp", "-ldl", name="host")
    for words in (plugins_of_two_compilers, plugins_of_two_compilers[::-1]):
        for inside in ("master", "all"):
            assert result(DOOR, host, *words, inside, TOLLBAR_TIMEOUT="30") == (0, "0 missing\n")


def test_the_missing_are_told_from_those_who_have_called_another_runtime(gomp, plugins_of_two_compilers):
    late = subprocess.Popen(
        [gomp.made("host.cpp", "-ldl", name="host"), *plugins_of_two_compilers, "late"], stdin=subprocess.PIPE,
        env=variables(DOOR, TOLLBAR_TIMEOUT="0.2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    line = late.stderr.readline()
    out, rest = late.communicate()
    assert (late.returncode, out) == (0, "0 missing\n"), rest
    assert re.search(r" s: thread 2 \(thread ID \d+\) has not arrived, its last barrier was at .*\n", line), line


def test_plugins_that_are_bound_to_their_own_libraries_first_go_round_the_door(gomp, plugins_of_two_compilers):
    host = gomp.made("host.cpp", "-ldl", name="host")
    assert result(DOOR, host, *plugins_of_two_compilers, "deep") == (0, "0 missing\n")
    assert said(host, *plugins_of_two_compilers, "deep") == ""


def test_a_runtime_that_has_learned_to_open_regions_otherwise_keeps_its_barriers(gomp, tmp_path):
    library = gomp.made("later.cpp", "-shared", "-fPIC", name="liblater.so")
    program = gomp.made("late.cpp", "-fopenmp", "-c", name="late.o")
    linked = gomp.folder / "late_on_later"
    subprocess.run(["g++", program, library, f"-Wl,-rpath,{gomp.folder}", "-o", linked], check=True)
    line = said(linked)
    assert "liblater.so keeps its own barriers: tollbar does not know its GOMP_parallel_quantum" in line
    place = tmp_path / "usr" / "lib" / "later" / "libgomp.so.1"
    place.parent.mkdir(parents=True)
    shutil.copy(library, place)
    found = {row.what: row for row in doctor._openmp(tmp_path, doors.THREADS["openmp"])}["OpenMP on libgomp"]
    assert found.why == f"{place} keeps its own barriers: tollbar does not know its GOMP_parallel_quantum"


@pytest.mark.parametrize("where", ["tollbar's", "tasks", "end"])
def test_the_missing_are_named_again_and_again(programs, where):
    late = subprocess.Popen(
        [programs.made("late.cpp"), where], env=variables(DOOR, TOLLBAR_TIMEOUT="0.2"), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lines = [late.stderr.readline(), late.stderr.readline()]
    out, rest = late.communicate()
    assert (late.returncode, out) == (0, "over\n"), rest
    pattern = (
        rf"tollbar: OpenMP barrier of 4 threads of process {late.pid} at (the end of )?{PLACE}: "
        r"thread [013] has waited \d+\.\d s: "
        rf"thread 2 \(thread ID \d+\) has not arrived, its last barrier was at (the end of )?{PLACE}\n"
    )
    for line in lines:
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_command_measures_the_preload_beside_the_runtime_itself(runtime, tmp_path):
    names = {f"{runtime}{loop}{door}" for loop in ("", "_for") for door in ("", "_door")}
    runnable, notes = campaign.programs(list(names))
    if notes:
        left_out(notes[0])
    request = Request(ranks=(2,), placements=("free",), launches=1, budget_s=5, only=sorted(names))
    work = campaign.Threads(request, runnable, campaign.wanted(request))
    outcome = passes.measure(work, [], tmp_path, lambda *_: None)
    assert not outcome.failures
    launches = results.read(outcome.folder).launches
    kinds = {batch["name"]: batch["kind"] for launch in launches for batch in launch.records["batch"]}
    assert kinds == {name: "barrier" if name.endswith("_door") else "peer" for name in names}
