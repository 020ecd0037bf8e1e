# SPDX-License-Identifier: Apache-2.0
"""The needs of a barrier on the network card of this host, and what is wrong where they are not met."""

from __future__ import annotations

import platform
import re
import socket
from collections.abc import Iterator
from pathlib import Path

from tollbar.cli.findings import ABSENT, OK, WRONG, Finding
from tollbar.machine import kernel, nic_daemon, paths

_OLDEST_KERNEL = (6, 6)
_FRAME_BYTES = 68  # of IP
_FEW_GROUPS_LEFT = 0.9


def findings(path: str, interface: str | None = None) -> Iterator[Finding]:
    """A row for each thing; `interface` is what a daemon would be started on."""
    yield _program()
    yield _kernel()
    yield _right()
    running, state = _daemon(path)
    yield running
    if state is not None:
        yield _groups(state)
        interface = state["interface"]
    if interface is not None:
        yield _interface(interface)


def _program() -> Finding:
    try:
        return Finding("NIC daemon", OK, str(paths.program("tollbar-nicd")), None)
    except FileNotFoundError:
        remedy = f"sudo apt-get install -y clang-14 libbpf-dev && {paths.mend()}"
        return Finding("NIC daemon", ABSENT, "not built: barriers run over UDP on the host", remedy)


def _kernel() -> Finding:
    name, release = "kernel for NICs", platform.release()
    version = re.match(r"(\d+)\.(\d+)", release)
    if version and tuple(map(int, version.groups())) >= _OLDEST_KERNEL:
        return Finding(name, OK, f"Linux {release}", None)
    why = f"Linux {release} cannot attach what ends with the daemon (TCX, 6.6): no barriers on the NIC"
    return Finding(name, ABSENT, why, "sudo apt-get install -y -t bookworm-backports linux-image-amd64")


def _right() -> Finding:
    name = "right to load BPF"
    if lacking := kernel.lacking("CAP_BPF", "CAP_PERFMON", "CAP_NET_ADMIN"):
        why = f"no {' and no '.join(lacking)} here: only the daemon needs it, its users do not"
        return Finding(name, ABSENT, why, "sudo tollbar nic up")
    return Finding(name, OK, "the daemon may be started by this user", None)


def _daemon(path: str) -> tuple[Finding, dict | None]:
    name = "NIC daemon's socket"
    try:
        state = nic_daemon.status(path)
    except nic_daemon.DaemonError as error:
        return Finding(name, ABSENT, f"{error}; barriers run over UDP on the host", "sudo tollbar nic up"), None
    return Finding(name, OK, f"{path} serves {state['interface']}, {state['mode']} mode", None), state


def _groups(state: dict) -> Finding:
    name, held, most = "groups on the NIC", state["held"], state["most"]
    used = f"{held - state['departed']} of {most}, and {state['departed']} that are answered for"
    if held >= _FEW_GROUPS_LEFT * most:
        remedy = f"sudo tollbar nic down && sudo tollbar nic up --groups {min(2 * most, 1024)}"
        return Finding(name, WRONG, used + ": further ones run over UDP on the host", remedy)
    return Finding(name, OK, used, None)


def _interface(interface: str) -> Finding:
    name = f"interface {interface}"
    folder = Path("/sys/class/net") / interface
    if not folder.exists():
        others = ", ".join(sorted(_others()))
        return Finding(name, WRONG, f"is not there; there are {others or 'none'}", "tollbar nic up --interface NAME")
    mtu = int((folder / "mtu").read_text())
    if mtu < _FRAME_BYTES:
        remedy = f"sudo ip link set {interface} mtu 1500"
        return Finding(name, WRONG, f"its MTU is {mtu}, a frame has {_FRAME_BYTES} bytes", remedy)
    if (folder / "operstate").read_text().strip() == "down":
        return Finding(name, WRONG, "is down", f"sudo ip link set {interface} up")
    kind = re.search(r"DEVTYPE=(\w+)", (folder / "uevent").read_text())
    if kind and kind[1] == "vlan":
        return Finding(name, OK, "a VLAN: frames are untagged here, its programs run in generic mode", None)
    driver = folder / "device" / "driver"
    if driver.exists():
        return Finding(name, OK, f"driver {driver.resolve().name}; native mode where it takes XDP", None)
    return Finding(name, OK, "no device behind it: generic mode", None)


def answer(address: str) -> Finding:
    """Whether the NIC at an address runs its program, and what it sends gets out."""
    name = f"NIC {address}"
    try:
        took = nic_daemon.echo_us(address)
    except nic_daemon.DaemonError as error:
        return Finding(name, WRONG, str(error), "tollbar doctor")
    if took is not None:
        return Finding(name, OK, f"its program answered in {took:.0f} us", None)
    why = "its program does not answer: no daemon there, another network, or its frames are lost"
    remedy = "on that host: sudo tollbar nic up; in native mode on veth: sudo tollbar nic up --mode generic"
    return Finding(name, WRONG, why, remedy)


def default_interface() -> str | None:
    """That of the default route; else the only one beside the loopback."""
    for line in Path("/proc/net/route").read_text().splitlines()[1:]:
        interface, target = line.split()[:2]
        if target == "00000000":
            return interface
    others = _others()
    return others[0] if len(others) == 1 else None


def _others() -> list[str]:
    """All interfaces but the loopback, also where /sys is not mounted."""
    return [name for _, name in socket.if_nameindex() if name != "lo"]
