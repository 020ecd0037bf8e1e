# SPDX-License-Identifier: Apache-2.0
"""Members, daemons and users of NICs that end, are killed or want what is not theirs. Needs root and BPF."""

import errno
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import tollbar
from nic_hosts import HOSTS, NOBODY, Network, new_key, said
from tollbar.machine import paths

#: Of src/wire/frame.h: what a frame begins with, where its fields lie behind the headers, and toll_signal.
MAGIC, FIELDS, SIGNAL = b"tol2", struct.Struct("!4sI8s8s8sQHHHB"), 1
HEADERS, FRAME = 42, 56
SO_RCVBUFFORCE = 33


pytestmark = pytest.mark.usefixtures("hosts_can_have_nics")


def test_users_without_any_right_meet_on_their_nics(network, key):
    members = [network.member(rank, key, user=NOBODY) for rank in range(HOSTS)]
    for member in members:
        answer = said(member)
        assert (answer["carrier"], answer["ended"], answer["unpaid"]) == ("nic", 50, 0)


def messages(network: Network, key: str, plan: str, on_nic: bool) -> set[tuple[int, str, int, int]]:
    """Source, address told, step and episode of every signal that went over the bridge."""
    seen = set()
    bridge = network.names[0].rpartition("h")[0] + "br"
    subprocess.run(["ip", "link", "set", bridge, "promisc", "on"], check=True)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as wire:
        wire.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        wire.bind((bridge, 0))
        wire.settimeout(0.2)
        members = [network.member(rank, key, plan, episodes=20, on_nic=on_nic) for rank in range(HOSTS)]
        for member in members:
            answer = said(member)
            assert (answer["ended"], answer["carrier"]) == (20, "nic" if on_nic else "udp")
        while True:
            try:
                packet = wire.recv(256)
            except TimeoutError:
                return seen
            if len(packet) != HEADERS + FRAME:
                continue
            magic, _, _, _, _, episode, source, _, step, kind = FIELDS.unpack_from(packet, HEADERS)
            if (magic, kind) == (MAGIC, SIGNAL):
                seen.add((source, socket.inet_ntoa(packet[30:34]), step, episode))


@pytest.mark.parametrize("plan", ["pairwise", "dissemination", "mcs"])
def test_hosts_and_nics_send_the_same_messages(network, plan):
    by_hosts, by_nics = (messages(network, new_key(), plan, on_nic) for on_nic in (False, True))
    assert len({message[:3] for message in by_nics}) == tollbar.plan(plan, HOSTS).text.count("!")
    assert len({message[:3] for message in by_nics}) * 20 == len(by_nics)
    assert by_hosts == by_nics


@pytest.mark.parametrize("plan", ["pairwise", "dissemination", "mcs"])
def test_members_with_and_without_a_nic_meet(network, key, plan):
    members = [network.member(rank, key, plan, on_nic=rank % 2 == 0) for rank in range(HOSTS)]
    answers = [said(member) for member in members]
    assert [answer["carrier"] for answer in answers] == ["nic", "udp"] * (HOSTS // 2)
    assert [(answer["ended"], answer["unpaid"]) for answer in answers] == [(50, 0)] * HOSTS


@pytest.mark.parametrize("plan", ["pairwise", "gather", "mcs"])
def test_whoever_waits_for_a_killed_process_names_its_rank(network, key, plan):
    members = [network.member(rank, key, plan, episodes=10**9, in_vain=True) for rank in range(HOSTS)]
    for host in range(HOSTS):
        network.wait_for_episode(host, 5)
    os.kill(members[2].pid, signal.SIGKILL)
    for rank in (0, 1, 3):
        answer = said(members[rank])
        assert (answer["missing"], answer["unpaid"]) == ([2], 0)
    members[2].communicate()


def test_a_nic_answers_for_a_process_that_has_ended(network, key):
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
    for member in members:
        assert said(member)["ended"] == 3


def test_a_user_gets_no_more_groups_than_the_quota(network, key):
    network.restart_daemon(0, "--per-user", "1")
    first = network.member(0, key, user=NOBODY, episodes=1, in_vain=True)
    network.wait_for_episode(0, 1)
    second = said(network.member(0, key, user=NOBODY, group=2))
    assert second["failed"] == "join"
    assert "groups on this NIC already" in second["line"]
    assert said(first)["missing"] == [1, 2, 3]


def test_a_nic_that_is_full_says_so_and_the_member_runs_over_udp(network, key):
    network.restart_daemon(0, "--groups", "1")
    first = network.member(0, key, episodes=1, in_vain=True)
    network.wait_for_episode(0, 1)
    refused = said(network.member(0, key, group=2))
    assert refused["error"] == errno.ENOSPC
    assert "this NIC has 1 groups already (nicd --groups)" in refused["line"]
    members = [network.member(rank, key, group=2, on_nic=None if rank == 0 else True) for rank in range(HOSTS)]
    answers = [said(member) for member in members]
    assert [answer["carrier"] for answer in answers] == ["udp", "nic", "nic", "nic"]
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
    members = [network.member(rank, key, episodes=10**9, in_vain=True) for rank in range(HOSTS)]
    for host in range(HOSTS):
        network.wait_for_episode(host, 5)
    network.daemons[1].kill()
    network.daemons[1].wait()
    answers = [said(member) for member in members]
    assert answers[1]["error"] == errno.EPIPE
    assert "NIC daemon of this host is gone" in answers[1]["line"]
    assert all(1 in answers[rank]["missing"] for rank in (0, 2, 3))
    shown = subprocess.run(
        [*network.inside(1), "ip", "-details", "link", "show", "eth0"], capture_output=True, text=True, check=True
    )
    assert "xdp" not in shown.stdout
    network.restart_daemon(1)
    members = [network.member(rank, key, group=2) for rank in range(HOSTS)]
    assert [said(member)["ended"] for member in members] == [50] * HOSTS


def test_check_finds_a_working_nic_and_one_that_is_not_there(network):
    def check(address: str) -> subprocess.CompletedProcess:
        program = str(paths.program("tollbar-nicd"))
        return subprocess.run([*network.inside(0), program, "--echo", address], capture_output=True, text=True)

    answered = check(network.addresses[2])
    assert answered.returncode == 0
    assert float(answered.stdout) > 0
    assert check(network.addresses[0].rsplit(".", 1)[0] + ".200").returncode == 1


def test_native_mode_that_loses_frames_is_found_out_and_the_remedy_named(network):
    """In a virtual cable's driver what a NIC answers is lost unless somebody at the far end polls for it."""
    network.restart_daemon(3, "--mode", "native")
    asked = [*network.inside(0), "env", f"TOLLBAR_NICD={network.socket(0)}", sys.executable, "-m", "tollbar",
             "doctor", network.addresses[3], "--format", "json"]  # fmt: skip
    check = subprocess.run(asked, capture_output=True, text=True)
    network.restart_daemon(3)
    assert check.returncode == 1
    found = {row["what"]: row for row in json.loads(check.stdout)}[f"NIC {network.addresses[3]}"]
    assert found["state"] == "wrong"
    assert "does not answer" in found["why"]
    assert "nic up --mode generic" in found["remedy"]


def test_a_driver_that_takes_no_programs_is_named(network):
    program = str(paths.program("tollbar-nicd"))
    subprocess.run([*network.inside(0), "ip", "link", "add", "br9", "type", "bridge"], check=True)
    command = [*network.inside(0), program, "--interface", "br9", "--mode", "native",
               "--socket", network.socket(9)]  # fmt: skip
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
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


def test_a_network_need_carry_no_packet_of_more_than_84_bytes(network, key):
    def limit(size: int) -> None:
        for host in range(HOSTS):
            words = ["ip", "link", "set", "eth0", "mtu", str(size)]
            subprocess.run([*network.inside(host), *words], check=True)

    limit(84)
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
        listing = subprocess.run([objdump, "-d", str(file)], capture_output=True, text=True, check=True).stdout
        assert "cmpxchg" in listing
        assert "lock *" not in listing
