# SPDX-License-Identifier: Apache-2.0
"""Lines about a machine that is not quiet."""

from tollbar.machine import noise
from tollbar.machine.noise import Look

QUIET = Look(busy=0.01, ticks=1000, stolen=0, scaling="")


def test_of_a_quiet_machine_nothing_is_said():
    assert [*noise.before(QUIET), *noise.after(QUIET, QUIET._replace(ticks=2000))] == []


def test_other_programs_and_a_changing_clock_are_told_before():
    told = list(noise.before(QUIET._replace(busy=0.5, scaling="powersave")))
    assert told == [
        "other programs keep 50 % of the processors busy",
        "the processors' frequency changes (governor powersave)",
    ]


def test_time_that_a_hypervisor_took_is_told_after():
    now = QUIET._replace(ticks=2000, stolen=100)
    assert list(noise.after(QUIET, now)) == ["the hypervisor took 10 % of the processors' time (steal)"]


def test_the_kernels_files_are_read(tmp_path):
    (tmp_path / "stat").write_text("cpu  10 1 5 80 2 0 1 7 0 0\ncpu0 1 2 3\n")
    for cpu, governor in ((0, "performance"), (1, "schedutil")):
        file = tmp_path / f"cpu{cpu}" / "cpufreq" / "scaling_governor"
        file.parent.mkdir(parents=True)
        file.write_text(f"{governor}\n")
    seen = noise.look(tmp_path / "stat", tmp_path)
    assert (seen.busy, seen.ticks, seen.stolen, seen.scaling) == (1.0, 106, 7, "schedutil")


def test_a_kernel_that_tells_nothing_counts_as_quiet(tmp_path):
    seen = noise.look(tmp_path / "none", tmp_path)
    assert (seen.busy, seen.ticks, seen.stolen, seen.scaling) == (0.0, 0, 0, "")


def test_a_run_beside_others_or_of_stolen_time_fills_no_page():
    quiet = {"load": [0.5, 3.0, 4.0], "load_beside_after": 0.5, "stolen": 0.02}
    assert noise.loud(quiet) == []
    assert noise.loud(quiet | {"load": [1.46, 0.0, 0.0]}) == ["load 1.5 when it began"]
    assert noise.loud(quiet | {"load_beside_after": 0.75}) == ["load 0.75 when it ended"]
    assert noise.loud(quiet | {"stolen": 0.03}) == ["3 % of its time stolen"]


def test_what_is_not_stored_is_unknown_and_no_reason():
    assert noise.loud({}) == []
    assert noise.loud({"load": [0.1, 3.0, 4.0]}) == []


def test_a_run_is_marked_with_what_was_seen_at_its_end(monkeypatch):
    monkeypatch.setattr(noise, "look", lambda: QUIET._replace(busy=1.0, ticks=2000, stolen=100))
    marks = noise.marks(QUIET, {"load": [0.1, 0.1, 0.1]})
    assert marks["stolen"] == 0.1
    assert marks["load_beside_after"] >= 1
    assert marks["noise"] == ["the hypervisor took 10 % of the processors' time (steal)"]
    assert len(marks["loud"]) == 2
