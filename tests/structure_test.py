# SPDX-License-Identifier: Apache-2.0
"""The shape of the tree: which folder may include which, licence lines, lengths, no machine's own paths."""

import re
from pathlib import Path

import pytest
from sources import CODE, ROOT, includes, relative, tracked

# Which folders' headers a folder may include, besides its own:
# plan <- algorithms, analysis <- tuner <- doors; plan <- base <- waiting <- transports <- doors.
MAY_INCLUDE = {
    "plan": set(),
    "algorithms": {"plan"},
    "analysis": {"plan"},
    "base": {"plan"},
    "waiting": {"plan", "base"},
    "wire": {"plan", "base"},
    "missing": {"plan", "base", "wire"},
    "tuner": {"plan", "algorithms", "analysis", "base", "waiting"},
    "transports/words": {"plan", "base", "missing", "waiting"},
    "transports/mpi": {"plan", "base", "waiting"},
    "transports/shmem": {"plan", "base", "waiting"},
    "transports/udp": {"plan", "base", "missing", "waiting", "wire"},
    "transports/nic": {"plan", "base", "waiting", "wire"},
    "membership": {"plan", "algorithms", "base", "missing", "waiting", "wire", "transports/nic", "transports/udp"},
    "nicd": {"plan", "algorithms", "base", "waiting", "wire", "transports/nic", "membership"},
    "look": {"plan", "base", "missing", "waiting", "transports/words"},
    "doors/cxx": {"plan", "algorithms", "analysis", "tuner", "base", "waiting", "transports/words"},
    "doors/c": {
        "plan", "algorithms", "analysis", "tuner", "base", "missing", "waiting", "transports/words", "transports/udp",
    },
    "doors/nic": {"plan", "base", "missing", "waiting", "membership"},
    # Nodes that have network cards meet on them (docs/design/mpi.md).
    "communicator": {
        "plan", "algorithms", "analysis", "tuner", "base", "missing", "waiting", "transports/words", "transports/mpi",
        "wire", "membership",
    },
    "doors/pthread": {"plan", "base", "missing", "waiting"},
    "doors/shmem": {"plan", "algorithms", "analysis", "base", "missing", "waiting", "transports/shmem"},
    "doors/openmp": {"plan", "base", "missing", "waiting"},
    "doors/ompi_coll": {"base", "missing", "transports/mpi", "communicator"},
    "doors/pmpi": {"base", "missing", "wire", "transports/mpi", "communicator"},
    "doors/pmpi/watch": {"base", "missing", "waiting", "wire", "transports/mpi", "doors/pmpi"},
    "doors/hybrid": {
        "plan", "algorithms", "base", "missing", "waiting", "transports/words", "transports/mpi", "communicator",
    },
}  # fmt: skip

# Whose headers are compiled once for each MPI, and where those of one MPI alone may be named.
MAY_INCLUDE_FOREIGN = {
    r"mpi\.h|mpi_abi\.h": {"transports/mpi", "doors/pmpi", "doors/pmpi/watch", "doors/hybrid"},
    r"shmem\.h": {"transports/shmem", "doors/shmem"},
    r"(ompi|opal|orte)/.*|ompi_config\.h": {"doors/ompi_coll"},
}

# Rooms whose promise a public header states. Everything unlisted is of `waiting`.
HEADER_OF = {
    "plan.hpp": "plan",
    "detail/language.hpp": "plan",
    "algorithms.hpp": "algorithms",
    "verify.hpp": "analysis",
    "price.hpp": "analysis",
    "detail/checked.hpp": "base",
    "detail/deadline.hpp": "base",
    "detail/wait_policy.hpp": "base",
    "toll.h": "base",
    "detail/words.hpp": "transports/words",
    "participant.hpp": "transports/words",
    "barrier.hpp": "transports/words",
    "udp.hpp": "transports/udp",
    "udp.h": "doors/c",
    "tollbar.h": "base",
    "nic.h": "doors/nic",
    "mpi.hpp": "doors/hybrid",
    "mpi.h": "doors/hybrid",
    "shmem.h": "doors/shmem",
}

COMMENTED = CODE | {".cmake", ".toml", ".in"}
COMMENTED_NAMES = {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy"}


def folder_of(source: Path) -> str | None:
    """The folder of src/ a source file belongs to, as MAY_INCLUDE spells it."""
    parts = source.relative_to(ROOT / "src").parts[:-1]
    return next((name for name in ("/".join(parts[:n]) for n in (3, 2, 1)) if name in MAY_INCLUDE), None)


def owner_of(header: str) -> str:
    """The folder that the public header of that name belongs to."""
    return HEADER_OF.get(header, "waiting")


def wrong_includes(source: Path, folder: str) -> list[str]:
    allowed = MAY_INCLUDE[folder] | {folder}
    wrong = []
    for bracket, name in includes(source):
        if name.startswith("tollbar/"):
            owner = owner_of(name.removeprefix("tollbar/"))
        elif bracket == '"':
            beside = (source.parent / name).resolve()
            target = beside if beside.is_file() else ROOT / "src" / name
            owner = folder_of(target) if target.is_file() else f"(no file {name})"
        else:
            continue
        if owner not in allowed:
            wrong.append(f"{relative(source)} includes {name}, which is {owner}'s")
    return wrong


def sources_of_src() -> list[Path]:
    return [path for path in tracked() if relative(path).startswith("src/") and path.suffix in CODE]


def test_every_source_file_lies_in_a_folder_with_known_dependencies():
    assert [relative(path) for path in sources_of_src() if folder_of(path) is None] == []


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes_point_only_in_the_direction_of_dependencies(folder):
    wrong = []
    for path in sources_of_src():
        if folder_of(path) == folder:
            wrong += wrong_includes(path, folder)
    assert wrong == []


@pytest.mark.parametrize("headers", MAY_INCLUDE_FOREIGN)
def test_an_mpi_is_known_only_to_what_is_compiled_for_it(headers):
    knowing = [path for path in sources_of_src() if any(re.fullmatch(headers, name) for _, name in includes(path))]
    assert [relative(p) for p in knowing if folder_of(p) not in MAY_INCLUDE_FOREIGN[headers]] == []


def _take_for_the_tree(folder: Path, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", folder)
    monkeypatch.setattr("sources.ROOT", folder)


def test_an_include_against_the_direction_is_noticed(tmp_path, monkeypatch):
    source = tmp_path / "src" / "plan" / "wrong.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("#include <tollbar/price.hpp>\n#include <vector>\n")
    _take_for_the_tree(tmp_path, monkeypatch)
    said = "src/plan/wrong.cpp includes tollbar/price.hpp, which is analysis's"
    assert wrong_includes(source, "plan") == [said]


def test_plan_includes_only_the_standard_library_and_its_own_headers():
    own = {path.name for path in sources_of_src() if folder_of(path) == "plan"} | {
        "tollbar/plan.hpp",
        "tollbar/detail/language.hpp",
    }
    sources = [path for path in sources_of_src() if folder_of(path) == "plan"]
    named = {name for path in [*sources, ROOT / "include/tollbar/plan.hpp"] for _, name in includes(path)}
    assert {name for name in named - own if not re.fullmatch(r"[a-z_]+", name)} == set()


def cycle_in(needs: dict[str, set[str]]) -> list[str]:
    """Names each of which needs the next, and the last the first; empty where there are none."""
    done: set[str] = set()

    def follow(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        found = next(filter(None, (follow(other, [*path, name]) for other in sorted(needs.get(name, ())))), [])
        done.add(name)
        return found

    return next(filter(None, (follow(name, []) for name in sorted(needs))), [])


def included_by(path: Path) -> list[Path]:
    """The files of this tree that a file includes."""
    found = []
    for bracket, name in includes(path):
        places = [path.parent, ROOT / "src"] if bracket == '"' else [ROOT / "include"]
        found += [place / name for place in places if (place / name).is_file()][:1]
    return found


def test_no_file_includes_itself_by_way_of_others():
    files = [path for path in tracked() if relative(path).startswith(("src/", "include/"))]
    needs = {
        relative(path): {relative(other.resolve()) for other in included_by(path)}
        for path in files
        if path.suffix in CODE
    }
    assert cycle_in(needs) == []


# Folders in which a source and its header count as one, which no chain of includes or calls leads back to.
ONE_WAY = ["doors/pmpi", "doors/ompi_coll"]
DEFINED = re.compile(
    r"^(?!static|extern|typedef)\w[^;={}()]*\b(tollbar_\w+)(?:\([^;{}]*\) \{|(?: = [^;]*)?;)", re.MULTILINE
)


def needs_of(folder: Path) -> dict[str, set[str]]:
    """Whose headers and definitions each file of a folder needs there; files go by name, without ending."""
    texts = {path: path.read_text() for path in folder.glob("*.[ch]")}
    homes: dict[str, set[str]] = {}
    for path, text in texts.items():
        for name in DEFINED.findall(text) if path.suffix == ".c" else ():
            homes.setdefault(name, set()).add(path.stem)
    needs: dict[str, set[str]] = {path.stem: set() for path in texts}
    for path, text in texts.items():
        needs[path.stem] |= {other.stem for other in included_by(path) if other.parent == folder}
        for name in set(re.findall(r"\btollbar_\w+", text)) if path.suffix == ".c" else ():
            home = homes.get(name, set())
            needs[path.stem] |= set() if path.stem in home else home
    return {name: others - {name} for name, others in needs.items()}


@pytest.mark.parametrize("folder", ONE_WAY)
def test_no_file_of_a_door_in_c_needs_itself_by_way_of_others(folder):
    needs = needs_of(ROOT / "src" / folder)
    assert sum(map(len, needs.values())) > len(needs)
    assert cycle_in(needs) == []


def test_a_call_back_into_a_file_above_is_noticed(tmp_path, monkeypatch):
    _take_for_the_tree(tmp_path, monkeypatch)
    (tmp_path / "below.c").write_text("void tollbar_below(void) {\n    tollbar_above();\n}\n")
    (tmp_path / "above.c").write_text('#include "below.h"\nvoid tollbar_above(void) {\n}\n')
    (tmp_path / "below.h").write_text("void tollbar_above(void);\n")
    assert cycle_in(needs_of(tmp_path)) == ["above", "below"]


# How a plan's peers are reckoned; whoever runs a barrier is given its words.
RECKONING = re.compile(r"\bstride\b|\b1U?L* << (round|level)|\*= 2\b")


def test_no_door_to_an_mpi_reckons_with_whom_a_rank_talks():
    doors = [path for path in sources_of_src() if folder_of(path) in (*ONE_WAY, "doors/hybrid", "communicator")]
    assert [relative(path) for path in doors if RECKONING.search(path.read_text())] == []


def test_public_headers_include_only_in_the_direction_of_dependencies():
    wrong = []
    for path in sorted((ROOT / "include" / "tollbar").rglob("*.h*")):
        wrong += wrong_includes(path, owner_of(path.relative_to(ROOT / "include" / "tollbar").as_posix()))
    assert wrong == []


def test_every_source_file_opens_with_its_licence():
    def opening(path: Path) -> str:
        return "\n".join(path.read_text().split("\n")[:2])  # the second line where the first is #!

    files = [p for p in tracked() if p.suffix in COMMENTED or p.name in COMMENTED_NAMES or is_script(p)]
    assert [relative(p) for p in files if "SPDX-License-Identifier: Apache-2.0" not in opening(p)] == []


def is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def test_no_source_file_is_longer_than_400_lines():
    lengths = {relative(p): p.read_text().count("\n") for p in tracked() if p.suffix in CODE}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_tracked_file_names_a_path_of_one_machine():
    own_path = re.compile(rb"(?<![\w.~$}/-])/(home|root|work)/(?!somebody\b)\w")
    assert [relative(p) for p in tracked() if own_path.search(p.read_bytes())] == []


def test_no_file_is_empty_but_for_what_python_looks_for():
    """A program that was run in a checkout leaves such files behind."""
    empty = {relative(p) for p in tracked() if p.stat().st_size == 0}
    assert {name for name in empty if not name.endswith(("/__init__.py", "/py.typed"))} == set()


def naming(pattern: str, *folders: str) -> set[str]:
    """The files of those folders whose code has it."""
    found = re.compile(pattern)
    files = [p for p in tracked() if p.suffix in CODE and relative(p).startswith(folders)]
    return {relative(p) for p in files if found.search(re.sub(r"//.*|/\*.*?\*/", "", p.read_text()))}


def test_no_wait_takes_a_guard_that_a_child_of_fork_may_find_taken():
    """A value that is found out once on the way to a wait is in a Once (src/base/once.hpp): a static that needs code
    to begin has a guard, which another thread of the parent may hold at that moment."""
    guarded = r"(?m)^ +static (?!constexpr|constinit)[\w:<>&* ]+ \w+ = [^;]*\("
    doors = ("src/doors/pthread/", "src/doors/openmp/", "src/transports/words/", "src/tuner/tuning.cpp")
    on_the_way = ("src/waiting/", "src/base/", *doors, "include/tollbar/")
    assert naming(guarded, *on_the_way) == set()


def test_a_hash_that_processes_compare_is_the_same_in_every_program():
    """std::hash promises that only within one: src/base/fnv.hpp."""
    assert naming(r"std::hash\b", "src/", "include/") == set()


def test_the_environment_is_read_in_one_file():
    """Besides, the component asks what Open MPI does not tell of its own parameters."""
    parameters = "src/doors/ompi_coll/parameters.c"
    readers = naming(r"\bgetenv\b|\benviron\b", "src/", "include/", "python/native/")
    assert readers == {"src/base/environment.cpp", parameters}
    assert naming(r'getenv\("TOLLBAR|"TOLLBAR_\w+="', parameters) == set()
    assert naming(r'environ(\.get\(|\[)"(TOLLBAR|XDG)', "python/") == set()


def test_lines_for_users_are_written_in_one_file():
    """Besides, programs write of themselves."""
    programs = {"src/nicd/nicd.cpp", "src/look/main.cpp"}
    writes = r"\(\s*stderr,|, stderr\)|\bcerr\b|write\(STDERR_FILENO"
    assert naming(writes, "src/", "include/") == {"src/base/say.cpp"} | programs


def code_of(path: Path) -> str:
    """A C or C++ file without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def families() -> list[str]:
    """The names of the catalogue."""
    return re.findall(r'Maker\{\s*\{"(\w+)"', (ROOT / "src/algorithms/catalogue.cpp").read_text())


# The rooms that choose between plans have to name them.
NAMES_ALGORITHMS = {"algorithms", "tuner"}


def test_algorithms_are_spelled_in_the_catalogue_and_where_plans_are_chosen():
    # A whole plan, such as "turnstile" or "dissemination:"; sentences may have one as an example.
    plan = re.compile(rf'"(?:{"|".join(families())})(?:[:@/][\w:@/,]*)?"')
    assert len(families()) > 8
    spelled = {
        relative(path): plan.findall(code_of(path))
        for path in sources_of_src()
        if folder_of(path) not in NAMES_ALGORITHMS and plan.search(code_of(path))
    }
    # "switch" and "card" also name hardware; what a communicator may move to NICs is read by these prefixes.
    hardware = ('"switch"', '"card"', '"card:"')
    spelled = {name: [word for word in words if word not in hardware] for name, words in spelled.items()}
    assert {name: words for name, words in spelled.items() if words} == {}


# Where somebody passes time before there is a barrier to wait for, or on a lock of a few instructions.
PASSES_TIME = {
    "src/base/say.cpp": "who reads stderr, a tenth of a second at most",
    "src/doors/ompi_coll/pending.cpp": "a lock of a few instructions",
    "src/doors/openmp/missing.cpp": "a thread of its own, which waits for nobody",
    "src/doors/pthread/visits.cpp": "memory for a slot",
    "src/doors/shmem/caller_lock.hpp": "a lock of a few instructions",
    "src/doors/shmem/registry.cpp": "a lock of a few instructions",
    "src/waiting/owned_lock.hpp": "a lock of a few instructions",
    "src/waiting/sync.cpp": "what the wait loop is made of",
    "src/tuner/tuning_file.cpp": "the lock of a file",
}


def test_there_is_one_wait_loop():
    passing = re.compile(r"\b(sched_yield|this_thread::yield|\w*Sync::(yield|pause)|sleep_for|usleep|nanosleep)\(")
    loops = {
        relative(path)
        for path in [*sources_of_src(), *sorted((ROOT / "include").rglob("*.h*"))]
        if passing.search(code_of(path))
    }
    assert loops - PASSES_TIME.keys() == {"include/tollbar/detail/waiting.hpp"}
    assert PASSES_TIME.keys() - loops == set()
