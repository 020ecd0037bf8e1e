# SPDX-License-Identifier: Apache-2.0
"""Attempts of users without rights on a NIC's daemon, beside another user's group that goes on meeting."""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from nic_attacks import ATTACKER, PATIENCE_S, Attack, eventually, someone_joins, talk_magic, working
from nic_hosts import HOSTS, NOBODY, Network, new_key, said
from tollbar.machine import nic_daemon, paths

pytestmark = pytest.mark.usefixtures("hosts_can_have_nics")

HERE = Path(__file__).parent
MOST_MIB = 64
EINVAL, EPERM, EDQUOT = 22, 1, 122


def kernel() -> tuple[int, ...]:
    return tuple(map(int, platform.release().split("-")[0].split(".")[:2]))


@pytest.fixture
def few_files(network: Network) -> Iterator[None]:
    """The daemon of host 0 may open 400 files."""
    network.restart_daemon(0, files=400)
    yield
    network.restart_daemon(0)


def test_connections_that_ask_for_nothing_do_not_use_up_the_daemons_descriptors(network, few_files, bystander):
    with ExitStack() as stack:
        for user in range(6):
            attack = stack.enter_context(Attack(network, "hold", 200, user=ATTACKER + user))
            assert attack.line() == "200"
        assert network.daemons[0].poll() is None
        someone_joins(network)
    assert network.daemons[0].poll() is None


def test_a_connection_that_asks_for_nothing_is_closed(network):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as idle:
        idle.settimeout(PATIENCE_S)
        idle.connect(network.socket(0))
        assert idle.recv(1) == b""


def worked_s(network: Network) -> float:
    """The daemon of host 0, in all."""
    words = Path(f"/proc/{network.daemons[0].pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def answers(network: Network, requests: int = 100) -> str:
    """What the daemon of host 0 works, in ms, for each answer to another user; and how long these take."""
    took, before = [], worked_s(network)
    for _ in range(requests):
        began = time.monotonic()
        network.status(0)
        took.append(1e3 * (time.monotonic() - began))
    work = 1e3 * (worked_s(network) - before) / requests
    took.sort()
    return f"{work:.1f} ms of work, {took[requests // 2]:.1f} ms at the median, {took[-1]:.1f} at most"


def test_a_flood_of_joins_delays_nobody_else(network, bystander):
    """How long answers take is shown by pytest -s tests/security -k flood_of_joins; it decides nothing."""
    print(f"an answer: {answers(network)}")
    with ExitStack() as stack:
        for user in range(2):
            flood = stack.enter_context(Attack(network, "flood", 60, user=ATTACKER + user))
            assert flood.line() == "began"
        print(f"beside a flood of joins: {answers(network)}")  # each one was answered
        for _ in range(3):
            someone_joins(network)


def test_a_group_counts_for_its_user_until_its_maps_are_closed(network):
    network.restart_daemon(0, "--per-user", "4", "--groups", "16", "--linger", "0")
    try:
        with working(network):
            with Attack(network, "keep_maps", 12) as attack:
                assert attack.line().split() == ["0"] * 4 + [str(EDQUOT)] * 8
                assert network.status(0)["held"] == 5
                someone_joins(network)
            eventually(lambda: network.status(0)["held"] == 1)
            with Attack(network, "keep_maps", 1) as attack:
                assert attack.line() == "0"
    finally:
        network.restart_daemon(0)


def test_who_joins_and_leaves_puts_out_his_own_past_groups_alone(network):
    network.restart_daemon(0, "--per-user", "4", "--groups", "5")
    try:
        past = said(network.member(0, new_key(), user=NOBODY, episodes=0))
        assert past["ended"] == 0
        assert network.status(0)["departed"] == 1
        for _ in range(8):
            assert said(network.member(0, new_key(), user=ATTACKER, episodes=0))["ended"] == 0
        assert network.status(0)["departed"] == 5  # four of the attacker's and still that of the other user
        refused = said(network.member(0, new_key(), user=ATTACKER + 1, episodes=0))
        assert "this NIC has 5 groups already" in refused["line"]
    finally:
        network.restart_daemon(0)


def test_what_is_no_request_is_no_join(network, bystander):
    before = network.status(0)["held"]
    with Attack(network, "malformed") as attack:
        assert set(attack.line().split()) == {"None", str(EINVAL)}
    assert network.status(0)["held"] == before


def test_nobody_has_another_users_port_woken(network, bystander):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mine:
        mine.bind(("0.0.0.0", 0))  # of this host, where root's sockets are not those of host 0
        with Attack(network, "other_port", mine.getsockname()[1]) as attack:
            error, line = attack.line().split(" ", 1)
    assert int(error) == EPERM
    assert "is not one of user" in line


def test_status_tells_users_of_their_own_groups_alone(network, bystander):
    path = network.socket(0)
    script = f"from tollbar.machine import nic_daemon; print(nic_daemon.status({path!r}))"
    assert len(nic_daemon.status(path)["groups"]) == 1
    told = as_user(ATTACKER, script)
    assert "'groups': []" in told
    assert f"'held': {network.status(0)['held']}," in told
    assert "'process'" in as_user(NOBODY, script)


def as_user(user: int, script: str) -> str:
    """What it prints in a process that gave up its rights once its modules were there."""
    lines = f"import os\nfrom tollbar.machine import nic_daemon\nos.setuid({user})\n{script}"
    command = [sys.executable, "-c", lines]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_file_that_is_no_socket_stays(network, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    program = str(paths.program("tollbar-nicd"))
    words = ["--interface", "lo", "--mode", "generic", "--socket", str(precious)]
    command = [*network.inside(0), program, *words]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert refused.returncode == 1
    assert "is there and is no socket" in refused.stderr
    assert precious.read_text() == "kept"


def test_a_squatters_socket_hears_no_key(network, tmp_path):
    folder = network.folder / "open"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    path = str(folder / "daemon")
    attack = Attack(network, "squat", path=path)
    assert attack.line() == "began"
    words = [network.folder / "boardsquat", new_key(), 1, 0, "pairwise", 1, 0, 1000, *network.addresses]
    words[0].write_bytes(bytes(4096))
    refused = subprocess.run(
        [*network.inside(0), str(network.program), *map(str, words)],
        env={"TOLLBAR_NICD": path, "ONLY_NIC": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert attack.line() == "heard 0"
    assert "of another user" in refused.stdout
    attack.process.communicate(timeout=PATIENCE_S)


@pytest.mark.skipif(kernel() < (6, 16), reason="the kernel cannot refuse descriptors")
def test_descriptors_sent_along_do_not_stall_the_daemon(network, bystander):
    with Attack(network, "send_files", 3) as attack:
        assert attack.line() == "sent"
        someone_joins(network)


@pytest.mark.parametrize("asked", ["an address that is not the NIC's", "many hosts at once"])
def test_a_nic_answers_echoes_for_itself_alone(network, asked):
    own = network.addresses[1]
    target = own if asked == "many hosts at once" else own.rsplit(".", 1)[0] + ".200"
    hardware = "ff:ff:ff:ff:ff:ff" if target == own else hardware_of(network, 1)
    with neighbour(network, target, hardware):
        assert echo(network, target) == 1
    assert echo(network, own) == 0


def echo(network: Network, address: str) -> int:
    program = str(paths.program("tollbar-nicd"))
    command = [*network.inside(0), program, "--echo", address]
    return subprocess.run(command, capture_output=True, check=False).returncode


def hardware_of(network: Network, host: int) -> str:
    shown = [*network.inside(host), "cat", "/sys/class/net/eth0/address"]
    return subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def neighbour(network: Network, address: str, hardware: str) -> Iterator[None]:
    table = [*network.inside(0), "ip", "neigh"]
    where = [address, "dev", "eth0"]
    subprocess.run([*table, "replace", *where, "lladdr", hardware], check=True)
    yield
    subprocess.run([*table, "del", *where], check=True)


def test_the_daemon_needs_three_rights_and_its_user_is_trusted_where_root_made_the_folder(network, key):
    user, group = 1500, 1
    folder = Path(f"/run/tollbar-test-{os.getpid()}")
    inner = folder / "eth0"
    inner.mkdir(parents=True)
    os.chown(inner, user, user)
    rights = "+bpf,+perfmon,+net_admin"
    path = str(inner / "nicd.sock")
    network.daemons[0].kill()
    network.daemons[0].wait()
    daemon = subprocess.Popen(
        [*network.inside(0), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
         f"--inh-caps=-all,{rights}", f"--ambient-caps=-all,{rights}", f"--bounding-set=-all,{rights}",
         str(paths.program("tollbar-nicd")), "--interface", "eth0", "--socket", path],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert daemon.stdout.readline() == "ready\n"
        members = [network.member(0, key, user=NOBODY, group=group, daemon=path)]
        members += [network.member(rank, key, user=NOBODY, group=group) for rank in range(1, HOSTS)]
        assert [said(member)["carrier"] for member in members] == ["nic"] * HOSTS
        folder.chmod(0o777)  # now anybody could have put the socket there
        refused = said(network.member(0, key, user=NOBODY, group=group + 1, daemon=path))
        assert "of another user" in refused["line"]
    finally:
        daemon.kill()
        daemon.communicate()
        shutil.rmtree(folder)
        network.restart_daemon(0)


class Meeting:
    """How fast the group of the user `bystander` meets from now on."""

    def __init__(self, network: Network):
        self.network, self.began, self.episode = network, time.monotonic(), self.reached(network)

    @staticmethod
    def reached(network: Network) -> int:
        return network.status(0)["groups"][0]["episode"]

    def each_us(self) -> float:
        met = self.reached(self.network) - self.episode
        return 1e6 * (time.monotonic() - self.began) / met


def test_thousands_of_clients_half_of_them_hostile_leave_the_daemon_alone(network, bystander):
    """By hand: TOLLBAR_CROWD=10000,60 pytest -s tests/security -k thousands"""
    clients, seconds = os.environ.get("TOLLBAR_CROWD", "500,2").split(",")
    for name in ("attacker.py", "crowd.py"):
        shutil.copy(HERE / name, network.folder)
    words = [network.socket(0), talk_magic(), *network.addresses[:2], clients, seconds]
    quiet = Meeting(network)
    time.sleep(min(float(seconds), 5))
    quiet_us = quiet.each_us()
    beside = Meeting(network)
    crowd = subprocess.run(
        [*network.inside(0), "/usr/bin/python3", str(network.folder / "crowd.py"), *map(str, words)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    beside_us = beside.each_us()
    answers = json.loads(crowd.stdout)
    state = Path(f"/proc/{network.daemons[0].pid}/status").read_text()
    peak_mib = int(re.search(r"VmHWM:\s*(\d+)", state)[1]) / 1024
    print(f"{clients} clients, {seconds} s: {answers}, {peak_mib:.1f} MiB")
    print(f"another user's barriers: {beside_us:.0f} us each, {quiet_us:.0f} before")
    assert network.daemons[0].poll() is None
    assert peak_mib < MOST_MIB
    assert answers["unanswered"] < answers["asked"]
    someone_joins(network)
