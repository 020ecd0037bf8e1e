# SPDX-License-Identifier: Apache-2.0
"""The NIC paper's figures from measurements that are known: the fit, the efficiencies, the report."""

from __future__ import annotations

import dataclasses
import json

import pytest
import tollbar
from tollbar import granularity, nic_measured, nic_section, records, report, results, work_campaign, workloads
from tollbar.nic_measured import CARD, HOST

#: A machine with two processors that obeys the model: a host's step, and the card's once and each step.
H, A, B, PROCESSORS = 10.0, 3.0, 2.0, 2
HOSTS = (2, 4, 8, 16)
WAYS = (("pairwise", "udp"), ("card:pairwise", "card"), ("card:switch", "card"))
QUICK = tuple(dict.fromkeys(work_campaign.QUICK))


def barrier_us(name: str, hosts: int) -> float:
    steps = hosts.bit_length() - 1
    alone = {"pairwise": H * steps, "card:pairwise": A + B * steps, "card:switch": A + B}
    return max(1, hosts / PROCESSORS) * alone.get(name, 2 * H * steps)


def environment(ranks: int, **more: str) -> dict:
    return {"record": "environment", "ranks": ranks, "usable": PROCESSORS, "placement": "free", **more}


def barriers(ranks: int, *ways: tuple[str, str], **more: str) -> list[dict]:
    made = [environment(ranks, **more)]
    for name, kind in ways:
        made.append(
            {"record": "batch", "round": 0, "name": name, "kind": kind, "wait": "auto", "episodes": 1000,
             "elapsed_ns": 1e6 * barrier_us(name, ranks), "cpu_ns": 2e6 * barrier_us(name, ranks),
             "voluntary": 0, "involuntary": 0, "cut": False}
        )  # fmt: skip
    return [*made, {"record": "done"}]


def work(ranks: int, *ways: tuple[str, str], **more: str) -> list[dict]:
    made = [environment(ranks, computing="away", **more)]
    for workload in QUICK:
        compute_us, variation = tollbar.parse_workload(workload)
        longest_us = sum(compute_us) * (1 + variation / 2)
        for name, kind in ways:
            run_us = longest_us + len(compute_us) * barrier_us(name, ranks)
            made.append(
                {"record": "work", "round": 0, "name": name, "kind": kind, "wait": "auto",
                 "workload": workload, "phases": len(compute_us), "runs": 10, "elapsed_ns": 1e4 * run_us,
                 "computing_ns": 1e3 * sum(compute_us), "longest_ns": 1e3 * longest_us}
            )  # fmt: skip
    return [*made, {"record": "done"}]


def store(within, kind: str, make, **facts) -> None:
    folder = results.new_run(within, kind)
    results.write_environment(folder, {"kind": kind, "usable": [0, 1], "model": "Replay", **facts})
    mpi = {"mpi": "Open MPI 4.1.4", "hosts": "2", "setting": "stock", "door": "none"}
    for group, hosts in enumerate(HOSTS):
        of_hosts, of_mpi = (
            make(hosts, *WAYS, network="namespaces"),
            make(hosts, ("MPI_Barrier", "mpi"), **mpi),
        )
        for program, lines in (("udp", of_hosts), ("mpi.stock", of_mpi)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            results.write_launch(folder, group, program, text)


@pytest.fixture
def runs(tmp_path):
    """Stored runs of bench nic, plain and with workloads."""
    store(tmp_path, "udp", barriers, network="namespaces", mpis={"Open MPI 4.1.4": ""})
    store(tmp_path, "work", work, over=["hosts"], hosts=16)
    return tmp_path


def read(runs, kind: str) -> results.Run:
    return results.read_run(results.newest(runs, kind))


def test_the_model_is_found_in_latencies_that_obey_it_on_shared_processors(runs):
    hosts = nic_measured.of_hosts(read(runs, "udp").launches)
    terms = {name: term.us for name, term in hosts.fit.terms.items()}
    assert terms == pytest.approx({"H": H, "a": A, "b": B, "SDMA": H - A - B})
    assert hosts.off()[-1] < 1e-6
    assert hosts.modelled_us(CARD, 7) == pytest.approx(7 / 2 * (A + 4 * B), rel=0.1)
    assert hosts.factor()[16].value == pytest.approx(4 * H / (A + 4 * B))


def test_the_computing_for_an_efficiency_is_exact_where_loops_are_straight():
    loops = {us: us + 10.0 for us in (0.0, 1.5, 4.5, 64.0, 256.0)}
    for efficiency in (0.25, 0.5, 0.75, 0.9):
        needed = granularity.needed(loops, efficiency)
        assert needed.compute_us == pytest.approx(tollbar.nic_compute_us(10.0, efficiency))
        assert needed.loop_us == pytest.approx(tollbar.nic_loop_us(10.0, efficiency))


def test_a_loop_that_falls_below_an_efficiency_again_does_not_reach_it():
    loops = {0.0: 10.0, 10.0: 15.0, 20.0: 50.0, 40.0: 50.0}
    assert granularity.needed(loops, 0.5).compute_us > 20
    assert granularity.needed(loops, 0.9) is None


def test_only_computing_that_does_not_vary_counts_for_an_efficiency(runs):
    found = nic_measured.of_work(workloads.gather(read(runs, "work").launches))
    needed = nic_measured.needed(found[8], HOST, 0.75)
    assert needed.compute_us == pytest.approx(3 * barrier_us("pairwise", 8))
    assert needed.loop_us == pytest.approx(4 * barrier_us("pairwise", 8))


def test_every_figure_is_there_and_says_which_of_the_paper_it_is(runs):
    section = nic_section.of([read(runs, "udp")], [read(runs, "work")])
    assert [figure.number for figure in section.figures] == [
        "4a", "4b", "cpu", "6-2", "6-8", "7a", "7b", "7c", "7d", "8", "9", "9-factor", "10a", "10b", "10c",
    ]  # fmt: skip
    assert "a step costs 10 µs by the host; on the card 3 µs once and 2 µs a step" in section.model
    row = section.rows[-1]
    assert (row.hosts, row.of_cpu) == (16, pytest.approx((A + 4 * B) / (4 * H)))
    assert row.of_mpi.value == pytest.approx(8 * H / (A + 4 * B))
    drawn = {figure.number: figure.svg for figure in section.figures}
    for number in ("4a", "6-8", "7d", "8", "9", "10a", "10c"):
        assert "by the model" in drawn[number]


def test_without_cards_there_is_no_such_section(runs, tmp_path):
    run = read(runs, "udp")
    bare = [
        records.parse_launch([json.dumps(line) for line in barriers(4, ("pairwise", "udp"))], "x", 0, "udp")
    ]
    assert nic_section.of([results.Run(run.folder, run.environment, tuple(bare))], []) is None
    assert nic_section.of([], []) is None


def test_the_page_has_the_section_and_the_numbers_to_download(runs):
    some = dataclasses.replace(read(runs, "work"), launches=read(runs, "work").launches[:1])
    text = report.page(read(runs, "udp"), dataclasses.replace(some, launches=some.launches[:0]))
    assert '<section id="nic">' in text
    assert "away until the time has passed" in text
    assert "-work.csv" in text
    lines = report.work_csv(some).splitlines()
    assert len(lines) == 1 + len(QUICK)  # of the MPI, whose file comes first
    assert lines[0].startswith("group,program,placement,ranks,round,name,kind,wait,workload")
