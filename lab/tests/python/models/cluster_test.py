# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate cluster: the MPI transport on clusters that SimGrid simulates, and what it refuses."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tollbar
from tollbar.machine import paths
from tollbar_lab.models import cluster

#: SIMULATED_RANKS=4096 makes the large run as large as the promise; it takes about 4 s of CPU time.
MANY = int(os.environ.get("SIMULATED_RANKS", "1024"))
TWO_LEVELS = ["central@4/dissemination", "mcs@3/pairwise", "dissemination:3"]
EVERY_PLAN = [each.name for each in tollbar.catalogue() if not each.player] + TWO_LEVELS

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">{config}
  <zone id="world" routing="Full">
    {inside}
  </zone>
</platform>
"""
CLUSTER = '<cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="1000000GBps" lat="{lat}"/>'


def is_built() -> bool:
    try:
        return bool(paths.program(cluster.PROGRAM))
    except FileNotFoundError:
        return False


pytestmark = pytest.mark.needs(is_built(), "tollbar-simulate-cluster is not built: it needs libsimgrid-dev")


@pytest.fixture
def platform(tmp_path):
    """A file of that name with something inside."""

    def write(inside, config=""):
        file = tmp_path / "platform.xml"
        file.write_text(PLATFORM.format(inside=inside, config=config))
        return file

    return write


def run(*arguments) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tollbar", "simulate", "cluster", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def refusal(*arguments) -> str:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(
    ("ranks", "logp"),
    [
        (1, tollbar.LogP(L=10, o=5, g=3)),
        (16, tollbar.LogP(L=10, o=5, g=3)),
        (13, tollbar.LogP(L=10, o=1, g=4.5)),
        (64, tollbar.LogP(L=0, o=2, g=7)),
        (9, tollbar.LogP(L=10, o=0, g=0)),
    ],
)
def test_on_a_network_of_logp_every_plan_takes_its_price(ranks, logp):
    simulated = cluster.simulate(EVERY_PLAN, ranks, logp)
    assert [episode.plan for episode in simulated.episodes] == EVERY_PLAN
    for episode in simulated.episodes:
        price = tollbar.price(tollbar.plan(episode.plan, ranks), logp, tollbar.Receive.plan_order)
        found = (episode.last_us, episode.first_us, episode.mean_us)
        assert found == pytest.approx((price.last_us, price.first_us, price.mean_us), abs=1e-4), episode


def test_the_first_member_of_a_role_plays_it_by_messages():
    logp = tollbar.LogP(L=10, o=5, g=5)
    of = {
        e.plan: e.last_us
        for e in cluster.simulate(["turnstile", "turnstile@4/mcs", "combination:2/mcs"], 8, logp).episodes
    }
    price = {
        plan: tollbar.price(tollbar.plan(plan, 8), logp, tollbar.Receive.plan_order)
        for plan in ("central", "central@4/mcs")
    }
    assert of["turnstile"] == pytest.approx(price["central"].last_us, abs=1e-4)
    assert of["turnstile@4/mcs"] == pytest.approx(price["central@4/mcs"].last_us, abs=1e-4)
    assert of["combination:2/mcs"] == pytest.approx(price["central@4/mcs"].last_us, abs=1e-4)


def test_thousands_of_ranks_take_little_memory():
    (episode,) = cluster.simulate(["dissemination"], MANY, tollbar.LogP(L=10, o=5, g=3)).episodes
    assert episode.last_us == pytest.approx(20 * (MANY - 1).bit_length(), abs=1e-4)
    assert episode.memory_mb < 300


def test_memory_is_the_programs_own_whatever_has_started_it():
    held = bytearray(b"1") * (400 << 20)
    (episode,) = cluster.simulate(["mcs"], 4, tollbar.LogP(L=10, o=5, g=3)).episodes
    assert 0 < episode.memory_mb < 300 < len(held) >> 20


@pytest.mark.parametrize("name", cluster.example_platforms())
def test_a_platform_that_comes_along_has_4096_hosts_and_is_no_logp(name):
    file = cluster.platform_file(name)
    simulated = cluster.simulate(["dissemination", "central"], 100, tollbar.LogP(L=0, o=1, g=1), file)
    assert 0.5 < simulated.latency_us < 12
    least = [7 * (2 + 0.5), 99 + 1 + 99 + 1 + 2 * 0.5]  # with 0.5 us, the shortest way there is, for all
    for episode, least_us in zip(simulated.episodes, least, strict=True):
        assert least_us < episode.last_us < least_us + 12 * 14
    with pytest.raises(cluster.Refused, match="has 4096 hosts, a rank on each; 4097 ranks are too many"):
        cluster.simulate(["central"], 4097, tollbar.LogP(L=0, o=1, g=1), file)


def test_an_over_subscribed_network_costs_empty_messages_next_to_nothing():
    """The routes are as long, and four hosts share the links that one has in the other network."""
    logp = tollbar.LogP(L=0, o=1, g=1)
    full, shared = (
        cluster.simulate(["dissemination", "mcs"], 512, logp, cluster.platform_file(name))
        for name in ("fat-tree", "fat-tree-4-to-1")
    )
    assert shared.latency_us == full.latency_us
    for one, other in zip(full.episodes, shared.episodes, strict=True):
        assert one.last_us < other.last_us < 1.005 * one.last_us


def test_ranks_sit_on_hosts_in_the_order_of_their_numbers(platform):
    ring = CLUSTER.format(last=11, lat="1us").replace("/>", ' topology="TORUS" topo_parameters="12"/>')
    (episode,) = cluster.simulate(["central"], 4, tollbar.LogP(L=0, o=0, g=0), platform(ring)).episodes
    assert episode.last_us == pytest.approx(6, abs=1e-3)  # h0 to h3 and back; h10 and h11 are nearer to h0


def test_a_platform_keeps_its_own_settings(platform):
    inside = CLUSTER.format(last=3, lat="1us")
    doubled = '<config><prop id="network/latency-factor" value="2"/></config>'
    logp = tollbar.LogP(L=0, o=0, g=0)
    for config, dissemination_us in [("", 4), (doubled, 8)]:
        (episode,) = cluster.simulate(["dissemination"], 4, logp, platform(inside, config)).episodes
        assert episode.last_us == pytest.approx(dissemination_us, abs=1e-3)


@pytest.mark.parametrize(
    ("inside", "config", "said"),
    [
        ("no XML <", "", "Parse error at platform.xml:5:"),
        ('<cluster id="c"/>', "", "Required attribute"),
        (CLUSTER.format(last=3, lat="1parsec"), "", "unknown unit: parsec"),
        (CLUSTER.format(last=3, lat="1us").replace("/>", ' topology="TORUS" topo_parameters="3,3"/>'), "",
         "Insufficient number of radicals"),
        (CLUSTER.format(last=3, lat="1us"), '<config><prop id="network/fog" value="1"/></config>',
         "Bad config key: network/fog"),
        ('<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>', "", "is there a route"),
        (CLUSTER.format(last=3, lat="1us"), "", "has 4 hosts, a rank on each; 5 ranks are too many"),
    ],
)  # fmt: skip
def test_what_simgrid_rejects_is_passed_on_in_one_line(platform, inside, config, said):
    ranks = 2 if "route" in said else 5
    assert said in refusal("dissemination", "--ranks", ranks, "--platform", platform(inside, config))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ranks", "0"], "'0' is not a number of ranks from 1 to 16777216"),
        (["--ranks", "4096,16385"], "up to 16384 ranks are simulated, not 16385"),
        (["--ranks", "8", "--logp=-1,1,1"], "microseconds of at least 0, not -1"),
        (["--ranks", "8", "--logp", "inf,1,1"], "not inf"),
        (["nonesuch", "--ranks", "8"], "there is no algorithm 'nonesuch'"),
        (["central@2/switch", "--ranks", "8"], "'central@2/switch' is for a switch that counts; the simulated"),
        (["turnstile/mcs", "--ranks", "8"], "write turnstile@K/mcs for groups of K ranks"),
        (["--ranks", "8", "--platform", "cube"], "that come with tollbar: dragonfly, fat-tree, fat-tree-4-to-1, torus"),
        (["--ranks", "8", "--platform", "."], "Is a directory"),
    ],
)
def test_wrong_use_is_said_in_one_line(arguments, said):
    assert said in refusal(*arguments)


def test_the_columns_are_stable_and_rows_stand_beside_their_price():
    done = run("mcs", "dissemination", "--ranks", "4,8", "--platform", "torus", "--format", "csv")
    header, *rows = done.stdout.splitlines()
    assert header == (
        "plan,ranks,latency_us,simulated_us,price_us,difference_us,difference_pct,first_us,price_first_us,"
        "mean_us,price_mean_us,messages,cpu_s,memory_mb"
    )
    assert [row.split(",")[:2] for row in rows] == [
        ["dissemination", "4"],
        ["mcs", "4"],
        ["dissemination", "8"],
        ["mcs", "8"],
    ]
    for row in rows:
        simulated_us, price_us, difference_us = map(float, row.split(",")[3:6])
        assert difference_us == pytest.approx(simulated_us - price_us) != 0


def simulators(process: int) -> list[Path]:
    """The children of the process that have become the program."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    found = [Path(f"/proc/{child}") for child in children]
    return [child for child in found if cluster.PROGRAM in (child / "cmdline").read_text()]


def test_an_interrupted_simulation_says_how_far_it_came_and_leaves_nothing_behind():
    command = [sys.executable, "-m", "tollbar", "simulate", "cluster", "mcs", "--ranks", "4096,4097,4098"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        while not (running := simulators(job.pid)):
            assert job.poll() is None
            time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        out, err = job.communicate(timeout=120)
    assert (job.returncode, out) == (130, "")
    assert re.fullmatch(r"tollbar simulate: interrupted in run 1 of 3, 4096 ranks: .*\n", err)
    assert not any(child.exists() for child in running)


def test_without_simgrid_the_command_and_doctor_say_what_would_mend_it(monkeypatch, tmp_path):
    monkeypatch.setattr("tollbar.machine.paths.program_folders", lambda: [tmp_path])
    from tollbar.cli import doctor_mpi, main

    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = doctor_mpi._simulator()
    assert (found.state, found.remedy.split(" && ")[0]) == ("absent", "sudo apt-get install -y libsimgrid-dev")
    assert main(["simulate", "cluster", "--ranks", "4"]) == 2
