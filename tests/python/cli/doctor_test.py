# SPDX-License-Identifier: Apache-2.0
"""tollbar doctor."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tollbar as library
from tollbar.cli import doctor
from tollbar.machine import extras

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def findings(tollbar):
    """findings() -> {what: row}, of a run that must not find anything broken."""

    def look():
        said = tollbar("doctor", "--format", "json")
        assert said.code == 0
        return {row["what"]: row for row in said.json}

    return look


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tollbar"


def test_the_columns_are_stable(tollbar):
    assert tollbar("doctor", "--format", "csv").out.splitlines()[0] == "what,state,why,remedy"


def test_the_native_module_is_named_with_its_version(findings):
    assert findings()["native module"]["state"] == "ok"
    assert f"version {library.__version__}, built by " in findings()["native module"]["why"]


def test_usable_cpus_are_explained(findings):
    row = findings()["usable CPUs"]
    assert int(row["why"].partition(":")[0]) <= len(os.sched_getaffinity(0))
    assert "in the affinity mask" in row["why"]


def test_whatever_is_not_ok_has_a_remedy_and_nothing_else_has(findings):
    for row in findings().values():
        assert row["state"] in ("ok", "absent", "wrong")
        assert (row["state"] == "ok") == (row["remedy"] is None)


def test_everything_the_measurements_need_is_looked_at(findings):
    assert {
        "futex",
        "membarrier",
        "shared memory",
        "autogroup",
        "Concurrency Kit",
        "boost::barrier",
        "libgomp",
        "libomp",
        "tollbar-bench-threads",
        "cache folder",
        "tuning file",
        "SimGrid",
        "network namespaces",
    } <= set(findings())


def test_a_missing_peer_names_the_package(tmp_path):
    rows = {row.what: row for row in doctor._peers(tmp_path)}
    assert {row.state for row in rows.values()} == {"absent"}
    assert rows["Concurrency Kit"].remedy == "sudo apt-get install -y libck-dev"


def test_a_peer_is_found_by_its_file(tmp_path):
    (tmp_path / "usr/include").mkdir(parents=True)
    (tmp_path / "usr/include/ck_barrier.h").touch()
    rows = {row.what: row for row in doctor._peers(tmp_path)}
    assert rows["Concurrency Kit"].state == "ok"
    assert rows["Concurrency Kit"].remedy is None


def test_a_missing_program_says_how_to_get_it(findings, monkeypatch, tmp_path):
    monkeypatch.setattr("tollbar.machine.paths.program_folders", lambda: [tmp_path])
    row = findings()["tollbar-bench-threads"]
    assert row["state"] == "absent"
    assert row["remedy"] in ("make", "pip install --force-reinstall . (in the checkout)")


def test_every_package_that_tollbar_requires_is_looked_for(monkeypatch):
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["bench"]
    assert [requirement.partition(">")[0] for requirement in extra] == list(extras.BENCH)
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "polars" else name)
    assert doctor._packages().remedy == "pip install polars"


def test_no_tuning_file_is_no_fault(findings):
    row = findings()["tuning file"]
    assert (row["state"], row["remedy"]) == ("absent", "tollbar tune")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tollbar-tuning 2\n",
        "tollbar-tuning 1\nthreads ranks 8\n",
        "\x00",
        "tollbar-tuning 1\nthreads ranks=8 cpus=2 pinned=maybe plan=mcs wait=auto\n",
    ],
)
def test_a_corrupt_tuning_file_is_wrong_and_can_be_made_anew(findings, own_cache, text):
    own_cache.mkdir()
    (own_cache / "tuning").write_text(text)
    row = findings()["tuning file"]
    assert row["state"] == "wrong"
    assert row["remedy"] == f"rm {own_cache / 'tuning'} && tollbar tune"


def test_a_tuning_file_that_is_not_text_is_wrong(findings, own_cache):
    own_cache.mkdir()
    (own_cache / "tuning").write_bytes(b"\xff\xfe\x00")
    assert findings()["tuning file"]["state"] == "wrong"


def test_without_a_home_there_is_a_row_that_says_so(findings, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "TOLLBAR_TUNING"):
        monkeypatch.delenv(name, raising=False)
    row = findings()["cache folder"]
    assert (row["state"], row["why"]) == ("wrong", "there is no folder for what is stored: set HOME")


def test_a_sound_tuning_file_is_ok(findings, own_cache):
    own_cache.mkdir()
    (own_cache / "tuning").write_text(
        "tollbar-tuning 1\nthreads ranks=8 cpus=2 pinned=no plan=mcs wait=auto future=yes\n"
    )
    assert findings()["tuning file"]["state"] == "ok"


def test_an_unknown_value_of_a_variable_is_wrong(tollbar, monkeypatch):
    monkeypatch.setenv("TOLLBAR_WAIT", "sleep")
    said = tollbar("doctor", "--format", "json")
    row = next(row for row in said.json if row["what"] == "TOLLBAR_WAIT")
    assert (said.code, row["state"], row["remedy"]) == (0, "wrong", "unset TOLLBAR_WAIT")
    assert "auto, spin, yield, park" in row["why"]


def test_a_kernel_without_futex_is_broken_and_the_exit_code_is_1(tollbar, monkeypatch):
    monkeypatch.setattr("tollbar._native.futex_problem", lambda: "Operation not permitted")
    said = tollbar("doctor", "--format", "json")
    row = next(row for row in said.json if row["what"] == "futex")
    assert (said.code, row["state"], row["why"]) == (1, "broken", "Operation not permitted")


def test_shared_memory_that_is_missing_is_wrong(tmp_path):
    assert doctor._shared_memory(tmp_path / "shm").state == "wrong"
    assert doctor._shared_memory(Path("/tmp")).state == "ok"


def test_without_the_right_to_make_namespaces_it_says_what_is_lost(findings, monkeypatch):
    monkeypatch.setattr("tollbar.machine.kernel.lacking", lambda *names: list(names))
    row = findings()["network namespaces"]
    assert row["state"] == "absent"
    assert "messages between hosts are not measured" in row["why"]


@pytest.mark.parametrize("verb", [["doctor"], ["doctor", "--format", "json"], ["plans"]])
def test_without_the_native_module_one_line_says_how_to_get_it(tmp_path, verb):
    package = Path(library.__file__).parent
    shutil.copytree(package, tmp_path / "tollbar", ignore=shutil.ignore_patterns("_native*.so", "__pycache__"))
    hide = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.modules['tollbar._native'] = None"
    call = f"from tollbar.cli import main; sys.exit(main({verb!r}))"
    done = subprocess.run([sys.executable, "-c", f"{hide}; {call}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("tollbar: the native module cannot be imported (")
    assert done.stderr.endswith("remedy: pip install --force-reinstall . (in the checkout)\n")


def test_yama_keeps_users_from_looking_at_programs_and_root_not(monkeypatch):
    monkeypatch.setattr("tollbar.look.helper.available", lambda: None)
    monkeypatch.setattr("tollbar.look.processes.scope", lambda: 1)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    refused = doctor._looking()
    assert (refused.state, refused.remedy) == ("absent", "sudo sysctl kernel.yama.ptrace_scope=0")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert doctor._looking().state == "ok"


def test_without_the_helper_the_package_is_named(monkeypatch):
    monkeypatch.setattr("tollbar.look.helper.available", lambda: "sudo apt-get install -y libdw-dev && make")
    assert doctor._looking().remedy == "sudo apt-get install -y libdw-dev && make"
