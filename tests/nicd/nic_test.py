# SPDX-License-Identifier: Apache-2.0
"""Members, daemons and users of cards that end, are killed or want what is not theirs. Needs root and BPF."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tollbar.machine import nic_daemon, paths

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HOSTS = 4
NOBODY = 65534
PATIENCE_MS = 20_000  # only turns a hang into a failure
UNTIL_NAMED_MS = 1500  # those who wait in vain; longer than the slowest of them takes to start
SIGNAL = 1  # toll_signal


pytestmark = pytest.mark.usefixtures("hosts_can_have_cards")


def hosts(*words: object) -> str:
    command = [ROOT / "scripts" / "hosts", "--id", f"c{os.getpid() % 0xFFFFF:x}", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


class Network:
    """Hosts with addresses; the daemons and members on them."""

    def __init__(self, folder: Path, program: Path):
        self.folder, self.program = folder, program
        hosts("up", HOSTS)
        self.names, self.addresses = zip(*(line.split() for line in hosts("list").splitlines()), strict=True)
        self.daemons = [self.daemon(host) for host in range(HOSTS)]

    def inside(self, host: int) -> list[str]:
        return ["ip", "netns", "exec", self.names[host]]

    def socket(self, host: int) -> str:
        return str(self.folder / f"daemon{host}")

    def daemon(self, host: int, *options: str) -> subprocess.Popen:
        command = [
            paths.program("tollbar-nicd"),
            "--interface",
            "eth0",
            "--socket",
            self.socket(host),
            *options,
        ]
        process = subprocess.Popen(
            [*self.inside(host), *map(str, command)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        return process

    def restart_daemon(self, host: int, *options: str) -> None:
        self.daemons[host].kill()
        self.daemons[host].wait()
        self.daemons[host] = self.daemon(host, *options)

    def member(self, rank: int, key: str, plan: str = "pairwise", episodes: int = 50, user: int = 0,
               group: int = 1, stay: bool = False,
               on_card: bool | None = True, patience_ms: int = PATIENCE_MS) -> subprocess.Popen:  # fmt: skip
        """On its card (nothing else will do: True; or else over UDP: None), or over UDP (False)."""
        board = self.folder / f"board{key}"
        if not board.exists():
            board.write_bytes(bytes(4096))
            board.chmod(0o666)
        words = [board, key, group, rank, plan, episodes, 0, patience_ms, *self.addresses]
        environment = {**os.environ, "TOLLBAR_NICD": "none" if on_card is False else self.socket(rank)}
        if on_card:
            environment["ONLY_CARD"] = "1"
        if stay:
            environment["STAY"] = "1"
        return subprocess.Popen(
            [*self.inside(rank), "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
             *(["--bounding-set=-all"] if user else []), str(self.program), *map(str, words)],
            stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def status(self, host: int) -> dict:
        return nic_daemon.status(self.socket(host))

    def wait_for_episode(self, host: int, episode: int) -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if any(group["episode"] >= episode for group in self.status(host)["groups"]):
                return
            time.sleep(0.01)
        raise AssertionError(f"host {host} does not reach episode {episode}")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nic")
    for above in (folder, *folder.parents):  # other users run the program in it
        if above.owner() == "root" and str(above).startswith("/tmp/"):
            above.chmod(above.stat().st_mode | 0o055)
    program = folder / "member"
    static = Path(paths.library()).parent / "libtollbar.a"
    command = [
        "cc",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT / 'include'}",
        HERE / "member.c",
        "-o",
        program,
    ]
    subprocess.run([*command, static, "-lstdc++", "-lm", "-lpthread"], check=True)
    forger = [
        "cc",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT / 'src'}",
        HERE / "forger.c",
        "-o",
        folder / "forger",
    ]
    subprocess.run(forger, check=True)
    try:
        made = Network(folder, program)
        yield made
        for daemon in made.daemons:
            daemon.kill()
    finally:
        hosts("down")


@pytest.fixture
def key() -> str:
    return f"{secrets.randbits(63) | 1:x}"


def said(process: subprocess.Popen) -> dict:
    out, _ = process.communicate(timeout=60)
    return json.loads(out)


def test_users_without_any_right_meet_on_their_cards(network, key):
    members = [network.member(rank, key, user=NOBODY) for rank in range(HOSTS)]
    for member in members:
        answer = said(member)
        assert (answer["carrier"], answer["ended"], answer["unpaid"]) == ("card", 50, 0)


def messages(network: Network, key: str, plan: str, on_card: bool) -> set[tuple[int, str, int, int]]:
    """Source, address told, step and episode of every signal that went over the bridge."""
    seen = set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        wire.settimeout(0.2)
        members = [network.member(rank, key, plan, episodes=20, on_card=on_card) for rank in range(HOSTS)]
        for member in members:
            answer = said(member)
            assert (answer["ended"], answer["carrier"]) == (20, "card" if on_card else "udp")
        while True:
            try:
                packet = wire.recv(256)
            except TimeoutError:
                return seen
            if len(packet) != 82 or packet[42:46] != b"tol1" or packet[46] != SIGNAL:
                continue
            step, of, _, source, episode = struct.unpack("!HQIIQ", packet[48:74])
            if of == int(key, 16):
                seen.add((source, socket.inet_ntoa(packet[30:34]), step, episode))


@pytest.mark.parametrize("plan", ["pairwise", "dissemination", "mcs"])
def test_hosts_and_cards_send_the_same_messages(network, plan):
    by_hosts, by_cards = (
        messages(network, f"{secrets.randbits(63) | 1:x}", plan, on_card) for on_card in (False, True)
    )
    assert len({message[:3] for message in by_cards}) * 20 == len(by_cards)
    assert by_hosts == by_cards


@pytest.mark.parametrize("plan", ["pairwise", "dissemination", "mcs"])
def test_members_with_and_without_a_card_meet(network, key, plan):
    members = [network.member(rank, key, plan, on_card=rank % 2 == 0) for rank in range(HOSTS)]
    answers = [said(member) for member in members]
    assert [answer["carrier"] for answer in answers] == ["card", "udp"] * (HOSTS // 2)
    assert [(answer["ended"], answer["unpaid"]) for answer in answers] == [(50, 0)] * HOSTS


@pytest.mark.parametrize("plan", ["pairwise", "gather", "mcs"])
def test_whoever_waits_for_a_killed_process_names_its_rank(network, key, plan):
    members = [
        network.member(rank, key, plan, episodes=10**9, patience_ms=UNTIL_NAMED_MS) for rank in range(HOSTS)
    ]
    for host in range(HOSTS):
        network.wait_for_episode(host, 5)
    os.kill(members[2].pid, signal.SIGKILL)
    for rank in (0, 1, 3):
        answer = said(members[rank])
        assert (answer["missing"], answer["unpaid"]) == ([2], 0)
    members[2].communicate()


def test_a_card_answers_for_a_process_that_has_ended(network, key):
    early = [network.member(rank, key, episodes=20) for rank in (0, 1, 2)]
    late = network.member(3, key, episodes=20)
    for member in [*early, late]:
        assert said(member)["ended"] == 20
    assert network.status(0)["departed"] > 0


def test_a_group_is_of_its_user_alone(network, key):
    members = [network.member(rank, key, episodes=3, user=NOBODY, stay=True) for rank in range(HOSTS)]
    for host in range(HOSTS):
        network.wait_for_episode(host, 3)
    intruder = said(network.member(1, key, user=1))
    assert intruder["failed"] == "join"
    assert "has a member of that group" in intruder["line"]
    before = network.status(1)["counts"]["forged"]
    forge_arrival(network, key, user=1)
    state = network.status(1)
    assert state["counts"]["forged"] == before + 1
    assert [group["episode"] for group in state["groups"]] == [3]
    forge_arrival(network, key, user=NOBODY)  # the same frame, by its owner
    assert [group["episode"] for group in network.status(1)["groups"]] == [4]
    for member in members:
        assert said(member)["ended"] == 3


def forge_arrival(network: Network, key: str, user: int) -> None:
    """A process of that user on host 1, which even knows the key, posts the member's fourth arrival."""
    words = [network.program.with_name("forger"), key, 1, 1, 4, network.addresses[0]]
    command = [*network.inside(1), "setpriv", f"--reuid={user}", "--clear-groups", *map(str, words)]
    subprocess.run(command, check=True)


def test_a_user_gets_no_more_groups_than_the_quota(network, key):
    network.restart_daemon(0, "--per-user", "1")
    first = network.member(0, key, user=NOBODY, episodes=1, patience_ms=UNTIL_NAMED_MS)
    network.wait_for_episode(0, 1)
    second = said(network.member(0, key, user=NOBODY, group=2))
    assert second["failed"] == "join"
    assert "groups on this card already" in second["line"]
    assert said(first)["missing"] == [1, 2, 3]


def test_a_card_that_is_full_says_so_and_the_member_runs_over_udp(network, key):
    network.restart_daemon(0, "--groups", "1")
    first = network.member(0, key, episodes=1, patience_ms=UNTIL_NAMED_MS)
    network.wait_for_episode(0, 1)
    refused = said(network.member(0, key, group=2))
    assert refused["error"] == errno.ENOSPC
    assert "this card has 1 groups already (nicd --groups)" in refused["line"]
    members = [
        network.member(rank, key, group=2, on_card=None if rank == 0 else True) for rank in range(HOSTS)
    ]
    answers = [said(member) for member in members]
    assert [answer["carrier"] for answer in answers] == ["udp", "card", "card", "card"]
    assert [(answer["ended"], answer["unpaid"]) for answer in answers] == [(50, 0)] * HOSTS
    said(first)
    network.restart_daemon(0)


def test_a_number_serves_the_next_job_while_the_last_one_is_still_answered_for(network, key):
    members = [network.member(rank, key, episodes=20) for rank in range(HOSTS)]
    assert [said(member)["ended"] for member in members] == [20] * HOSTS
    assert network.status(0)["departed"] > 0
    next_key = f"{int(key, 16) ^ 2:x}"
    members = [network.member(rank, next_key) for rank in range(HOSTS)]
    assert [(answer["ended"], answer["unpaid"]) for answer in map(said, members)] == [(50, 0)] * HOSTS
    assert said(network.member(0, key))["error"] == errno.EEXIST


def test_a_killed_daemon_is_noticed_and_leaves_nothing_attached(network, key):
    members = [network.member(rank, key, episodes=10**9, patience_ms=UNTIL_NAMED_MS) for rank in range(HOSTS)]
    for host in range(HOSTS):
        network.wait_for_episode(host, 5)
    network.daemons[1].kill()
    network.daemons[1].wait()
    answers = [said(member) for member in members]
    assert answers[1]["error"] == errno.EPIPE
    assert "NIC daemon of this host is gone" in answers[1]["line"]
    assert all(1 in answers[rank]["missing"] for rank in (0, 2, 3))
    shown = subprocess.run(
        [*network.inside(1), "ip", "-details", "link", "show", "eth0"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "xdp" not in shown.stdout
    network.restart_daemon(1)
    members = [network.member(rank, key, group=2) for rank in range(HOSTS)]
    assert [said(member)["ended"] for member in members] == [50] * HOSTS


def test_check_finds_a_working_card_and_one_that_is_not_there(network):
    def check(address: str) -> subprocess.CompletedProcess:
        program = str(paths.program("tollbar-nicd"))
        return subprocess.run(
            [*network.inside(0), program, "--echo", address], capture_output=True, text=True
        )

    answered = check(network.addresses[2])
    assert answered.returncode == 0
    assert float(answered.stdout) > 0
    assert check(network.addresses[0].rsplit(".", 1)[0] + ".200").returncode == 1


def test_native_mode_that_loses_frames_is_found_out_and_the_remedy_named(network):
    """In a virtual cable's driver what a card answers is lost unless somebody at the far end polls for it."""
    network.restart_daemon(3, "--mode", "native")
    asked = [*network.inside(0), sys.executable, "-m", "tollbar", "nic", "check", network.addresses[3],
             "--socket", network.socket(0), "--format", "json"]  # fmt: skip
    check = subprocess.run(asked, capture_output=True, text=True)
    network.restart_daemon(3)
    assert check.returncode == 1
    found = {row["what"]: row for row in json.loads(check.stdout)}[f"card {network.addresses[3]}"]
    assert found["state"] == "wrong"
    assert "does not answer" in found["why"]
    assert "nic up --mode generic" in found["remedy"]


def test_a_driver_that_takes_no_programs_is_named(network):
    program = str(paths.program("tollbar-nicd"))
    subprocess.run([*network.inside(0), "ip", "link", "add", "br9", "type", "bridge"], check=True)
    command = [*network.inside(0), program, "--interface", "br9", "--mode", "native",
               "--socket", network.socket(9)]  # fmt: skip
    refused = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert refused.returncode == 1
    assert "the driver of br9 does not support XDP programs (use --mode generic)" in refused.stderr


def test_an_address_that_is_not_this_hosts_or_on_no_host_is_named_with_its_rank(network, key, monkeypatch):
    first, second, *others = network.addresses
    monkeypatch.setattr(network, "addresses", (second, first, *others))
    refused = said(network.member(0, key))
    assert refused["error"] == errno.EADDRNOTAVAIL
    assert second in refused["line"]
    nobody = first.rsplit(".", 1)[0] + ".200"
    monkeypatch.setattr(network, "addresses", (first, second, others[0], nobody))
    refused = said(network.member(0, key))
    assert refused["error"] == errno.EHOSTUNREACH
    assert f"nobody on the network of eth0 has {nobody}, the address of rank 3" in refused["line"]


def test_packets_may_be_as_small_as_ip_allows(network, key):
    def limit(size: int) -> None:
        for host in range(HOSTS):
            words = ["ip", "link", "set", "eth0", "mtu", str(size)]
            subprocess.run([*network.inside(host), *words], check=True)

    limit(68)
    answers = [said(member) for member in [network.member(rank, key) for rank in range(HOSTS)]]
    limit(1500)
    assert [(answer["ended"], answer["unpaid"]) for answer in answers] == [(50, 0)] * HOSTS


def test_fences_are_of_the_kind_that_orders():
    """Atomics whose result is not fetched order nothing on some processors."""
    objdump = shutil.which("llvm-objdump-14") or shutil.which("llvm-objdump")
    objects = list((paths.build_folder() or Path()).glob("src/transports/nic/*.bpf.o"))
    if objdump is None or not objects:
        pytest.skip("no llvm-objdump, or the programs were not built here")
    for file in objects:
        listing = subprocess.run(
            [objdump, "-d", str(file)], capture_output=True, text=True, check=True
        ).stdout
        assert "cmpxchg" in listing
        assert "lock *" not in listing
