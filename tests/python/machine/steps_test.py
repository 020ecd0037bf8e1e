# SPDX-License-Identifier: Apache-2.0
"""A run of a rank of a step of Slurm finds that of rank 0 by a file, which nobody else can have written or read."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import pytest
from tollbar.machine import steps

PMIX = {
    "PMIX_NAMESPACE": "slurm.pmix.4711.0", "SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0", "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "1", "SLURM_LAUNCH_NODE_IPADDR": "127.0.0.1",
    "SLURM_CLUSTER_NAME": "big",
}  # fmt: skip
PMI2 = {**PMIX, "PMI_JOBID": "4711.0", "PMIX_NAMESPACE": ""}


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch) -> list[Path]:
    """The user's cache, which is not there yet, and the folder of the job."""
    job = tmp_path / "job"
    job.mkdir()
    monkeypatch.chdir(job)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return [tmp_path / "cache" / "tollbar", job]


def place(rank: int = 0, **variables: str) -> steps.Place:
    return steps.place({**PMIX, "SLURM_PROCID": str(rank), **variables})


def files(folders: list[Path]) -> list[Path]:
    return [file for folder in folders if folder.exists() for file in folder.iterdir()]


@pytest.mark.parametrize("variables", [PMIX, PMI2])
def test_a_rank_that_srun_has_started_knows_its_step_and_its_rank(variables):
    assert steps.place(variables) == steps.Place("big.4711.0.0", 3, 4, False, "127.0.0.1")


@pytest.mark.parametrize("change", [
    {"PMIX_NAMESPACE": "prterun-1"}, {"SLURM_STEP_NUM_TASKS": "1"}, {"SLURM_PROCID": ""},
    {"SLURM_LAUNCH_NODE_IPADDR": ""}, {"SLURM_CLUSTER_NAME": "a/b"},
])  # fmt: skip
def test_any_other_process_has_no_place(change):
    assert steps.place({**PMIX, **change}) is None


def test_a_step_that_is_started_again_is_another_one():
    assert place(SLURM_RESTART_COUNT="2").step != place().step


def test_the_address_is_that_by_which_the_host_of_srun_is_reached():
    assert place().address == "127.0.0.1"


def test_what_rank_0_tells_is_learned_by_the_others_and_is_gone_when_it_is_over(folders):
    with steps.publish(place(), "this\nthat\n"):
        assert steps.learned(place(3)) == "this\nthat\n"
        assert len(files(folders)) == 2
        assert {stat.S_IMODE(file.stat().st_mode) for file in files(folders)} == {0o600}
    assert files(folders) == []
    assert steps.learned(place(3), patience_s=0) is None


def test_one_folder_that_all_hosts_see_is_enough(folders):
    for lost in folders:
        with steps.publish(place(), "this"):
            next(lost.glob(".tollbar-step-*")).unlink()
            assert steps.learned(place(3)) == "this"


def test_who_comes_first_waits_for_rank_0():
    told = []
    waiting = threading.Thread(target=lambda: told.append(steps.learned(place(3))))
    waiting.start()
    time.sleep(0.2)
    with steps.publish(place(), "late"):
        waiting.join()
    assert told == ["late"]


def test_nobody_waits_for_ever():
    since = time.monotonic()
    assert steps.learned(place(3, SLURM_LOCALID="0"), patience_s=0.3) is None
    assert 0.3 <= time.monotonic() - since < 30


def test_the_file_of_another_step_or_of_one_that_was_killed_is_no_harm():
    with steps.publish(place(SLURM_RESTART_COUNT="1"), "that of before"):
        assert steps.learned(place(3), patience_s=0) is None
        with steps.publish(place(), "old"), steps.publish(place(), "new"):
            assert steps.learned(place(3)) == "new"


def test_files_that_killed_steps_have_left_behind_are_removed_a_day_later(folders):
    now = time.time()
    for name, age_s in ((".tollbar-step-old", 90000), (".tollbar-step-new", 3600), ("mine", 90000)):
        (folders[1] / name).touch()
        os.utime(folders[1] / name, (now - age_s, now - age_s))
    with steps.publish(place(), "this"):
        pass
    assert {file.name for file in files(folders)} == {".tollbar-step-new", "mine"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_file_that_others_may_read_or_write_is_not_believed(folders, mode):
    with steps.publish(place(), "this"):
        for file in files(folders):
            file.chmod(mode)
        assert steps.learned(place(3), patience_s=0) is None


def test_neither_a_link_nor_a_pipe_nor_a_file_of_another_user_is_believed(folders, monkeypatch):
    with steps.publish(place(), "this"):
        cache, job = (next(folder.glob(".tollbar-step-*")) for folder in folders)
        moved = cache.rename(cache.with_name("moved"))
        cache.symlink_to(moved)
        job.unlink()
        os.mkfifo(job, 0o600)
        assert steps.learned(place(3), patience_s=0) is None
    with steps.publish(place(), "this"):
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert steps.learned(place(3), patience_s=0) is None


def test_a_folder_that_takes_no_file_is_left_out_and_none_at_all_is_an_error(folders, monkeypatch):
    folders[0].parent.write_text("no folder")
    with steps.publish(place(), "this"):
        assert steps.learned(place(3)) == "this"
    monkeypatch.setattr(steps, "_files", lambda _: [Path("/proc/none/file")])
    with pytest.raises(OSError, match="No such file"), steps.publish(place(), "this"):
        pass
