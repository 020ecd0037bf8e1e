# SPDX-License-Identifier: Apache-2.0
"""What others try on the wire, beside another user's group that goes on meeting: users without rights on
member hosts, and hosts of the segment that say again whatever was ever said."""

from __future__ import annotations

import errno
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nic_attacks import ATTACKER, ENDLESS, Attack, eventually, further, working
from nic_hosts import HOSTS, NOBODY, Network, hosts, new_key, said
from tollbar.machine import paths

pytestmark = pytest.mark.usefixtures("hosts_can_have_nics")

HEADER, FRAME = 42, 56
RELEASE = 7


class Wire:
    """All that goes over the bridge between the hosts, as a host that it is flooded to sees it."""

    def __init__(self) -> None:
        names = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
        ours = {line.split("@")[0].split()[0] for line in names.splitlines() if line.startswith("tbc")}
        mine = hosts("list").split()[0].rpartition("h")[0]
        self.bridge = next(name for name in ours if name == f"{mine}br")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((self.bridge, 0))
        self.socket.settimeout(0.2)
        subprocess.run(["ip", "link", "set", self.bridge, "promisc", "on"], check=True)
        self.packets: set[bytes] = set()

    def listen(self, seconds: float = 0.3) -> list[bytes]:
        """Whole packets of ours, each once."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                packet = self.socket.recv(2048)
            except TimeoutError:
                continue
            if packet[HEADER : HEADER + 4] == b"tol2" and len(packet) == HEADER + FRAME:
                self.packets.add(packet)
        return list(self.packets)

    def repeat(self) -> None:
        for packet in self.packets:
            self.socket.send(packet)

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def wire(network: Network) -> Iterator[Wire]:
    opened = Wire()
    yield opened
    opened.close()


def incarnation_and_digest(packet: bytes) -> tuple[str, str]:
    return tuple(f"{value:x}" for value in struct.unpack_from("=QQ", packet, HEADER + 16))


@pytest.fixture
def forgetful(network: Network) -> Iterator[None]:
    """The daemons forget a group when its member goes, as they usually do a minute later."""
    for host in range(HOSTS):
        network.restart_daemon(host, "--linger", "0")
    yield
    for host in range(HOSTS):
        network.restart_daemon(host)


def kill(members: list[subprocess.Popen]) -> None:
    for member in members:
        member.kill()
        member.communicate()


def test_no_frame_has_the_key_and_no_user_gets_a_frame(network, wire):
    """Even of a group whose rank here comes late, so that this host does not know it when it is spoken of."""
    key = new_key()
    with Attack(network, "listen", 7777) as attack:
        assert attack.line() == "began"
        members = [network.member(r, key, plan="gather", user=NOBODY, episodes=ENDLESS) for r in range(1, HOSTS)]
        members += [network.member(0, key, plan="gather", user=NOBODY, episodes=ENDLESS)]
        network.wait_for_episode(0, 3)
        packets = wire.listen()
        assert any(packet[HEADER + 46] == RELEASE for packet in packets)  # broadcast to every host
        secret = int(key, 16)
        for packet in packets:
            assert secret.to_bytes(8, "little") not in packet
            assert secret.to_bytes(8, "big") not in packet
        kill(members)
        for packet in packets[:50]:  # of a group that nobody knows any more
            wire.socket.send(packet)
        attack.process.stdin.write("tell\n")
        attack.process.stdin.flush()
        assert attack.line() == "heard 0"


def test_frames_without_the_key_count_for_nobody_however_they_are_sent(network, wire):
    key = new_key()
    members = [network.member(rank, key, user=NOBODY, episodes=3, stay=True) for rank in range(HOSTS)]
    for host in range(HOSTS):
        network.wait_for_episode(host, 3)
    with working(network):
        packets = wire.listen()
        incarnation, digest = incarnation_and_digest(packets[0])
        before = [network.status(host)["counts"]["altered"] for host in range(HOSTS)]
        for rank in range(HOSTS):
            for uid in (ATTACKER, NOBODY):
                words = [network.program.with_name("forger"), key, 1, rank, 4, incarnation, digest, *network.addresses]
                command = [*network.inside(1), "setpriv", f"--reuid={uid}", "--clear-groups", *map(str, words)]
                subprocess.run(command, check=True)
        after = [network.status(host)["counts"]["altered"] for host in range(HOSTS)]
        assert all(now > then for now, then in zip(after, before, strict=True))
        for host in range(HOSTS):
            reached = [group["episode"] for group in network.status(host)["groups"] if group["episode"] < 10]
            assert reached == [3]
    for member in members:
        assert said(member)["ended"] == 3


def test_a_number_used_again_passes_no_barrier_alone_whatever_is_said_again(network, wire, forgetful):
    key = new_key()
    members = [network.member(rank, key, user=NOBODY, episodes=ENDLESS) for rank in range(HOSTS)]
    network.wait_for_episode(0, 3)
    wire.listen()
    kill(members)
    alone = network.member(0, key, user=NOBODY, in_vain=True)
    eventually(lambda: network.status(0)["groups"])
    wire.repeat()
    answer = said(alone)
    assert (answer["ended"], answer["missing"]) == (0, [1, 2, 3])
    eventually(lambda: network.status(0)["departed"] == 0)
    members = [network.member(rank, key, user=NOBODY) for rank in range(HOSTS)]
    wire.repeat()
    assert [(answer["ended"], answer["unpaid"]) for answer in map(said, members)] == [(50, 0)] * HOSTS


@pytest.mark.parametrize("on_nic", [True, False])
def test_a_rank_that_was_killed_and_comes_again_is_refused_and_told_what_to_do(network, forgetful, on_nic):
    key = new_key()
    others = [network.member(rank, key, user=NOBODY, episodes=ENDLESS, on_nic=on_nic) for rank in range(HOSTS)]
    board = (network.folder / f"board{key}").read_bytes
    eventually(lambda: all(struct.unpack_from("=Q", board(), 8 * rank)[0] > 3 for rank in range(HOSTS)))
    if on_nic:
        network.daemons[1].kill()
        network.daemons[1].wait()
        network.daemons[1] = network.daemon(1, "--linger", "0")
    kill(others[1:2])
    again = said(network.member(1, key, user=NOBODY, on_nic=on_nic, in_vain=True))
    assert again["error"] == errno.ESTALE
    assert "earlier use of this group" in again["line"]
    assert "another number or key" in again["line"]
    kill(others)


@pytest.mark.parametrize("on_nic", [True, False])
def test_different_plans_are_named_and_nobody_leaves(network, on_nic):
    key = new_key()
    plans = ["dissemination", "dissemination", "central", "dissemination"]
    members = [
        network.member(rank, key, plan, user=NOBODY, on_nic=on_nic, in_vain=True) for rank, plan in enumerate(plans)
    ]
    answers = [said(member) for member in members]
    assert [answer.get("ended", 0) for answer in answers] == [0] * HOSTS
    assert answers[2]["error"] == errno.EPROTO
    assert "another plan" in answers[2]["line"]
    assert all(2 in answers[rank]["missing"] for rank in (0, 1, 3))


def test_many_groups_and_users_run_over_udp_on_one_host_and_nobody_can_squat_their_port(network, bystander):
    with Attack(network, "listen", 7777) as squatter:
        assert squatter.line() == "began"
        groups = []
        for user in (NOBODY, 2001, 2002):
            for group in (1, 2):
                key = new_key()
                groups.append([network.member(r, key, user=user, group=group, on_nic=False) for r in range(HOSTS)])
        for members in groups:
            answers = [said(member) for member in members]
            assert {answer["carrier"] for answer in answers} == {"udp"}
            assert [(answer["ended"], answer["unpaid"]) for answer in answers] == [(50, 0)] * HOSTS


@contextmanager
def changed_link(network: Network, setting: str, changed: str, before: str) -> Iterator[None]:
    """Host 1's link has that setting in the block, and the one from before after it, however the block ends."""
    link = [*network.inside(1), "ip", "link", "set", "eth0", setting]
    subprocess.run([*link, changed], check=True)
    try:
        yield
    finally:
        subprocess.run([*link, before], check=True)


def test_arrivals_need_no_neighbour(network):
    """The kernel of host 0 finds no way to rank 1 any more: neither users nor NICs need it."""
    with working(network) as members:
        reached = further(network, members[0], 0)
        with changed_link(network, "arp", "off", "on"):
            subprocess.run([*network.inside(0), "ip", "neigh", "flush", "dev", "eth0"], check=True)
            assert further(network, members[0], network.episode(0, members[0])) > reached


def test_a_host_whose_hardware_address_changes_goes_on_and_the_others_follow_it(network, wire):
    changed = "02:00:00:00:77:01"
    shown = [*network.inside(1), "cat", "/sys/class/net/eth0/address"]
    before = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()
    with working(network) as members, changed_link(network, "address", changed, before):
        further(network, members[0], network.episode(0, members[0]) + 10)
        target = bytes.fromhex(changed.replace(":", ""))
        wire.packets.clear()
        eventually(lambda: any(packet.startswith(target) for packet in wire.listen()))
        eventually(lambda: any(packet[6:12] == target for packet in wire.listen()))


@pytest.fixture
def switch(network: Network, wire: Wire) -> Iterator[Switch]:
    for host in range(HOSTS):
        network.restart_daemon(host, "--switch-key", str(Switch.key_file(network)))
    made = Switch(network, wire)
    yield made
    made.stop()
    for host in range(HOSTS):
        network.restart_daemon(host)


class Switch:
    """A switch that counts, out of the bridge's ports."""

    @staticmethod
    def key_file(network: Network) -> Path:
        file = network.folder / "switch.key"
        file.write_text("000102030405060708090a0b0c0d0e0f\n")
        file.chmod(0o600)
        return file

    def __init__(self, network: Network, wire: Wire):
        ports = ",".join(name.replace("h", "v") for name in network.names)
        self.command = [paths.program("tollbar-nicd"), "--switch", ports, "--mode", "generic",
                        "--switch-key", self.key_file(network)]  # fmt: skip
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([*map(str, self.command)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def test_a_switch_survives_a_restart_and_takes_no_frame_without_its_key(network, switch):
    with working(network, plan="switch") as members:
        switch.stop()
        switch.start()
        reached = further(network, members[0], 0)
        for group in range(1, 40):  # each would make a tally, and all together drive out those that are in use
            words = [network.program.with_name("forger"), new_key(), group, 1, 1, "0", "0", "255.255.255.255"]
            command = [*network.inside(1), "setpriv", f"--reuid={ATTACKER}", "--clear-groups", *map(str, words)]
            subprocess.run(command, check=True)
        further(network, members[0], reached)


def test_a_switch_needs_a_key_that_others_cannot_read(network):
    file = Switch.key_file(network)
    file.chmod(0o644)
    command = [paths.program("tollbar-nicd"), "--switch", "lo", "--switch-key", file]
    refused = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "chmod 600" in refused.stderr
    answer = said(network.member(0, new_key(), plan="switch"))
    assert answer["error"] == errno.ENOTSUP
    assert "--switch-key" in answer["line"]
